package gemini

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/provider"
)

// recorded is a stream with a thought, words, a call and its usage, in the shape of the
// API's reference.
var recorded = []string{
	`{"responseId":"r1","candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"I think.","thought":true,"thoughtSignature":"c2ln"}]}}],"usageMetadata":{"promptTokenCount":10}}`,
	`{"responseId":"r1","candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"Hel"}]}}]}`,
	`{"responseId":"r1","candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"lo"}]}}]}`,
	`{"responseId":"r1","candidates":[{"index":0,"content":{"role":"model","parts":[{"functionCall":{"name":"read","args":{"path":"a"}},"thoughtSignature":"Y2FsbA=="}]}}]}`,
	`{"responseId":"r1","candidates":[{"index":0,"content":{"role":"model","parts":[]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":4,"thoughtsTokenCount":3,"cachedContentTokenCount":6}}`,
}

func decode(events []string) (provider.Response, error) {
	d := NewDecoder(provider.Request{})
	for _, e := range events {
		if _, err := d.Event("", []byte(e)); err != nil {
			return provider.Response{}, err
		}
	}
	return d.Finish()
}

func TestARecordedStreamIsReadAndGoesBackAsItCame(t *testing.T) {
	r, err := decode(recorded)
	if err != nil || len(r.Message.Parts) != 3 || r.Stop != provider.StopCalls || *r.Usage.TokensOut != 7 || *r.Usage.TokensCached != 6 || r.Message.Parts[1].Text != "Hello" {
		t.Fatalf("%v: %+v", err, r)
	}
	body, _, err := Encode(provider.Request{Model: "gemini-3-pro", Messages: []provider.Message{r.Message}})
	if err != nil || !strings.Contains(string(body), `"thoughtSignature":"Y2FsbA==","functionCall"`) || !strings.Contains(string(body), `{"text":"I think.","thought":true,"thoughtSignature":"c2ln"}`) {
		t.Errorf("%v %s", err, body)
	}
}

func TestCallsOfOtherModelsAreTakenByGemini3(t *testing.T) {
	call := func(id string) provider.Part {
		return provider.Part{Kind: provider.PartCall, Signature: "another:wire's", Call: &provider.Call{ID: id, Name: "read"}}
	}
	for model, want := range map[string]int{"gemini-3-flash": 1, "models/gemini-3.5-pro": 1, "gemini-2.5-pro": 0, "gemma-4": 0} {
		body, _, err := Encode(provider.Request{Model: model, Messages: []provider.Message{{Role: provider.RoleAssistant, Parts: []provider.Part{
			{Kind: provider.PartReasoning, Text: "elsewhere", Signature: "another:wire's"}, call("a"), call("b"),
		}}}})
		if n := strings.Count(string(body), noThought); err != nil || n != want || strings.Contains(string(body), "another") || strings.Contains(string(body), "elsewhere") {
			t.Errorf("%s: %d stand-ins, want %d: %v %s", model, n, want, err, body)
		}
	}
}

func TestAStreamCutAtEveryByteGivesNoHalfCall(t *testing.T) {
	whole := strings.Join(recorded, "\n")
	for n := range len(whole) {
		r, err := decode(strings.Split(whole[:n], "\n"))
		e, ok := errors.AsType[*provider.Error](err)
		if !ok || len(r.Message.Parts) != 0 || e.Kind != provider.KindCut && e.Kind != provider.KindMalformed {
			t.Fatalf("cut at %d of %d: %+v %v", n, len(whole), r, err)
		}
	}
}

func TestDamagedStreamsAreSurvived(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	answers := 0
	for range 10_000 {
		events := append([]string{}, recorded...)
		for range 1 + r.IntN(3) {
			i := r.IntN(len(events))
			b := []byte(events[i])
			switch at := r.IntN(len(b)); r.IntN(4) {
			case 0:
				b[at] = byte(r.Uint32())
			case 1:
				b = append(b[:at], b[min(len(b), at+1+r.IntN(9)):]...)
			case 2:
				b = append(b[:at:at], append([]byte(fmt.Sprint(r.Uint32())), b[at:]...)...)
			default:
				j := r.IntN(len(events))
				events[j], b = events[i], []byte(events[j])
			}
			if len(b) == 0 {
				b = []byte("{}")
			}
			events[i] = string(b)
		}
		resp, err := decode(events)
		if err == nil {
			answers++
			for _, p := range resp.Message.Parts {
				if p.Call != nil && (p.Call.Name == "" || p.Call.ID == "") {
					t.Fatalf("half a call: %+v from %q", p.Call, events)
				}
			}
		} else if _, ok := errors.AsType[*provider.Error](err); !ok {
			t.Fatalf("%T %v", err, err)
		}
	}
	if answers == 0 || answers == 10_000 {
		t.Errorf("%d of 10000 damaged streams gave an answer: the damage proves nothing", answers)
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add(strings.Join(recorded, "\n"))
	f.Fuzz(func(t *testing.T, stream string) {
		if resp, err := decode(strings.Split(stream, "\n")); err == nil {
			if _, _, err := Encode(provider.Request{Model: "gemini-3", Messages: []provider.Message{resp.Message}}); err != nil {
				t.Errorf("what was read cannot be sent back: %v", err)
			}
		}
		if _, err := NewDecoder(provider.Request{}).Whole([]byte(stream)); err != nil {
			if _, ok := errors.AsType[*provider.Error](err); !ok {
				t.Errorf("%T", err)
			}
		}
	})
}
