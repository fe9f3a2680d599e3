package vision

import (
	"slices"
	"strings"
)

// maxID bounds the id that is read; no catalogue has one half as long.
const maxID = 256

// maxRounds ends the normalising of an id made to need many rounds; real ones need three.
const maxRounds = 2 * maxID

// usualWords is the room for the words of a name on the stack; real names have fewer.
const usualWords = 32

// Normalize reduces a model's id to the words that say which family it is of:
// the last path part in lower case, without tag, version, region, vendor, date
// and quantisation, and with every number standing alone. "us.anthropic.claude-
// 3-5-haiku-20241022-v1:0" becomes "claude-3.5-haiku-v-1", "qwen35" "qwen-3.5".
// It is idempotent. Four-digit stamps stay: for some vendors they are the version.
func Normalize(id string) string {
	s := id
	for range maxRounds {
		next := normalizeOnce(s)
		if next == s {
			break
		}
		s = next
	}
	return s
}

// normalizeOnce applies every rule once. Each takes something away or parts a
// word for good, so repeating it ends.
func normalizeOnce(s string) string {
	s = clean(s)
	s = s[strings.LastIndexByte(s, '/')+1:]
	s = dropDottedPrefix(dropTag(s))
	var room [usualWords]string
	words := splitInto(room[:0], spell(s))
	words = dropQuantisation(words)
	words = dropDates(words)
	words = dropVendors(words)
	var parted [usualWords]string
	words = partNumbers(parted[:0], words)
	partTwoDigits(words)
	return strings.Join(joinVersions(words), "-")
}

// clean gives the id in lower case, as valid text of bounded length without
// slashes at its end.
func clean(s string) string {
	if len(s) > maxID || !isPlain(s) {
		s = strings.ToLower(strings.ToValidUTF8(s[:min(len(s), 4*maxID)], ""))
		s = strings.ToValidUTF8(s[:min(len(s), maxID)], "")
	}
	return strings.TrimRight(s, "/")
}

// isPlain tells of ids that need no cleaning, which is nearly all in the second round.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 || 'A' <= s[i] && s[i] <= 'Z' {
			return false
		}
	}
	return true
}

// dropTag removes :tag and @version. A tag that is a size stays as a word,
// since in gemma3:1b the size decides.
func dropTag(s string) string {
	s, _, _ = strings.Cut(strings.TrimLeft(s, "@~: "), "@")
	head, tag, found := strings.Cut(s, ":")
	if !found {
		return s
	}
	if vendors[head] { // a scheme in front, as in hf:owner/model or openai:gpt-4o
		return dropTag(tag)
	}
	if size, _, _ := strings.Cut(tag, ":"); startsWithSize(size) {
		return head + "-" + size
	}
	return head
}

// startsWithSize tells of tags such as 1b, e4b, 27b-it, 0.6b-q4 or 1t.
func startsWithSize(tag string) bool {
	tag, _, _ = strings.Cut(tag, "-")
	tag = strings.TrimPrefix(tag, "e")
	end := len(tag) - 1
	return end >= 1 && (tag[end] == 'b' || tag[end] == 'm' || tag[end] == 't') && isNumber(tag[:end])
}

// keepsDot are the words before a dot that are the family: deepseek.v3 and
// dots.llm1 would be nothing without it.
var keepsDot = setOf("deepseek dots")

// dropDottedPrefix removes us.anthropic., amazon., us-gov.openai.: words
// without digits, each with a dot.
func dropDottedPrefix(s string) string {
	for {
		prefix, rest, found := strings.Cut(s, ".")
		if !found || rest == "" || !isLetter(rest[0]) || keepsDot[prefix] || !isVendorText(prefix) {
			return s
		}
		s = rest
	}
}

func isVendorText(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) && (s[i] != '-' || i == 0) {
			return false
		}
	}
	return s != ""
}

// spell writes every separator as one dash and every point of a version as a
// point: 4_5 and 4p5 are 4.5, while the dot of flux.1 only parts two words.
func spell(s string) string {
	var room [maxID]byte
	out := room[:0]
	start := 0 // of the word being written
	for i := range len(s) {
		c := s[i]
		between := i > 0 && i+1 < len(s) && isDigit(s[i-1]) && isDigit(s[i+1])
		switch {
		case c == 'p' && between:
			c = '.'
		case c == '_' && between && !isQ(string(out[start:])):
			c = '.'
		case isLetter(c), isDigit(c), c >= 0x80, c == '.' && between:
		default:
			c = '-'
		}
		if c == '-' {
			if len(out) > start {
				out = append(out, c)
				start = len(out)
			}
			continue
		}
		out = append(out, c)
	}
	if start == len(out) && start > 0 {
		out = out[:start-1]
	}
	return string(out)
}

func splitInto(words []string, s string) []string {
	for word := range strings.SplitSeq(s, "-") {
		words = append(words, word)
	}
	return words
}

// quantisations are formats and file kinds of local models' names; they change
// how a model runs, never what it reads, and their digits look like versions.
var quantisations = setOf(`gguf ggml gptq awq exl2 exl3 mlx nvfp4 nvfp8 mxfp4 mxfp6 mxfp8 fp4 fp6 fp8 fp16 fp32 bf16
	f16 f32 int3 int4 int8 w4a16 w8a8 w8a16 2bit 3bit 4bit 5bit 6bit 8bit`)

// qKinds follow q4 or iq3, as in q4_k_m.
var qKinds = setOf("0 1 k s m l xs xxs nl xl")

