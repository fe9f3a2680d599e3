package probe

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/relo-dev/relo/core/internal/provider"
	anthropic "github.com/relo-dev/relo/core/internal/provider/codec/anthropic"
	chat "github.com/relo-dev/relo/core/internal/provider/codec/chat"
	"github.com/relo-dev/relo/core/internal/provider/exchange"
	"github.com/relo-dev/relo/core/internal/vision"
)

// wires are how the two clients send and read; their own packages stand on a floor
// above this one and add the address.
var wires = []struct {
	name   string
	encode func(provider.Request) ([]byte, []provider.Receipt, error)
	decode func(provider.Request) exchange.Decoder
	answer string // said, and tokens of the input
}{
	{
		"chat",
		func(r provider.Request) ([]byte, []provider.Receipt, error) {
			return chat.Encode(r, chat.Pick("", "", r.Model))
		},
		func(r provider.Request) exchange.Decoder { return chat.NewDecoder(r) },
		`{"choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":1}}`,
	},
	{
		"anthropic",
		func(r provider.Request) ([]byte, []provider.Receipt, error) { return anthropic.Encode(r) },
		func(r provider.Request) exchange.Decoder { return anthropic.NewDecoder(r) },
		`{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":%q}],"stop_reason":"end_turn","usage":{"input_tokens":%d,"output_tokens":1}}`,
	},
}

// sent finds the picture in a body of either wire.
var sent = regexp.MustCompile(`(?:data:image/png;base64,|"data":")([A-Za-z0-9+/=]+)`)

// shown gives what the picture in a body shows, "" without one.
func shown(t *testing.T, body []byte) string {
	m := sent.FindSubmatch(body)
	if m == nil {
		return ""
	}
	b, err := base64.StdEncoding.DecodeString(string(m[1]))
	if err != nil {
		t.Errorf("the picture cannot be read: %v", err)
	}
	word, ok := Decode(b)
	if !ok {
		t.Error("what arrived is not what was drawn")
	}
	return word
}

func TestVerdictsOverHTTP(t *testing.T) {
	t.Parallel()
	const picture, text = 80, 30 // tokens
	said := func(words string, tokens int) func(string) (int, string, int) {
		return func(string) (int, string, int) { return http.StatusOK, words, tokens }
	}
	refuses := func(status int, body string) func(string) (int, string, int) {
		return func(word string) (int, string, int) {
			if word == "" {
				return http.StatusOK, "which picture?", text
			}
			return status, body, 0
		}
	}
	tests := []struct {
		why     string
		play    func(word string) (status int, said string, tokens int)
		verdict Verdict
		sight   vision.Sight
	}{
		{"it sees", func(word string) (int, string, int) { return http.StatusOK, word, picture }, Saw, vision.Sees},
		{"it guesses", func(word string) (int, string, int) {
			if word == "" {
				return http.StatusOK, "white", text
			}
			return http.StatusOK, "white", picture
		}, Guessed, vision.Blind},
		{"it is dropped", said("white", text), Dropped, vision.Blind},
		{"it is refused", refuses(400, `{"error":{"message":"This model does not support image input"}}`), Refused, vision.Blind},
		{"it is refused by Ollama", refuses(500, `{"error":"this model is missing data required for image input"}`), Refused, vision.Blind},
		{"it is refused by OpenRouter", refuses(404, `{"error":{"message":"No endpoints found that support image input","code":404}}`), Refused, vision.Blind},
		{"it is refused in doubtful words", refuses(400, `{"error":{"code":"1210","message":"Invalid API parameter, please check the documentation."}}`), Refused, vision.Blind},
		{"it is broken", refuses(503, `{"error":{"message":"image input is not supported"}}`), Failed, vision.Unknown},
		{"a page comes", refuses(200, `<html>images are not supported by this browser</html>`), Failed, vision.Unknown},
	}
	for _, w := range wires {
		for _, c := range tests {
			t.Run(w.name+": "+c.why, func(t *testing.T) {
				t.Parallel()
				s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					body, err := io.ReadAll(r.Body)
					if err != nil {
						t.Error(err)
					}
					status, words, tokens := c.play(shown(t, body))
					if tokens > 0 {
						words = fmt.Sprintf(w.answer, words, tokens)
					}
					rw.Header().Set("Content-Type", "application/json")
					rw.WriteHeader(status)
					if _, err := io.WriteString(rw, words); err != nil {
						t.Error(err)
					}
				}))
				defer s.Close()
				client := exchange.New(exchange.Options{Provider: "p"}, exchange.Wire{URL: s.URL, KeyHeader: "X-Key", Encode: w.encode, Decoder: w.decode})
				ask := func(ctx context.Context, r provider.Request) (provider.Response, error) {
					return client.Stream(ctx, r, nil)
				}
				f := Run(t.Context(), ask, Options{Model: "m", Rand: rand.New(rand.NewPCG(9, 1))})
				if f.Verdict != c.verdict || f.Sight != c.sight {
					t.Errorf("%s, %s: %s (%v)", f.Verdict, f.Sight, f.Words, f.Err)
				}
			})
		}
	}
}

