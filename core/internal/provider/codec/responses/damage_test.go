package responses

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/provider"
)

// recorded is a stream with reasoning, words, a call and its usage, in the shape of the
// API's reference.
var recorded = []string{
	`{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","status":"in_progress","output":[]}}`,
	`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1"}}`,
	`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","encrypted_content":"secret==","summary":[{"type":"summary_text","text":"I think."}]}}`,
	`{"type":"response.output_text.delta","output_index":1,"delta":"Hel"}`,
	`{"type":"response.output_text.delta","output_index":1,"delta":"lo"}`,
	`{"type":"response.output_item.done","output_index":1,"item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello"}]}}`,
	`{"type":"response.function_call_arguments.delta","output_index":2,"delta":"{\"path\":"}`,
	`{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\":\"a\"}","status":"completed"}}`,
	`{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[],"usage":{"input_tokens":10,"output_tokens":4,"input_tokens_details":{"cached_tokens":6}}}}`,
}

// decode feeds a decoder as exchange does.
func decode(events []string) (provider.Response, error) {
	d := NewDecoder(provider.Request{})
	for _, e := range events {
		if _, err := d.Event("", []byte(e)); err != nil {
			return provider.Response{}, err
		}
	}
	return d.Finish()
}

func TestARecordedStreamIsRead(t *testing.T) {
	r, err := decode(recorded)
	if err != nil || len(r.Message.Parts) != 3 || r.Stop != provider.StopCalls || *r.Usage.TokensCached != 6 || r.RequestID != "resp_1" {
		t.Fatalf("%v: %+v", err, r)
	}
	body, _, err := Encode(provider.Request{Messages: []provider.Message{r.Message, {Role: provider.RoleTool, Parts: []provider.Part{{Kind: provider.PartResult, Result: &provider.Result{ID: "c1", Text: "x"}}}}}})
	if err != nil || !strings.Contains(string(body), `"encrypted_content":"secret=="`) || !strings.Contains(string(body), `"id":"rs_1"`) {
		t.Errorf("reasoning does not go back as it came: %v %s", err, body)
	}
	foreign := r.Message
	foreign.Parts[0].Signature = "another:wire's"
	if body, _, err := Encode(provider.Request{Messages: []provider.Message{foreign}}); err != nil || strings.Contains(string(body), "another") {
		t.Errorf("another wire's signature is sent: %v %s", err, body)
	}
}

func TestAStreamCutAtEveryByteGivesNoHalfCall(t *testing.T) {
	whole := strings.Join(recorded, "\n")
	last := strings.LastIndex(whole, "\n")
	for n := range len(whole) {
		r, err := decode(strings.Split(whole[:n], "\n"))
		if err == nil || len(r.Message.Parts) != 0 {
			t.Fatalf("cut at %d of %d: %+v", n, len(whole), r)
		}
		e, ok := errors.AsType[*provider.Error](err)
		if !ok || e.Kind != provider.KindCut && e.Kind != provider.KindMalformed || n <= last && e.Kind == "" {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}

func TestDamagedStreamsAreSurvived(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
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
			if _, _, err := Encode(provider.Request{Messages: []provider.Message{resp.Message}}); err != nil {
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
