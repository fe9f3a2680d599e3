package vision

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxID bounds the id that is read; no catalogue has one half as long.
const maxID = 256

// maxRounds ends the normalising of an id made to need many rounds; real ones need three.
const maxRounds = 2 * maxID

var (
	// quantised formats and file kinds at the end of local models' names; they
	// change how a model runs, never what it reads.
	quantSuffix = regexp.MustCompile(`[-_.](?:gguf|ggml|gptq|awq|exl[23]|mlx|nvfp4|mxfp4|fp4|fp8|fp16|bf16|f16|f32|int4|int8|w4a16|w8a8|[2-8]-?bit|i?q[2-8](?:[_-][0-9a-z]{1,2}){0,3})$`)
	// us.anthropic., amazon., us-gov.openai.: words without digits, each with a dot.
	dottedPrefix = regexp.MustCompile(`^(?:[a-z][a-z-]*\.)+([a-z])`)
	// ai21. is the one dotted vendor with a digit, c4ai- the one dashed.
	oddPrefix        = regexp.MustCompile(`^(?:ai21[.-]|c4ai-)(?:labs-)?`)
	sizeTag          = regexp.MustCompile(`^(?:e?\d+(?:\.\d+)?[bm]|latest)\b`)
	pointAsP         = regexp.MustCompile(`(\d)p(\d)`)
	dates            = regexp.MustCompile(`-(?:20\d{2}-?\d{2}-?\d{2}|(?:0[1-9]|1[0-2])-20\d{2}|2\d{5}|0\d-\d{2}|1[0-2]-[0-3]\d)(-|$)`)
	wordPoint        = regexp.MustCompile(`([a-z])\.(\d)`)
	numberUnderscore = regexp.MustCompile(`(\d)_(\d)`)
	numberV          = regexp.MustCompile(`^\d+(\.\d+)?v$`)
	wordDigit        = regexp.MustCompile(`([a-z])(\d)`)
	// qwen35, llama31, gpt-35: two digits behind a family are major and minor.
	twoDigits   = regexp.MustCompile(`^(qwen|llama|glm|claude|gpt|gemini|phi|kimi-k|minimax-m|deepseek-v|l)-([1-9])([0-9])(-|$)`)
	splitNumber = regexp.MustCompile(`(^|-)([1-9])-(0|[1-9]\d?)(-|$)`)
)

// vendors may stand before the family, joined with a dash: cohere-command-a.
// A word that is also a family (qwen, mistral, deepseek) is not one of them.
var vendors = []string{
	"anthropic-", "openai-", "azure-", "google-", "xai-", "x-ai-", "zai-org-", "z-ai-", "zai-", "meta-", "nvidia-",
	"cohere-", "amazon-", "xiaomi-", "tencent-", "moonshotai-", "minimaxai-", "alibaba-", "alicloud-", "umans-",
	"databricks-", "deepseek-ai-", "mistral-ai-", "mistralai-", "ibm-", "microsoft-", "baidu-", "bytedance-", "aihub-",
	"doubao-",
	"coding-", "e2ee-", "duo-chat-", "cursor-", "groq-", "cerebras-", "cloudflare-", // routes named in front
}

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

// dropTag removes :tag and @version. A tag that is a size stays as a word,
// since in gemma3:1b the size decides.
func dropTag(s string) string {
	s = strings.TrimLeft(s, "@~")
	s, _, _ = strings.Cut(s, "@")
	head, tag, found := strings.Cut(s, ":")
	if !found {
		return s
	}
	if head == "hf" || head == "" { // a scheme in front, as in hf:owner/model
		return dropTag(tag)
	}
	if size := sizeTag.FindString(tag); size != "" && size != "latest" {
		return head + "-" + size
	}
	return head
}

