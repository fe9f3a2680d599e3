package envelope

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/codec/anthropic"
	"github.com/relo-dev/relo/core/internal/provider/codec/chat"
)

// drawnAnswer is any answer that a codec may give.
func drawnAnswer(t *rapid.T) provider.Response {
	var r provider.Response
	r.Message.Role = provider.RoleAssistant
	// Some models think and speak between their calls.
	for i, kind := range rapid.SliceOfN(rapid.SampledFrom([]string{"text", "call", "think"}), 1, 5).Draw(t, "parts") {
		text := rapid.StringN(1, 20, -1).Draw(t, "text")
		switch kind {
		case "text":
			r.Message.Parts = append(r.Message.Parts, provider.Text(text))
		case "call":
			r.Message.Parts = append(r.Message.Parts, provider.Part{Kind: provider.PartCall, Call: &provider.Call{
				ID: fmt.Sprintf("c%d", i), Name: "f", Args: wrapped("k", text),
			}})
		default:
			signature := rapid.SampledFrom([]string{"", "s", redactedMark + "x"}).Draw(t, "signature")
			if strings.HasPrefix(signature, redactedMark) {
				text = ""
			}
			r.Message.Parts = append(r.Message.Parts, provider.Part{Kind: provider.PartReasoning, Text: text, Signature: signature})
		}
	}
	r.Stop = provider.StopEnd
	if calls(r) {
		r.Stop = provider.StopCalls
	}
	if rapid.Bool().Draw(t, "counted") {
		in := rapid.Int64Range(1, 1000).Draw(t, "in")
		r.Usage = provider.Usage{TokensIn: &in, TokensOut: new(rapid.Int64Range(0, 9).Draw(t, "out")), TokensCached: new(rapid.Int64Range(0, in).Draw(t, "cached"))}
	}
	return r
}

func textOf(r provider.Response) string {
	var all strings.Builder
	for _, p := range r.Message.Parts {
		if p.Kind == provider.PartText {
			all.WriteString(p.Text)
		}
	}
	return all.String()
}

// streamed sends a response as a stream, its text in pieces.
func streamed(t *rapid.T, e *Envelope, r provider.Response) []byte {
	a := NewAnswer(e, "1", 1)
	var out []byte
	text := []rune(textOf(r))
	for n := rapid.IntRange(0, len(text)).Draw(t, "streamed"); n > 0; {
		size := rapid.IntRange(1, n).Draw(t, "piece")
		out = append(append(out, a.Ping()...), a.Delta(string(text[:size]))...)
		text, n = text[size:], n-size
	}
	return append(out, a.Done(r)...)
}

// sorted gives an answer as what a wire keeps of it when the order of its pieces is not told: text, then
// thoughts, then calls.
func sorted(r provider.Response, signed bool) []string {
	text, thought, rest := textOf(r), "", []string{}
	for _, p := range r.Message.Parts {
		switch {
		case p.Kind == provider.PartReasoning && signed:
			rest = append(rest, fmt.Sprintf("thinks %q %q", p.Text, p.Signature))
		case p.Kind == provider.PartReasoning:
			thought += p.Text
		case p.Kind == provider.PartCall:
			rest = append(rest, fmt.Sprintf("calls %s %s %s", p.Call.ID, p.Call.Name, p.Call.Args))
		}
	}
	return append([]string{"says " + text, "thinks " + thought}, rest...)
}

// Relo's own decoders, which know nothing of this package, read what it writes.
func TestRelosOwnWiresReadTheStreams(t *testing.T) {
	type decoder interface {
		Event(name string, data []byte) (provider.Delta, error)
		Finish() (provider.Response, error)
	}
	for wire, open := range map[Wire]func() decoder{
		Chat:     func() decoder { return chat.NewDecoder(provider.Request{}) },
		Messages: func() decoder { return anthropic.NewDecoder(provider.Request{}) },
	} {
		rapid.Check(t, func(t *rapid.T) {
			e := opened2(t, wire, []byte(`{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}`))
			r, d := drawnAnswer(t), open()
			events := httpwire.NewEvents(bytes.NewReader(streamed(t, e, r)), 0)
			for {
				event, err := events.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, err := d.Event(event.Name, event.Data); err != nil {
					t.Fatal(err)
				}
			}
			got, err := d.Finish()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(sorted(r, wire == Messages), sorted(got, wire == Messages)); diff != "" {
				t.Fatalf("%s: %s", wire, diff)
			}
			if got.Stop != r.Stop {
				t.Fatalf("%s: stopped by %s, want %s", wire, got.Stop, r.Stop)
			}
			if diff := cmp.Diff(r.Usage, got.Usage); diff != "" && r.Usage.TokensIn != nil {
				t.Fatalf("%s: usage %s", wire, diff)
			}
		})
	}
}

