package envelope

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/vision"
)

// pngOf is a PNG of a size.
func pngOf(t testing.TB, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func b64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

func dataURL(data []byte) string { return "data:image/png;base64," + b64(data) }

func opened(t testing.TB, w Wire, body string) *Envelope {
	t.Helper()
	e, err := Open(w, []byte(body))
	if err != nil {
		t.Fatalf("%v: %.200s", err, body)
	}
	return e
}

func TestWhatCannotBeOpenedIsTheProgramsFault(t *testing.T) {
	for _, c := range []struct {
		wire   Wire
		body   string
		status int
		field  string
		words  string
	}{
		{Chat, `{`, 400, "", "cannot be read as JSON: a key is expected, at byte 1"},
		{Chat, `[]`, 400, "", "no JSON object"},
		{Chat, `{"messages":[]}`, 400, "model", "model is missing"},
		{Chat, `{"model":7,"messages":[]}`, 400, "model", "model is missing"},
		{Chat, `{"model":"m"}`, 400, "messages", "must be a list"},
		{Chat, `{"model":"m","messages":{}}`, 400, "messages", "must be a list"},
		{Chat, `{"model":"m","messages":[],"stream":"yes"}`, 400, "stream", "true or false"},
		{Messages, `{"model":"m","messages":"hi"}`, 400, "messages", "must be a list"},
		{Responses, `{"model":"m","input":7}`, 400, "input", "a text or a list"},
		{Chat, `{"model":"m","model":"n","messages":[]}`, 400, "", `"model" is there twice`},
		{"other", `{}`, 404, "", "no wire"},
		{Chat, strings.Repeat(" ", maxBody) + `{}`, 413, "", "leave older pictures out"},
	} {
		_, err := Open(c.wire, []byte(c.body))
		f, ok := errors.AsType[*Fault](err)
		if !ok || f.Status != c.status || f.Field != c.field || !strings.Contains(f.Words, c.words) {
			t.Errorf("%s %.60s: %+v, want %d %q %q", c.wire, c.body, err, c.status, c.field, c.words)
		}
	}
}

func TestTooManyPicturesAreRefused(t *testing.T) {
	one := `{"type":"image_url","image_url":{"url":"https://a.example/p.png"}},`
	body := `{"model":"m","messages":[{"role":"user","content":[` + strings.TrimSuffix(strings.Repeat(one, maxPictures+1), ",") + `]}]}`
	f, ok := errors.AsType[*Fault](func() error { _, err := Open(Chat, []byte(body)); return err }())
	if !ok || f.Status != 413 {
		t.Errorf("%v", f)
	}
}

func TestTheWireOfAFault(t *testing.T) {
	f := &Fault{Status: 400, Words: "say <less>", Field: "messages"}
	for wire, want := range map[Wire]string{
		Chat:      `{"error":{"code":null,"message":"say <less>","param":"messages","type":"invalid_request_error"}}`,
		Responses: `{"error":{"code":null,"message":"say <less>","param":"messages","type":"invalid_request_error"}}`,
		Messages:  `{"error":{"message":"say <less>","type":"invalid_request_error"},"type":"error"}`,
	} {
		if got := string(f.Body(wire)); got != want {
			t.Errorf("%s: %s, want %s", wire, got, want)
		}
	}
}

// brief is a spot as a line.
func brief(s Spot) string {
	var marks []string
	for word, on := range map[string]bool{"tool": s.Tool, "new": s.Unanswered, "nowords": s.NoWords} {
		if on {
			marks = append(marks, word)
		}
	}
	what := fmt.Sprintf("%d bytes %s", len(s.Data), s.MediaType)
	for word, text := range map[string]string{"at": s.Remote, "file": s.File, "bad:": s.Bad} {
		if text != "" {
			what = word + " " + text
		}
	}
	order := []string{}
	for _, word := range []string{"tool", "new", "nowords"} {
		for _, m := range marks {
			if m == word {
				order = append(order, m)
			}
		}
	}
	return strings.TrimSpace(s.Place + " " + what + " " + strings.Join(order, " "))
}

// every placement of a picture; P stands for its base64, U for its data URL.
var placements = []struct {
	wire Wire
	body string
	want []string
}{
	{Chat, `{"model":"m","messages":[
		{"role":"system","content":[{"type":"text","text":"s"},{"type":"image_url","image_url":{"url":"U"}}]},
		{"role":"user","content":[{"type":"image_url","image_url":{"url":"U","detail":"high"}},{"type":"image_url","image_url":"U"}]},
		{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}],"images":[{"type":"image_url","image_url":{"url":"U"}}]},
		{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"t"},{"type":"image_url","image_url":{"url":"U"}}]},
		{"role":"tool","tool_call_id":"c","content":[{"type":"input_image","image_url":"U"},{"type":"image","data":"P","mimeType":"image/png"}]},
		{"role":"tool","tool_call_id":"c","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"P"}},{"type":"image","image":"U"}]},
		{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a.example/p.png"}},{"type":"file","file":{"file_data":"U"}},{"type":"image_url","image_url":{"url":"P"}}]},
		{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,?"}},{"type":"image_url","image_url":{"url":"nothing"}},{"type":"image_url","image_url":{"url":"data:image/png"}}]},
		{"role":"user","content":"U"}
	]}`, []string{
		"messages[0].content[1] N image/png", "messages[1].content[0] N image/png", "messages[1].content[1] N image/png",
		"messages[2].images[0] N image/png nowords",
		"messages[3].content[1] N image/png tool new", "messages[4].content[0] N image/png tool new", "messages[4].content[1] N image/png tool new",
		"messages[5].content[0] N image/png tool new", "messages[5].content[1] N image/png tool new",
		"messages[6].content[0] at https://a.example/p.png new", "messages[6].content[1] N image/png new", "messages[6].content[2] N image/png new",
		"messages[7].content[0] bad: its base64 does not decode new", "messages[7].content[1] bad: it is neither a data URL nor another URL new",
		"messages[7].content[2] bad: its data URL has no comma new",
	}},
	{Responses, `{"model":"m","input":[
		{"role":"user","content":[{"type":"input_image","image_url":"U","detail":"auto","file_id":null}]},
		{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},
		{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"t"},{"type":"input_image","image_url":"U","detail":"high"}]},
		{"type":"custom_tool_call_output","call_id":"c","output":[{"type":"input_image","file_id":"file-1"}]},
		{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]},
		{"type":"image_generation_call","id":"i","result":"P","status":"completed"},
		{"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot","image_url":"U"}},
		{"type":"function_call_output","call_id":"c","output":"U"},
		{"type":"message","role":"user","content":[{"type":"input_file","file_data":"U"},{"type":"input_image","image_url":"http://a.example/p"}]}
	],"prompt":{"id":"p","variables":{"pic":{"type":"input_image","image_url":"U"}}}}`, []string{
		"prompt.variables.pic N image/png", "input[0].content[0] N image/png", "input[2].output[1] N image/png tool", "input[3].output[0] file file-1 tool",
		"input[5] N image/png nowords", "input[6].output N image/png tool new nowords",
		"input[8].content[0] N image/png new", "input[8].content[1] at http://a.example/p new",
	}},
	{Messages, `{"messages":[
		{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"P"}},{"type":"image","source":{"type":"url","url":"https://a.example/p"}},{"type":"image","source":{"type":"file","file_id":"file_1"}}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},
		{"role":"user","content":[
			{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"t"},{"type":"image","source":{"type":"base64","media_type":"IMAGE/PNG","data":"P"},"cache_control":{"type":"ephemeral"}}]},
			{"type":"document","source":{"type":"content","content":[{"type":"image","source":{"type":"base64","data":"P"}}]}},
			{"type":"tool_result","tool_use_id":"c","content":"P"}]}
	],"model":"m","max_tokens":1}`, []string{
		"messages[0].content[0] N image/png", "messages[0].content[1] at https://a.example/p", "messages[0].content[2] file file_1",
		"messages[2].content[0].content[1] N image/png tool new", "messages[2].content[1].source.content[0] N image/png new",
	}},
}

func filled(t testing.TB, body string) string {
	p := pngOf(t, 3, 2)
	return strings.NewReplacer(`"P"`, `"`+b64(p)+`"`, `"U"`, `"`+dataURL(p)+`"`).Replace(body)
}

func TestEveryPlacementOfAPictureIsFound(t *testing.T) {
	size := fmt.Sprintf(" %d bytes ", len(pngOf(t, 3, 2)))
	for _, c := range placements {
		e := opened(t, c.wire, filled(t, c.body))
		var got []string
		for i, s := range e.Pictures() {
			got = append(got, strings.Replace(brief(s), size, " N ", 1))
			if s.Index != i {
				t.Errorf("%s has the number %d, not %d", s.Place, s.Index, i)
			}
			if s.Data != nil && (s.Size != vision.Size{Width: 3, Height: 2} || len(s.SHA256) != 64) {
				t.Errorf("%s: %v %q", s.Place, s.Size, s.SHA256)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.wire, d)
		}
	}
}

func TestADataURLIsReadAsProvidersDo(t *testing.T) {
	p := pngOf(t, 5, 7)
	var j bytes.Buffer
	if err := jpeg.Encode(&j, image.NewGray(image.Rect(0, 0, 9, 4)), nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		url, media, bad string
		want            []byte
		size            vision.Size
	}{
		{dataURL(p), "image/png", "", p, vision.Size{Width: 5, Height: 7}},
		{"DATA:image/PNG;BASE64," + b64(p), "image/png", "", p, vision.Size{Width: 5, Height: 7}},
		{"data:image/png;name=a.png;base64," + b64(p), "image/png", "", p, vision.Size{Width: 5, Height: 7}},
		{"data:;base64," + b64(p), "image/png", "", p, vision.Size{Width: 5, Height: 7}},
		{"data:image/jpg;base64," + b64(j.Bytes()), "image/jpeg", "", j.Bytes(), vision.Size{Width: 9, Height: 4}},
		{"data:image/png;base64," + base64.RawURLEncoding.EncodeToString(p), "image/png", "", p, vision.Size{Width: 5, Height: 7}},
		{"data:image/png;base64," + b64(p)[:20] + "\r\n" + b64(p)[20:], "image/png", "", p, vision.Size{Width: 5, Height: 7}},
		{"data:image/svg+xml,%3Csvg/%3E", "image/svg+xml", "", []byte("<svg/>"), vision.Size{}},
		{"data:image/webp;base64," + b64([]byte("RIFF\x00\x00\x00\x00WEBPVP8 ")), "image/webp", "", []byte("RIFF\x00\x00\x00\x00WEBPVP8 "), vision.Size{}},
		{"data:image/png;base64,", "image/png", "it is empty", nil, vision.Size{}},
		{"data:image/png;base64,A", "image/png", "does not decode", nil, vision.Size{}},
		{"data:image/png,%zz", "image/png", "neither base64 nor percent-encoded", nil, vision.Size{}},
	} {
		text, _ := json.Marshal(c.url)
		s := opened(t, Chat, `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":`+string(text)+`}}]}]}`).Pictures()[0]
		if !bytes.Equal(s.Data, c.want) || s.MediaType != c.media || s.Size != c.size || (c.bad == "") != (s.Bad == "") || !strings.Contains(s.Bad, c.bad) {
			t.Errorf("%.40s: %d bytes, %s, %v, %q", c.url, len(s.Data), s.MediaType, s.Size, s.Bad)
		}
	}
}

// A body as large as providers take is read in one pass: each of its parts costs the same,
// however many stand before it.
func TestALargeBodyIsReadOnce(t *testing.T) {
	if testing.AllocsPerRun(1, func() {}) != 0 {
		t.Fatal("the count of allocations is not to be trusted")
	}
	picture := `{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("QUJD", 50_000) + `"}},`
	allocs := func(n int) float64 {
		body := []byte(`{"model":"m","messages":[{"role":"user","content":[` + strings.TrimSuffix(strings.Repeat(picture, n), ",") + `]}]}`)
		return testing.AllocsPerRun(2, func() {
			if e, err := Open(Chat, body); err != nil || len(e.Pictures()) != n {
				t.Errorf("%v", err)
			}
		})
	}
	few, many := allocs(10), allocs(100) // 2 MB and 20 MB
	if many > 11*few {
		t.Errorf("%v allocations for 10 pictures, %v for 100", few, many)
	}
}

func BenchmarkOpen20MB(b *testing.B) {
	picture := `{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("QUJD", 50_000) + `"}},`
	body := []byte(`{"model":"m","messages":[{"role":"user","content":[` + strings.TrimSuffix(strings.Repeat(picture, 100), ",") + `]}]}`)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := Open(Chat, body); err != nil {
			b.Fatal(err)
		}
	}
}
