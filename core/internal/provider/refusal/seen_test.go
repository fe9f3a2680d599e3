package refusal

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// seen is a row of testdata/refusals.tsv: what providers said, and what it meant.
type seen struct {
	provider, where string
	status          []int
	code            string
	class           Class
	phrases         []string
	negative        bool
}

var (
	quoted    = regexp.MustCompile("``(.+?) ?``|`([^`]+)`")
	codeQuote = regexp.MustCompile("code `(\\d+)`")
	number    = regexp.MustCompile(`\b[1-5]\d\d\b`)
)

// table reads the file. Two things in it are no phrases: a row whose wording was never
// seen, and the negative rows, which have their phrase without quotes.
func table(t testing.TB) []seen {
	t.Helper()
	text, err := os.ReadFile("testdata/refusals.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var all []seen
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(cells) < 5 {
			continue
		}
		row := seen{provider: cells[0], where: cells[4], class: Class(cells[2])}
		for _, n := range number.FindAllString(cells[1], -1) {
			status, err := strconv.Atoi(n)
			if err != nil {
				t.Fatal(err)
			}
			row.status = append(row.status, status)
		}
		if row.class == "not-blind" {
			row.class, row.negative = Other, true
			row.phrases = []string{strings.NewReplacer("<model>", "acme/vision-9b", "…", "acme/vision-9b").Replace(cells[3])}
			all = append(all, row)
			continue
		}
		said := cells[3]
		if m := codeQuote.FindStringSubmatch(said); m != nil {
			row.code, said = m[1], codeQuote.ReplaceAllString(said, "")
		}
		said, _, _ = strings.Cut(said, " (also without")
		said, _, _ = strings.Cut(said, " (data URL sent in")
		for _, m := range quoted.FindAllStringSubmatch(said, -1) {
			phrase := m[1] + m[2]
			phrase = strings.NewReplacer("At most N", "At most 4", "[N]", "[3]", "[K]", "[1]", "input(s)", "inputs").Replace(phrase)
			row.phrases = append(row.phrases, phrase)
		}
		all = append(all, row)
	}
	return all
}

func TestEveryRefusalThatWasSeenIsReadAsItsClass(t *testing.T) {
	t.Parallel()
	read, unseen, wrong := 0, 0, 0
	for _, row := range table(t) {
		if len(row.phrases) == 0 {
			unseen++
			if row.provider != "xAI" {
				t.Errorf("%s: a row without a phrase", row.provider)
			}
		}
		for _, phrase := range row.phrases {
			for _, status := range row.status {
				got := Read(Refusal{Status: status, Code: row.code, Words: phrase})
				read++
				if got.Class != row.class {
					wrong++
					t.Errorf("%s %d %q is read as %q by %q, want %q (%s)", row.provider, status, phrase, got.Class, got.Phrase, row.class, row.where)
				}
				if got.Class != Other && got.Phrase == "" {
					t.Errorf("%q has no phrase", phrase)
				}
			}
		}
	}
	if read < 60 || unseen != 1 {
		t.Errorf("%d readings, %d rows without a phrase: the table is not the one that was copied", read, unseen)
	}
	t.Logf("%d of %d readings of rows right", read-wrong, read)
}

func TestAnAmbiguousRefusalIsUnsure(t *testing.T) {
	t.Parallel()
	const words = "Invalid API parameter, please check the documentation"
	for _, r := range []Refusal{
		{Status: 400, Code: "1210", Words: words},
		{Status: 400, Words: `{"error":{"code":"1210","message":"` + words + `"}}`},
		{Status: 400, Words: `{"error":{"code":1210,"message":"` + words + `"}}`},
		{Status: 400, Code: "1210", Words: "API 调用参数有误，请检查文档。"},
		{Status: 422, Words: "invalid type: sequence, expected a string"},
	} {
		if got := Read(r); got.Class != Blind || !got.Unsure {
			t.Errorf("%+v is read as %+v", r, got)
		}
	}
	if got := Read(Refusal{Status: 400, Code: "1211", Words: words}); got.Class != Other {
		t.Errorf("another code is read as %+v", got)
	}
	if got := Read(Refusal{Status: 400, Words: "this model does not support image input"}); got.Class != Blind || got.Unsure {
		t.Errorf("a plain refusal is read as %+v", got)
	}
}

func TestTheStatusDecidesWhetherTheWordsCount(t *testing.T) {
	t.Parallel()
	const plain = "This deployment does not accept images"
	tests := []struct {
		why    string
		r      Refusal
		class  Class
		phrase string
	}{
		{"a refused key", Refusal{Status: 401, Words: plain}, Other, ""},
		{"a key that may not", Refusal{Status: 403, Words: plain}, Other, ""},
		{"too many requests", Refusal{Status: 429, Words: plain}, Other, ""},
		{"a broken server", Refusal{Status: 502, Words: plain}, Other, ""},
		{"no status at all", Refusal{Words: plain}, Other, ""},
		{"404 from anybody", Refusal{Status: 404, Words: "image input is not supported"}, Other, ""},
		{"404 from OpenRouter", Refusal{Status: 404, Words: "No endpoints found that support image input"}, Blind, "No endpoints found that support image input"},
		{"500 from anybody", Refusal{Status: 500, Words: plain}, Other, ""},
		{"500 from llama.cpp", Refusal{Status: 500, Words: "image input is not supported - hint: you may need to provide the mmproj"}, Blind, "image input is not supported"},
		{"an error in a stream", Refusal{Status: 200, Words: plain}, Blind, "not accept images"},
		{"an error in a stream, with a code of its own", Refusal{Status: 200, Code: "invalid_request_error", Words: plain}, Blind, "not accept images"},
		{"an error in a stream, with the status it would have had", Refusal{Status: 200, Code: "429", Words: plain}, Other, ""},
		{"the same with another", Refusal{Status: 200, Code: "400", Words: plain}, Blind, "not accept images"},
		{"numbers in the words are no status", Refusal{Status: 400, Words: "Error 429: " + plain + " (500)"}, Blind, "not accept images"},
		{"413 with words", Refusal{Status: 413, Words: "Request exceeds the maximum size"}, Size, "Request exceeds the maximum size"},
		{"413 of a web server", Refusal{Status: 413, Words: "<html>413 Request Entity Too Large</html>"}, Size, "Request Entity Too Large"},
		{"413 without a word", Refusal{Status: 413}, Size, ""},
		{"413 is never blindness", Refusal{Status: 413, Words: plain}, Size, plain},
		{"413 for tokens", Refusal{Status: 413, Words: "context length exceeded"}, Other, "context length"},
		{"501", Refusal{Status: 501, Words: "Image input is not implemented by this server"}, Blind, "Image input is not implemented"},
		{"415", Refusal{Status: 415, Words: "unsupported content type: image_url"}, Blind, "unsupported content type: image_url"},
	}
	for _, c := range tests {
		got := Read(c.r)
		if got.Class != c.class || got.Phrase != c.phrase {
			t.Errorf("%s: %+v, want %q %q", c.why, got, c.class, c.phrase)
		}
	}
}