// answers plays responses one after the other; the last one again and again.
func answers(all ...provider.Response) Ask {
	n := 0
	return func(context.Context, provider.Request) (provider.Response, error) {
		r := all[min(n, len(all)-1)]
		n++
		return r, nil
	}
}

func TestAnAnswerThatWasCutOrDeclinedIsNone(t *testing.T) {
	t.Parallel()
	text := func(s string, stop provider.Stop) provider.Response {
		return provider.Response{Message: provider.Message{Parts: []provider.Part{provider.Text(s)}}, Stop: stop}
	}
	for why, c := range map[string]struct {
		r       provider.Response
		verdict Verdict
	}{
		"cut before a word":        {text("", provider.StopLength), Failed},
		"cut before the name":      {text("The picture that you have sent shows", provider.StopLength), Failed},
		"cut in a thought":         {text("<think>let me look", provider.StopLength), Failed},
		"declined":                 {text("I would rather not.", provider.StopRefusal), Failed},
		"only a thought":           {provider.Response{Message: provider.Message{Parts: []provider.Part{{Kind: provider.PartReasoning, Text: "red"}}}}, Failed},
		"cut after saying it all":  {text("I cannot see images, since I am a", provider.StopLength), NoImage},
		"wrong, and that was all":  {text("white", provider.StopEnd), Guessed},
		"no colour, and all of it": {text("ok", provider.StopEnd), Guessed},
	} {
		if f := Run(t.Context(), answers(c.r), Options{Model: "m"}); f.Verdict != c.verdict || (f.Verdict == Failed) != (f.Sight == vision.Unknown) {
			t.Errorf("%s: %s, %s (%s)", why, f.Verdict, f.Sight, f.Words)
		}
	}
}

func TestACountThatCannotBeTrueProvesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why           string
		with, without int64
		verdict       Verdict
	}{
		{"the same", 31, 31, Dropped},
		{"a placeholder of a word", 33, 31, Dropped},
		{"Anthropic's price of so small a picture", 36, 31, Guessed},
		{"a usual price", 116, 31, Guessed},
		{"more without it", 31, 116, Guessed},
		{"nothing at all", 0, 0, Guessed},
		{"always one", 1, 1, Guessed},
	} {
		guess := func(in int64) provider.Response {
			return provider.Response{Message: provider.Message{Parts: []provider.Part{provider.Text("white")}}, Stop: provider.StopEnd, Usage: provider.Usage{TokensIn: &in}}
		}
		f := Run(t.Context(), answers(guess(c.with), guess(c.with), guess(c.without)), Options{Model: "m"})
		if f.Verdict != c.verdict || f.Sight != vision.Blind || f.Requests != 3 {
			t.Errorf("%s: %s, %s after %d requests (%s)", c.why, f.Verdict, f.Sight, f.Requests, f.Words)
		}
	}
}

func TestWhoHasSeenIsNotBlindForARefusal(t *testing.T) {
	t.Parallel()
	n := 0
	m := model{say: func(word string) (string, error) {
		if n++; n > 1 {
			return "", &provider.Error{Kind: provider.KindRefused, Status: 400, Words: "this model does not support image input", Sent: true}
		}
		return word, nil
	}}
	if f := Run(t.Context(), m.ask, Options{Model: "m"}); f.Verdict != Failed || f.Sight != vision.Unknown {
		t.Errorf("%s, %s (%s)", f.Verdict, f.Sight, f.Words)
	}
}