// What a program was answered it sends back with its next request; then it is read as what
// the model said.
func TestAnAnswerThatComesBackIsReadAsItWasGiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wire := rapid.SampledFrom([]Wire{Chat, Responses, Messages}).Draw(t, "wire")
		r := drawnAnswer(t)
		dialogue := "messages"
		if wire == Responses {
			dialogue = "input"
		}
		empty := opened2(t, wire, []byte(`{"model":"m","`+dialogue+`":[]}`))
		var whole struct {
			Choices []struct {
				Message json.RawMessage `json:"message"`
			} `json:"choices"`
			Output  []json.RawMessage `json:"output"`
			Content json.RawMessage   `json:"content"`
		}
		if err := json.Unmarshal(NewAnswer(empty, "1", 1).Whole(r), &whole); err != nil {
			t.Fatal(err)
		}
		var turn []byte
		switch wire {
		case Chat:
			turn = whole.Choices[0].Message
		case Responses:
			turn, _ = json.Marshal(whole.Output)
			turn = bytes.Trim(turn, "[]")
		default:
			turn = []byte(`{"role":"assistant","content":` + string(whole.Content) + `}`)
		}
		back, err := opened2(t, wire, []byte(`{"model":"m","`+dialogue+`":[`+string(turn)+`]}`)).Request()
		if wire == Chat && len(turn) > 0 && err != nil && strings.Contains(err.Error(), "says nothing") {
			return // hidden thoughts alone have no place there
		}
		if err != nil {
			t.Fatalf("%v: %s", err, turn)
		}
		want, got := sorted(r, wire != Chat), sorted(provider.Response{Message: back.Messages[0]}, wire != Chat)
		if diff := cmp.Diff(want, got); diff != "" || len(back.Messages) != 1 {
			t.Fatalf("%s: %s", wire, diff)
		}
	})
}

func TestTextThatDiffersFromWhatWasStreamedIsNotSaidTwice(t *testing.T) {
	for _, wire := range []Wire{Chat, Responses, Messages} {
		dialogue := map[Wire]string{Chat: "messages", Responses: "input", Messages: "messages"}[wire]
		a := NewAnswer(opened(t, wire, `{"model":"m","`+dialogue+`":[]}`), "1", 1)
		out := string(a.Delta("one thing")) + string(a.Done(provider.Response{Stop: provider.StopEnd, Message: provider.Message{Parts: []provider.Part{provider.Text("another")}}}))
		if strings.Contains(out, "another") || strings.Count(out, "one thing") < 1 {
			t.Errorf("%s: %s", wire, out)
		}
	}
}

func TestTheBytesOfAStream(t *testing.T) {
	r := provider.Response{Stop: provider.StopEnd, Message: provider.Message{Parts: []provider.Part{provider.Text("a<b")}}, Usage: provider.Usage{TokensIn: new(int64(3)), TokensOut: new(int64(1))}}
	for wire, want := range map[Wire][]string{
		Chat: {
			`data: {"choices":[{"delta":{"content":"","role":"assistant"},"finish_reason":null,"index":0,"logprobs":null}],"created":7,"id":"chatcmpl-x","model":"m","object":"chat.completion.chunk"}`,
			`data: {"choices":[{"delta":{"content":"a<b"},"finish_reason":null,"index":0,"logprobs":null}],"created":7,"id":"chatcmpl-x","model":"m","object":"chat.completion.chunk"}`,
			`data: {"choices":[{"delta":{},"finish_reason":"stop","index":0,"logprobs":null}],"created":7,"id":"chatcmpl-x","model":"m","object":"chat.completion.chunk"}`,
			`data: [DONE]`,
		},
		Messages: {
			"event: message_start\n" + `data: {"message":{"content":[],"id":"msg_x","model":"m","role":"assistant","stop_reason":null,"stop_sequence":null,"type":"message","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":0,"output_tokens":0}},"type":"message_start"}`,
			"event: content_block_start\n" + `data: {"content_block":{"text":"","type":"text"},"index":0,"type":"content_block_start"}`,
			"event: content_block_delta\n" + `data: {"delta":{"text":"a<b","type":"text_delta"},"index":0,"type":"content_block_delta"}`,
			"event: content_block_stop\n" + `data: {"index":0,"type":"content_block_stop"}`,
			"event: message_delta\n" + `data: {"delta":{"stop_reason":"end_turn","stop_sequence":null},"type":"message_delta","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":3,"output_tokens":1}}`,
			"event: message_stop\n" + `data: {"type":"message_stop"}`,
		},
	} {
		a := NewAnswer(opened(t, wire, `{"model":"m","messages":[],"stream":true}`), "x", 7) // no include_usage: no usage
		same(t, string(wire), strings.Split(strings.TrimSuffix(string(a.Done(r)), "\n\n"), "\n\n"), want)
	}
	a := NewAnswer(opened(t, Responses, `{"model":"m","input":"hi","stream":true}`), "x", 7)
	var names []string
	for event := range strings.SplitSeq(strings.TrimSuffix(string(a.Done(r)), "\n\n"), "\n\n") {
		name, data, _ := strings.Cut(event, "\ndata: ")
		if !json.Valid([]byte(data)) {
			t.Errorf("%s", event)
		}
		names = append(names, strings.TrimPrefix(name, "event: "))
	}
	same(t, "responses", names, []string{
		"response.created", "response.in_progress", "response.output_item.added", "response.content_part.added", "response.output_text.delta",
		"response.output_text.done", "response.content_part.done", "response.output_item.done", "response.completed",
	})
}
