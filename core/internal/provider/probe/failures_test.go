package probe

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/codec/anthropic"
	"github.com/relo-dev/relo/core/internal/provider/codec/chat"
	"github.com/relo-dev/relo/core/internal/provider/exchange"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Each kind of error is a failure with the provider's own error, unless the words are
// those of a refusal of sight and the kind is one of an answer.
func TestEachKindOfErrorFailsWithIt(t *testing.T) {
	t.Parallel()
	for _, kind := range []provider.Kind{
		provider.KindRefused, provider.KindKey, provider.KindBusy, provider.KindCut,
		provider.KindStalled, provider.KindMalformed, provider.KindLarge,
	} {
		for _, status := range []int{0, 400, 429, 500, 503, 529} {
			e := provider.Error{Kind: kind, Status: status, Words: "it did not work", Sent: true}
			m := model{say: fails(e)}
			f := Run(t.Context(), m.ask, Options{Model: "m"})
			if got, ok := errors.AsType[*provider.Error](f.Err); f.Verdict != Failed || f.Sight != vision.Unknown || f.Requests != 1 || !ok || got.Kind != kind {
				t.Errorf("%s %d: %+v", kind, status, f)
			}
		}
	}
}

func TestAProbeThatIsStoppedBeforeItsLastQuestionGivesNoAnswer(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(context.CancelFunc) func(string) (string, error){
		"after guesses": func(stop context.CancelFunc) func(string) (string, error) {
			return func(word string) (string, error) {
				if word == "" {
					stop()
					return "", context.Canceled
				}
				return "beige", nil
			}
		},
		"after a refusal in doubtful words": func(stop context.CancelFunc) func(string) (string, error) {
			return func(word string) (string, error) {
				if word == "" {
					stop()
					return "", context.Canceled
				}
				return "", &provider.Error{Kind: provider.KindRefused, Status: 400, Body: `{"error":{"code":"1210","message":"Invalid API parameter, please check the documentation."}}`, Sent: true}
			}
		},
	} {
		ctx, stop := context.WithCancel(t.Context())
		m := model{say: say(stop)}
		if f := Run(ctx, m.ask, Options{Model: "m"}); f.Verdict != Failed || f.Sight != vision.Unknown || !errors.Is(f.Err, context.Canceled) {
			t.Errorf("%s: %+v", name, f)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	m := model{say: sees}
	if f := Run(ctx, m.ask, Options{Model: "m"}); m.asked != 0 || f.Requests != 0 || !errors.Is(f.Err, context.Canceled) {
		t.Errorf("before it began: %+v", f)
	}
}

// A stream that breaks after half a word, on either wire.
func TestAStreamThatIsCutIsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, w := range []struct {
		begun  string
		encode func(provider.Request) ([]byte, []provider.Receipt, error)
		decode func(provider.Request) exchange.Decoder
	}{
		{
			"data: {\"choices\":[{\"delta\":{\"content\":\"re\"}}]}\n\n",
			func(r provider.Request) ([]byte, []provider.Receipt, error) {
				return chat.Encode(r, chat.Pick("", "", r.Model))
			},
			func(r provider.Request) exchange.Decoder { return chat.NewDecoder(r) },
		},
		{
			"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":30}}}\n\n" +
				"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"re\"}}\n\n",
			anthropic.Encode,
			func(r provider.Request) exchange.Decoder { return anthropic.NewDecoder(r) },
		},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "text/event-stream")
			if _, err := io.WriteString(rw, w.begun); err != nil {
				t.Error(err)
			}
			if err := http.NewResponseController(rw).Flush(); err != nil {
				t.Error(err)
			}
			panic(http.ErrAbortHandler)
		}))
		defer s.Close()
		client := exchange.New(exchange.Options{Provider: "p"}, exchange.Wire{URL: s.URL, KeyHeader: "X-Key", Encode: w.encode, Decoder: w.decode})
		ask := func(ctx context.Context, r provider.Request) (provider.Response, error) {
			return client.Stream(ctx, r, nil)
		}
		f := Run(t.Context(), ask, Options{Model: "m"})
		if e, ok := errors.AsType[*provider.Error](f.Err); f.Verdict != Failed || f.Sight != vision.Unknown || f.Requests != 1 || !ok || e.Kind != provider.KindCut {
			t.Errorf("%q: %+v", w.begun, f)
		}
	}
}
