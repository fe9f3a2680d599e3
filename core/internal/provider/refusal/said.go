package refusal

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// said is the words of a refusal ready for matching. All three are rune by rune the
// same length, so a place found in one is a place in the others.
type said struct {
	plain []rune // for people: as received, without control characters and doubled spaces
	lower string // lower case, quotes and wide letters made one kind; lines are kept
	bare  string // lower without ids of models and data URLs, whose letters say nothing
	code  string
}

// hear unpacks the words out of JSON and makes them plain.
func hear(r Refusal) said {
	words := strings.ToValidUTF8(r.Words[:min(len(r.Words), maxSaid)], "\uFFFD")
	parts := unpack(words, 0)
	if code := strings.TrimSpace(r.Code); code != "" {
		parts = append(parts, unpackWord(strings.ToValidUTF8(code, "\uFFFD"))...)
	}
	s := said{code: strings.ToLower(strings.TrimSpace(r.Code))}
	var lower strings.Builder
	last := '\n'
	for _, c := range strings.Join(parts, "\n") {
		switch {
		case c == '\n' || c == '\r' || c == '\u2028' || c == '\u2029':
			c = '\n'
		case unicode.IsSpace(c), unicode.IsControl(c), unicode.Is(unicode.Cf, c):
			c = ' '
		}
		if (c == ' ' || c == '\n') && (last == ' ' || last == '\n') {
			continue
		}
		last = c
		s.plain = append(s.plain, c)
		lower.WriteRune(folded(c))
	}
	s.lower = lower.String()
	s.bare = masked(s.lower, r.Model)
	return s
}

// folded is a rune in lower case, with one kind of quote and narrow letters.
func folded(c rune) rune {
	if c > 0xFF00 && c < 0xFF5F { // the wide forms of ASCII
		c -= 0xFEE0
	}
	switch c {
	case '`', '"', '’', '‘', '´', '“', '”', '«', '»', '「', '」', '„':
		return '\''
	case utf8.RuneError:
		return ' '
	}
	return unicode.ToLower(c)
}

// unpack gives the texts in a body: the strings of its JSON, however deep, and what
// stands around the JSON.
func unpack(s string, depth int) []string {
	s = strings.TrimSpace(s)
	if s == "" || depth > maxDepth {
		return nonEmpty(s)
	}
	var text string
	if s[0] == '"' && json.Unmarshal([]byte(s), &text) == nil {
		return unpack(text, depth+1)
	}
	if word := unpackWord(s); word != nil {
		return word
	}
	at := 0
	for range maxTries {
		brace := strings.IndexByte(s[at:], '{')
		if s[0] == '[' && at == 0 {
			brace = 0
		}
		if brace < 0 {
			break
		}
		at += brace
		dec := json.NewDecoder(strings.NewReader(s[at:]))
		dec.UseNumber()
		var v any
		if dec.Decode(&v) == nil {
			texts := nonEmpty(unescaped(s[:at]))
			texts = append(texts, leaves(v, depth+1)...)
			return append(texts, unpack(s[at+int(dec.InputOffset()):], depth+1)...)
		}
		at++
	}
	return nonEmpty(unescaped(s))
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// echoes are fields in which a server repeats what it was sent: a person's own words,
// which must not be read as a refusal.
var echoes = []string{"input", "messages", "prompt", "request", "request_body", "contents"}

// leaves gives the strings of a JSON value, in the order of its keys' names.
func leaves(v any, depth int) []string {
	if depth > maxDepth {
		return nil
	}
	switch v := v.(type) {
	case string:
		return unpack(v, depth)
	case []any:
		var all []string
		for _, e := range v {
			all = append(all, leaves(e, depth+1)...)
		}
		return all
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		var all []string
		for _, k := range keys {
			all = append(all, field(k, v[k], depth)...)
		}
		return all
	}
	return nil
}

func field(key string, v any, depth int) []string {
	if n, ok := v.(json.Number); ok && key == "code" {
		return []string{n.String()}
	}
	if text, ok := v.(string); slices.Contains(echoes, key) && (!ok || strings.ContainsAny(strings.TrimSpace(text), " \n")) {
		return nil
	}
	return leaves(v, depth+1)
}

// unpackWord reads a code such as image_not_supported as words too. It is nil for
// what is no such code.
func unpackWord(s string) []string {
	if s == "" || strings.IndexFunc(s, func(r rune) bool {
		return r > unicode.MaxASCII || r != '_' && r != '.' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) >= 0 {
		return nil
	}
	spoken := strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(s), "image_url", "image-url"), "_", " ")
	if spoken == strings.ToLower(s) {
		return []string{s}
	}
	return []string{s, spoken}
}

// unescaped undoes the escapes of JSON in a text that is no whole JSON, as in a body
// that was cut or one that stands inside a sentence.
func unescaped(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	s = strings.NewReplacer(`\\"`, `"`, `\"`, `"`, `\'`, `'`, `\n`, "\n", `\\u`, `\u`, `\/`, `/`, `\t`, " ").Replace(s)
	var b strings.Builder
	for {
		i := strings.Index(s, `\u`)
		if i < 0 || i+6 > len(s) {
			break
		}
		b.WriteString(s[:i])
		if n, err := strconv.ParseUint(s[i+2:i+6], 16, 16); err == nil {
			b.WriteRune(rune(n))
		} else {
			b.WriteByte(' ')
			s = s[i+2:]
			continue
		}
		s = s[i+6:]
	}
	b.WriteString(s)
	return b.String()
}

// blanks find what says nothing by its letters: pictures as text, and ids with a
// digit and a dash or slash, in which a word like vision is a name.
var blanks = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`data:[\w/+.;=-]*,[\w/+=-]*`),
		regexp.MustCompile(`https?://[^\s'<>]+`),
		regexp.MustCompile(`[a-z0-9_.]+(?:[-/@:][a-z0-9_.]+)+`),
	}
})

// masked blanks out the names.
func masked(lower, model string) string {
	for _, re := range blanks() {
		lower = re.ReplaceAllStringFunc(lower, func(m string) string {
			isName := strings.ContainsAny(m, "0123456789") || strings.HasPrefix(m, "http") || strings.HasPrefix(m, "data:")
			if !isName || strings.HasPrefix(m, "image/") {
				return m
			}
			return strings.Repeat("_", utf8.RuneCountInString(m))
		})
	}
	for _, id := range []string{model, model[strings.LastIndexByte(model, '/')+1:]} {
		id = strings.Map(folded, strings.TrimSpace(strings.ToValidUTF8(id, "")))
		if n := utf8.RuneCountInString(id); n >= minModel && strings.IndexFunc(id, func(r rune) bool { return !unicode.IsLetter(r) }) >= 0 {
			lower = strings.ReplaceAll(lower, id, strings.Repeat("_", n))
		}
	}
	return lower
}