// normalizeOnce applies every rule once. Each takes something away or parts a
// word for good, so repeating it ends.
func normalizeOnce(s string) string {
	s = strings.ToLower(strings.ToValidUTF8(s, ""))
	s = strings.ToValidUTF8(s[:min(len(s), maxID)], "")
	s = strings.TrimRight(s, "/")
	s = dropTag(s[strings.LastIndexByte(s, '/')+1:])
	s = strings.Trim(strings.Join(strings.Fields(s), "-"), "-_.")
	s = quantSuffix.ReplaceAllString(s, "")
	s = oddPrefix.ReplaceAllString(s, "")
	s = strings.Replace(s, "deepseek.", "deepseek-", 1) // a vendor that is its family
	s = dottedPrefix.ReplaceAllString(s, "$1")
	s = pointAsP.ReplaceAllString(s, "$1.$2")
	s = numberUnderscore.ReplaceAllString(s, "$1.$2")
	s = strings.ReplaceAll(s, "_", "-")
	s = wordPoint.ReplaceAllString(s, "$1-$2")
	for strings.Contains(s, "--") {
		s = strings.ReplaceAll(s, "--", "-")
	}
	for _, v := range vendors {
		if rest, found := strings.CutPrefix(s, v); found && rest != "" {
			s = rest
		}
	}
	s = dates.ReplaceAllString(s, "$1")
	s = wordDigit.ReplaceAllString(s, "$1-$2")
	s = twoDigits.ReplaceAllString(s, "$1-$2.$3$4")
	return splitNumber.ReplaceAllString(s, "$1$2.$3$4")
}

// version is a major and a minor number; 4.20 is later than 4.3.
type version struct{ major, minor int }

func (v version) before(w version) bool {
	return v.major < w.major || v.major == w.major && v.minor < w.minor
}

// name is a normalised id taken apart.
type name struct{ words []string }

func parseName(id string) name { return name{strings.Split(Normalize(id), "-")} }

// has tells whether the words stand in the name side by side.
func (n name) has(phrase string) bool { return n.find(strings.Split(phrase, "-")) >= 0 }

// hasNumberV tells whether a version carries the letter of sight, as in 4.6v.
func (n name) hasNumberV() bool { return slices.ContainsFunc(n.words, numberV.MatchString) }

// find returns the place of the first word behind the phrase, -1 when absent.
func (n name) find(phrase []string) int {
	for i := 0; i+len(phrase) <= len(n.words); i++ {
		if n.at(i, phrase) {
			return i + len(phrase)
		}
	}
	return -1
}

func (n name) at(i int, phrase []string) bool {
	if i+len(phrase) > len(n.words) {
		return false
	}
	for k, w := range phrase {
		if n.words[i+k] != w {
			return false
		}
	}
	return true
}

// version reads the first version number at or behind word i. Sizes (8b),
// contexts (32k) and stamps of four digits are no versions; 4o is 4, 4.6v is 4.6.
func (n name) version(i int) (version, bool) {
	for ; i < len(n.words); i++ {
		w := strings.TrimRight(n.words[i], "ov")
		major, minor, dotted := strings.Cut(w, ".")
		if len(major) > 2 || major == "" {
			continue
		}
		a, errA := strconv.Atoi(major)
		b, errB := 0, error(nil)
		if dotted {
			b, errB = strconv.Atoi(minor)
		}
		if errA == nil && errB == nil && a >= 0 && b >= 0 {
			return version{a, b}, true
		}
	}
	return version{}, false
}

// stamp reads a release stamp of year and month, as in mistral-small-2503.
func (n name) stamp(i int) (version, bool) {
	for ; i < len(n.words); i++ {
		w := n.words[i]
		v, err := strconv.Atoi(w)
		if err == nil && len(w) == 4 && v/100 >= 23 && v/100 <= 39 && v%100 >= 1 && v%100 <= 12 {
			return version{v, 0}, true
		}
	}
	return version{}, false
}

// size reads the first size in thousand millions of parameters, as in 4b or 0.6b.
func (n name) size() (float64, bool) {
	for _, w := range n.words {
		number, isSize := strings.CutSuffix(w, "b")
		if v, err := strconv.ParseFloat(number, 64); isSize && err == nil {
			return v, true
		}
	}
	return 0, false
}
