package refusal

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// blindStatus says which statuses may ever mean blindness.
func blindStatus(n int) bool {
	switch n {
	case 200, 400, 404, 415, 422, 500, 501:
		return true
	}
	return false
}

func TestIDsAndNumbersAroundTheWordsChangeNothing(t *testing.T) {
	t.Parallel()
	all := drawn()
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(all).Draw(t, "said")
		id := rapid.StringMatching(`(req_)?[0-9a-f]{4,12}(-[0-9a-f]{4,12}){0,3}`).Draw(t, "id")
		n := rapid.StringMatching(`[0-9]{1,6}`).Draw(t, "number")
		before, after := Read(Refusal{Status: 400, Words: p.words}), Read(Refusal{Status: 400, Words: n + " " + id + ": " + p.words + " (request id: " + id + " " + n + ")"})
		if before.Class != after.Class {
			t.Fatalf("%q: %q by %q becomes %q by %q", p.words, before.Class, before.Phrase, after.Class, after.Phrase)
		}
	})
}

func TestWhatAPersonWroteIsNotReadAsARefusal(t *testing.T) {
	t.Parallel()
	for _, words := range []string{
		`{"detail":[{"type":"missing","loc":["body","model"],"msg":"Field required","input":{"messages":[{"role":"user","content":"the model does not support images"}]}}]}`,
		`{"error":{"message":"Invalid request"},"request":{"messages":["this model does not support image input"]}}`,
		`{"error":"bad request","input":"this model does not support image input"}`,
	} {
		if got := Read(Refusal{Status: 422, Words: words}); got.Class != Other {
			t.Errorf("%s is read as %+v", words, got)
		}
	}
	const literal = `{"detail":[{"type":"literal_error","loc":["body","messages",0,"content",1,"type"],"msg":"Input should be 'text'","input":"image_url","ctx":{"expected":"'text'"}}]}`
	if got := Read(Refusal{Status: 422, Words: literal}); got.Class != Blind {
		t.Errorf("a list of kinds without pictures is read as %+v", got)
	}
}

func TestABodyThatWasCutIsReadAllTheSame(t *testing.T) {
	t.Parallel()
	for _, words := range []string{
		`{"error":{"message":"该模型不支持图片输入","details":"aaaaaaa`,
		`{"error":{"message":"\u8be5\u6a21\u578b\u4e0d\u652f\u6301\u56fe\u7247\u8f93\u5165","details":"aaaaaaa`,
		`{"error":{"message":"{\"error\":{\"message\":\"This model does not support images\"}}","details":"`,
	} {
		if got := Read(Refusal{Status: 400, Words: words}); got.Class != Blind {
			t.Errorf("%s is read as %+v", words, got)
		}
	}
}

func TestAPhraseIsShortAndPlain(t *testing.T) {
	t.Parallel()
	r := Read(Refusal{Status: 400, Words: "\x1b[31mthis\u202e model\tdoes not support \x00 image input" + strings.Repeat(" image", 400)})
	if r.Class != Blind || strings.ContainsAny(r.Phrase, "\x1b\x00\t\u202e") || len([]rune(r.Phrase)) > maxPhrase {
		t.Errorf("%+v", r)
	}
}

// FuzzRead: nothing panics, a status that says something else is never blindness,
// and the phrase is a part of the words.
func FuzzRead(f *testing.F) {
	for _, p := range drawn()[:200] {
		f.Add(400, "", p.words, p.model)
	}
	f.Add(200, "429", `[[[{"a":{"b":"{\"c\":1}`, "m")
	f.Add(500, "1210", "\xff\\u12 \\ud800 `image_url`", "\xff\xfe/")
	f.Add(404, "", "İmages aren’t supported", "İİİİ-1")
	f.Fuzz(func(t *testing.T, status int, code, words, model string) {
		r := Refusal{Status: status, Code: code, Words: words, Model: model}
		got := Read(r)
		if got.Class == Blind && !blindStatus(status) {
			t.Fatalf("status %d is read as %+v", status, got)
		}
		for _, n := range []int{401, 403, 429, 503} {
			r.Status = n
			if also := Read(r); also != (Reading{}) {
				t.Fatalf("status %d is read as %+v", n, also)
			}
		}
		s := hear(r)
		if len([]rune(s.lower)) != len(s.plain) || len([]rune(s.bare)) != len(s.plain) {
			t.Fatalf("the texts differ in length: %d, %d, %d", len(s.plain), len([]rune(s.lower)), len([]rune(s.bare)))
		}
		whole := strings.Join(strings.Fields(string(s.plain)), " ")
		if phrase := strings.TrimSuffix(got.Phrase, "…"); !strings.Contains(whole, phrase) {
			t.Fatalf("phrase %q is not in %q", phrase, whole)
		}
		if len([]rune(got.Phrase)) > maxPhrase+1 {
			t.Fatalf("a phrase of %d runes", len([]rune(got.Phrase)))
		}
		if wrapped, err := json.Marshal(map[string]any{"error": map[string]any{"message": string(s.plain)}}); err == nil && status != 413 && strings.TrimSpace(words) != "" && !strings.ContainsAny(words, `{["\`) {
			if again := Read(Refusal{Status: status, Code: code, Words: string(wrapped), Model: model}); again.Class != got.Class && status == 400 {
				t.Fatalf("in JSON %q becomes %q", got.Class, again.Class)
			}
		}
	})
}

// BenchmarkRead: a refusal is read once a refused request, so this has no hurry.
func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		if Read(Refusal{Status: 400, Words: `{"error":{"message":"The model acme does not take pictures of any kind"}}`}).Class == Size {
			b.Fatal("size")
		}
	}
}
