package envelope

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

// pictureOf is a picture that may be sent.
func pictureOf(data []byte, media string) *vision.Picture {
	sum := sha256.Sum256(data)
	return &vision.Picture{SHA256: hex.EncodeToString(sum[:]), MediaType: media, Width: 8, Height: 9, Bytes: data}
}

func TestAChangeIsWrittenInTheWiresShape(t *testing.T) {
	other := pictureOf([]byte("other"), "image/jpeg")
	o := base64.StdEncoding.EncodeToString(other.Bytes)
	chat := func(part string) string {
		return `{"model":"m","messages":[{"role":"user","content":[` + part + `]}]}`
	}
	responses := func(item string) string { return `{"model":"m","input":[` + item + `]}` }
	messages := func(part string) string { return chat(part) }
	for _, c := range []struct {
		why           string
		wire          Wire
		in            func(string) string
		part          string
		picture, text string // what the part becomes; text "-": it cannot be words
	}{
		{"a URL in an object", Chat, chat, `{"type":"image_url", "image_url":{"detail":"high", "url" : "data:image/png;base64,QUJD" },"x":1.0}`, `{"type":"image_url", "image_url":{"detail":"high", "url" : "data:image/jpeg;base64,` + o + `" },"x":1.0}`, `{"type":"text","text":"<w>\n"}`},
		{"a URL as a text", Chat, chat, `{"type":"image_url","image_url":"data:image/png;base64,QUJD"}`, `{"type":"image_url","image_url":"data:image/jpeg;base64,` + o + `"}`, `{"type":"text","text":"<w>\n"}`},
		{"a picture elsewhere", Chat, chat, `{"type":"image_url","image_url":{"url":"https://a.example/p"}}`, `{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,` + o + `"}}`, `{"type":"text","text":"<w>\n"}`},
		{"MCP's content", Chat, chat, `{"type":"image","mimeType":"image/png","data":"QUJD"}`, `{"type":"image","mimeType":"image/jpeg","data":"` + o + `"}`, `{"type":"text","text":"<w>\n"}`},
		{"a file", Chat, chat, `{"type":"file","file":{"file_data":"data:image/png;base64,QUJD","filename":"a"}}`, `{"type":"file","file":{"file_data":"data:image/jpeg;base64,` + o + `","filename":"a"}}`, `{"type":"text","text":"<w>\n"}`},
		{"a mark of the cache", Chat, chat, `{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"},"cache_control": {"type":"ephemeral"}}`, `{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,` + o + `"},"cache_control": {"type":"ephemeral"}}`, `{"type":"text","text":"<w>\n","cache_control":{"type":"ephemeral"}}`},
		{"an input_image", Responses, responses, `{"role":"user","content":[{"type":"input_image","file_id":null,"image_url":"data:image/png;base64,QUJD","detail":"auto"}]}`, `{"role":"user","content":[{"type":"input_image","file_id":null,"image_url":"data:image/jpeg;base64,` + o + `","detail":"auto"}]}`, `{"role":"user","content":[{"type":"input_text","text":"<w>\n"}]}`},
		{"a file's id", Responses, responses, `{"role":"user","content":[{"type":"input_image", "file_id" : "f" ,"detail":"auto"}]}`, `{"role":"user","content":[{"type":"input_image", "image_url":"data:image/jpeg;base64,` + o + `" ,"detail":"auto"}]}`, `{"role":"user","content":[{"type":"input_text","text":"<w>\n"}]}`},
		{"a file's id beside null", Responses, responses, `{"role":"user","content":[{"type":"input_image","image_url":null,"file_id":"f"}]}`, `{"role":"user","content":[{"type":"input_image","image_url":"data:image/jpeg;base64,` + o + `","file_id":null}]}`, `{"role":"user","content":[{"type":"input_text","text":"<w>\n"}]}`},
		{"a tool's", Responses, responses, `{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"data:image/png;base64,QUJD"}]}`, `{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"data:image/jpeg;base64,` + o + `"}]}`, `{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"<w>\n"}]}`},
		{"a screenshot", Responses, responses, `{"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot","image_url":"data:image/png;base64,QUJD"}}`, `{"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot","image_url":"data:image/jpeg;base64,` + o + `"}}`, "-"},
		{"a picture that the model made", Responses, responses, `{"type":"image_generation_call","result":"QUJD"}`, `{"type":"image_generation_call","result":"` + o + `"}`, "-"},
		{"base64", Messages, messages, `{"type":"image","source":{"data":"QUJD", "type":"base64","media_type": "image/png"}}`, `{"type":"image","source":{"data":"` + o + `", "type":"base64","media_type": "image/jpeg"}}`, `{"type":"text","text":"<w>\n"}`},
		{"base64 without its type", Messages, messages, `{"type":"image","source":{"type":"base64","data":"QUJD"}}`, `{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"` + o + `"}}`, `{"type":"text","text":"<w>\n"}`},
		{"a URL", Messages, messages, `{"type":"image","source":{"type":"url","url":"https://a.example/p"}}`, `{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"` + o + `"}}`, `{"type":"text","text":"<w>\n"}`},
		{"a tool's", Messages, messages, `{"type":"tool_result","tool_use_id":"c","content":[{"type":"image","cache_control":{"type":"ephemeral"},"source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]}`, `{"type":"tool_result","tool_use_id":"c","content":[{"type":"image","cache_control":{"type":"ephemeral"},"source":{"type":"base64","media_type":"image/jpeg","data":"` + o + `"}}]}`, `{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"<w>\n","cache_control":{"type":"ephemeral"}}]}`},
	} {
		e := opened(t, c.wire, c.in(c.part))
		body, receipts, err := e.Seal(Changes{Pictures: map[int]Change{0: {Picture: other}}})
		if err != nil || string(body) != c.in(c.picture) {
			t.Errorf("%s: %v\n got %s\nwant %s", c.why, err, body, c.in(c.picture))
		}
		if len(receipts) != 1 || receipts[0].SHA256 != other.SHA256 || receipts[0].Place != e.Pictures()[0].Place || receipts[0].Size.Width != 8 || receipts[0].MediaType != "image/jpeg" {
			t.Errorf("%s: %+v", c.why, receipts)
		}
		if again := opened(t, c.wire, string(body)).Pictures(); len(again) != 1 || !bytes.Equal(again[0].Data, other.Bytes) {
			t.Errorf("%s: the changed picture is not found again: %+v", c.why, again)
		}
		body, receipts, err = e.Seal(Changes{Pictures: map[int]Change{0: {Words: "<w>\n"}}})
		switch {
		case c.text == "-":
			if !errors.Is(err, ErrChange) || !e.Pictures()[0].NoWords {
				t.Errorf("%s became words: %v %s", c.why, err, body)
			}
		case err != nil || string(body) != c.in(c.text) || len(receipts) != 0:
			t.Errorf("%s: %v %v\n got %s\nwant %s", c.why, err, receipts, body, c.in(c.text))
		}
	}
}