// isQ tells of q4 and iq3.
func isQ(w string) bool {
	w = strings.TrimPrefix(w, "i")
	return len(w) == 2 && w[0] == 'q' && isDigit(w[1])
}

// dropQuantisation leaves the first word alone, which is the family's.
func dropQuantisation(words []string) []string {
	kept := words[:1]
	for i := 1; i < len(words); i++ {
		switch w := words[i]; {
		case isQ(w):
			for end := min(i+3, len(words)-1); i < end && qKinds[words[i+1]]; {
				i++
			}
		case w == "bit" && len(kept) > 1 && len(words[i-1]) == 1 && isDigit(words[i-1][0]): // 4-bit
			kept = kept[:len(kept)-1]
		case !quantisations[w]:
			kept = append(kept, w)
		}
	}
	return kept
}

// dropDates removes release dates, which would read as versions. A day without
// a year (05-06) becomes one word, since some models differ by it alone.
func dropDates(words []string) []string {
	kept := words[:1]
	for i := 1; i < len(words); {
		n := dateLength(words[i:])
		switch {
		case n == 0:
			kept = append(kept, words[i])
			n = 1
		case n == 2 && len(words[i]) == 2 && len(words[i+1]) == 2:
			kept = append(kept, words[i]+words[i+1])
		}
		i += n
	}
	return kept
}

// dateLength is how many of the first words are a date: 20250929, 260215,
// 2025-08-07, 2025-08, 10-2025 or 05-06. Four digits alone are a stamp and stay.
func dateLength(w []string) int {
	isMonth := func(s string) bool { return len(s) == 2 && "01" <= s && s <= "12" }
	isDay := func(s string) bool { return len(s) == 2 && "01" <= s && s <= "31" }
	isYear := func(s string) bool { return len(s) == 4 && strings.HasPrefix(s, "20") }
	switch {
	case !isDigits(w[0]):
		return 0
	case len(w[0]) == 8 && w[0][:2] == "20", len(w[0]) == 6 && w[0][0] == '2':
		return 1
	case len(w) < 2 || !isDigits(w[1]):
		return 0
	case isYear(w[0]) && isMonth(w[1]):
		if len(w) > 2 && isDigits(w[2]) && isDay(w[2]) {
			return 3
		}
		return 2
	case isMonth(w[0]) && (isYear(w[1]) || isDay(w[1])):
		return 2
	}
	return 0
}

// dropVendors removes the vendors and routes before the family, joined with a
// dash, as long as the family's own letters follow: cohere-command-a.
func dropVendors(words []string) []string {
	for {
		n := 0
		switch {
		case len(words) > 2 && startsWithLetter(words[2]) && slices.Contains(vendorPairs[words[0]], words[1]):
			n = 2
		case len(words) > 1 && startsWithLetter(words[1]) && vendors[words[0]]:
			n = 1
		}
		if n == 0 {
			return words
		}
		words = words[n:]
	}
}

// partNumbers parts letters from the digits behind them: qwen3 becomes two
// words, while 4o, 8b and 4.6v stay one.
func partNumbers(out, words []string) []string {
	for _, w := range words {
		start := 0
		for i := 1; i < len(w); i++ {
			if isDigit(w[i]) && isLetter(w[i-1]) {
				out = append(out, w[start:i])
				start = i
			}
		}
		out = append(out, w[start:])
	}
	return out
}

// beforeTwoDigits are words behind which two digits are major and minor:
// qwen35, llama31, gpt-52, sonnet-45. The lists name the word before, where
// one is needed.
var beforeTwoDigits = map[string][]string{
	"qwen": nil, "llama": nil, "glm": nil, "claude": nil, "gpt": nil, "gemini": nil, "phi": nil, "grok": nil, "l": nil,
	"sonnet": nil, "opus": nil, "haiku": nil, "ernie": nil, "k": {"kimi"}, "m": {"minimax"}, "v": {"deepseek", "mimo"},
}

// partTwoDigits writes 35 as 3.5 behind a family. 10 to 19 and round tens are
// left alone, since a family may come that far.
func partTwoDigits(words []string) {
	for i := 1; i < len(words); i++ {
		w := strings.TrimSuffix(words[i], "v")
		if len(w) != 2 || w[0] < '2' || w[0] > '9' || w[1] < '1' || w[1] > '9' {
			continue
		}
		before, found := beforeTwoDigits[words[i-1]]
		if found && (before == nil || i > 1 && slices.Contains(before, words[i-2])) {
			words[i] = words[i][:1] + "." + words[i][1:]
		}
	}
}

// joinVersions writes 3-5 as 3.5. The second number has no zero in front, as a
// date's has, and the first is one digit, so that 8b is never a minor.
func joinVersions(words []string) []string {
	kept := words[:0]
	for i := 0; i < len(words); i++ {
		w := words[i]
		if len(w) == 1 && w[0] >= '1' && w[0] <= '9' && i+1 < len(words) && isMinor(words[i+1]) {
			i++
			w += "." + words[i]
		}
		kept = append(kept, w)
	}
	return kept
}

// isMinor tells of 0 to 99 without a zero in front; a letter of sight may follow.
func isMinor(w string) bool {
	w = strings.TrimSuffix(w, "v")
	return isDigits(w) && len(w) <= 2 && (w == "0" || w[0] != '0')
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' }

func isDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// isNumber tells of digits with at most one point between them.
func isNumber(s string) bool {
	whole, part, dotted := strings.Cut(s, ".")
	return isDigits(whole) && (!dotted || isDigits(part))
}

func startsWithLetter(w string) bool { return w != "" && isLetter(w[0]) }

// setOf reads a list of words parted by white space.
func setOf(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}