func TestTheModelIsReplacedWhereverItStands(t *testing.T) {
	e := opened(t, Messages, ` { "metadata":{"model":"x"}, "model" : "a\/b" ,"messages":[ ] } `)
	body, _, err := e.Seal(Changes{Model: `other "one"`})
	if want := ` { "metadata":{"model":"x"}, "model" : "other \"one\"" ,"messages":[ ] } `; err != nil || string(body) != want || e.Model != "a/b" {
		t.Errorf("%v %s, want %s", err, body, want)
	}
}

func TestAPictureThatIsNotWhatItSaysIsNotSent(t *testing.T) {
	e := opened(t, Chat, filled(t, placements[0].body))
	bad := pictureOf([]byte("x"), "image/png")
	bad.SHA256 = strings.Repeat("0", 64)
	if _, _, err := e.Seal(Changes{Pictures: map[int]Change{0: {Picture: bad}}}); !errors.Is(err, provider.ErrPicture) {
		t.Errorf("%v", err)
	}
	for _, i := range []int{-1, 99} {
		if _, _, err := e.Seal(Changes{Pictures: map[int]Change{i: {Words: "w"}}}); !errors.Is(err, ErrChange) {
			t.Errorf("picture %d: %v", i, err)
		}
	}
}

func TestReceiptsAreForWhatIsInTheBody(t *testing.T) {
	for _, c := range placements {
		e := opened(t, c.wire, filled(t, c.body))
		_, receipts, err := e.Seal(Changes{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, s := range e.Pictures() {
			if s.Data == nil {
				continue
			}
			r := receipts[n]
			if n++; r.Place != s.Place || r.SHA256 != s.SHA256 || r.Bytes != len(s.Data) || r.Size != s.Size || r.MediaType != "image/png" || r.View.Role != vision.Other || r.View.ID != s.Place {
				t.Errorf("%+v is no receipt for %s", r, s.Place)
			}
		}
		if n != len(receipts) || n == 0 {
			t.Errorf("%s: %d receipts for %d pictures", c.wire, len(receipts), n)
		}
	}
}

// drawnRequest is a request of a wire around any JSON, with its pictures.
func drawnRequest(t *rapid.T) (Wire, string) {
	any1 := func() string { return drawn().Draw(t, "json") }
	blank := func() string { return rapid.SampledFrom([]string{"", " ", "\n\t"}).Draw(t, "blank") }
	wire := rapid.SampledFrom([]Wire{Chat, Responses, Messages}).Draw(t, "wire")
	data := base64.StdEncoding.EncodeToString(rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "data"))
	parts := map[Wire][]string{
		Chat:      {`{"type":"image_url",` + blank() + `"image_url":{"url":"data:image\/png;base64,` + data + `","x":` + any1() + `}}`, `{"type":"image_url","image_url":"https://a.example"}`, `{"type":"image_url","image_url":{"url":"data:,"}}`},
		Responses: {`{"type":"input_image","image_url":` + blank() + `"data:image/png;base64,` + data + `","x":` + any1() + `}`, `{"type":"input_image","file_id":"f"}`},
		Messages:  {`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `","x":` + any1() + `}}`, `{"type":"tool_result","content":[` + blank() + `{"type":"image","source":{"type":"url","url":"u:"}}]}`},
	}[wire]
	var list []string
	for range rapid.IntRange(0, 5).Draw(t, "parts") {
		list = append(list, blank()+rapid.SampledFrom(append([]string{any1()}, parts...)).Draw(t, "part")+blank())
	}
	dialogue := "messages"
	if wire == Responses {
		dialogue = "input"
	}
	return wire, blank() + `{"extra":` + any1() + `,"` + dialogue + `":[` + any1() + `,{"role":"user","content":[` + strings.Join(list, ",") + `],"y":` + any1() + `}],` + blank() + `"model":"m"}` + blank()
}

func TestEveryOtherByteStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wire, text := drawnRequest(t)
		e, err := Open(wire, []byte(text))
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if body, _, err := e.Seal(Changes{}); err != nil || string(body) != text {
			t.Fatalf("%v\n got %s\nwant %s", err, body, text)
		}
		c := Changes{Pictures: map[int]Change{}}
		other := pictureOf([]byte("other"), "image/webp")
		// What must come out: the pieces of the original, and what stands between them.
		var all []splice
		for i, s := range e.Pictures() {
			switch rapid.IntRange(0, 2).Draw(t, s.Place) {
			case 0:
				c.Pictures[i] = Change{Picture: other}
				all = append(all, e.marks[i].picture(*other)...)
			case 1:
				c.Pictures[i] = Change{Words: "words"}
				all = append(all, e.marks[i].words("words"))
			}
		}
		if rapid.Bool().Draw(t, "model") {
			c.Model = "n"
			all = append(all, over(e.doc.root().at("model"), []byte(`"n"`)))
		}
		body, _, err := e.Seal(c)
		if err != nil || !json.Valid(body) {
			t.Fatalf("%v: %s", err, body)
		}
		rest := body
		for _, outside := range outsides(text, all) {
			at := bytes.Index(rest, []byte(outside))
			if at < 0 {
				t.Fatalf("%q is not in %s, from %s", outside, body, text)
			}
			rest = rest[at+len(outside):]
		}
		for i, s := range opened2(t, wire, body).Pictures() {
			if change, ok := c.Pictures[i]; ok && change.Picture != nil && len(c.Pictures) == 1 && !bytes.Equal(s.Data, other.Bytes) {
				t.Fatalf("picture %d is not the other one: %s", i, body)
			}
		}
	})
}

func opened2(t *rapid.T, w Wire, body []byte) *Envelope {
	e, err := Open(w, body)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// outsides gives the pieces of text that no splice touches.
func outsides(text string, all []splice) []string {
	var pieces []string
	at := int32(0)
	for at <= int32(len(text)) {
		next := splice{int32(len(text)), int32(len(text)) + 1, nil}
		for _, s := range all {
			if s.start >= at && s.start < next.start {
				next = s
			}
		}
		pieces = append(pieces, text[at:next.start])
		at = next.end
	}
	return pieces
}

func FuzzOpen(f *testing.F) {
	for _, c := range placements {
		f.Add(string(c.wire), []byte(filled(f, c.body)))
	}
	f.Add("chat", []byte(`{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/gif;base64,R0lGODlhAQABAAAAACw="}}]}]}`))
	f.Add("messages", []byte(`{"model":"m","messages":[{"role":"assistant","content":[{"type":"thinking","signature":"relo.","content":[{"type":"image","image":"data:,x"}]},{"type":"text","text":"t"},{"type":"redacted_thinking","data":"relo.x"}]}]}`))
	f.Add("responses", []byte(`{"model":"m","input":[{"type":"reasoning","encrypted_content":"relo.","content":[{"type":"input_image","image_url":"data:,x"}]},{"role":"user","content":"hi"}]}`))
	f.Add("responses", []byte(`{"model":"m","input":"hi","tools":[{"type":"namespace","name":"n","tools":[{"type":"custom","name":"c"}]}]}`))
	f.Fuzz(func(t *testing.T, wire string, body []byte) {
		e, err := Open(Wire(wire), body)
		if err != nil {
			if f, ok := errors.AsType[*Fault](err); !ok || f.Status < 400 || !json.Valid(f.Body(Chat)) {
				t.Errorf("%v is no fault", err)
			}
			return
		}
		same, _, err := e.Seal(Changes{})
		if err != nil || !bytes.Equal(same, body) {
			t.Errorf("%v: %q became %q", err, body, same)
		}
		c := Changes{Model: "other", Pictures: map[int]Change{}}
		for i, s := range e.Pictures() {
			if c.Pictures[i] = (Change{Words: "w"}); s.NoWords || i%2 == 0 {
				c.Pictures[i] = Change{Picture: pictureOf([]byte("p"), "image/png")}
			}
		}
		changed, _, err := e.Seal(c)
		if err != nil || !json.Valid(bytes.TrimPrefix(changed, []byte("\xef\xbb\xbf"))) {
			t.Errorf("%v: %q became %q", err, body, changed)
		}
		if _, err := Open(Wire(wire), changed); err != nil {
			t.Errorf("%q cannot be opened: %v", changed, err)
		}
		c.NoForeign = true
		if fewer, _, err := e.Seal(c); err != nil || !json.Valid(bytes.TrimPrefix(fewer, []byte("\xef\xbb\xbf"))) {
			t.Errorf("%v: %q became %q", err, body, fewer)
		}
		if r, err := e.Request(); err == nil {
			NewAnswer(e, "x", 1).Done(provider.Response{Message: provider.Message{Parts: r.Messages[0].Parts}})
		} else if _, ok := errors.AsType[*Fault](err); !ok {
			t.Errorf("%v is no fault", err)
		}
		e.Ignored()
	})
}
