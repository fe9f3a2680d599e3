package envelope

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
)

// Answer writes one answer in the words of its request's wire: either Whole or Fail once,
// or any number of Delta and Ping, then Done or FailEvent. What they give is to be sent as
// it is: text/event-stream but for Whole and Fail, which are application/json. It is used by one goroutine.
type Answer struct {
	e       *Envelope
	id      string
	created int64
	names   map[string]called
	foreign bool

	text   strings.Builder // sent so far
	out    bytes.Buffer
	begun  bool
	done   bool
	open   bool   // a block or an item of text has begun
	from   int    // of text, where the open one begins
	next   int    // the number of the next block, item or call
	events int    // Responses: the sequence_number
	items  []any  // Responses: the output so far
	status string // Responses: of the items that are finished now
}

// NewAnswer makes an answer to a request. id is unique; created is in seconds since 1970.
func NewAnswer(e *Envelope, id string, created int64) *Answer {
	return &Answer{e: e, id: id, created: created, names: e.names(), status: "completed"}
}

// Foreign says that a model behind another wire answers: what only that can read (signatures of thoughts) is marked,
// so that it is known when it comes back. Request takes the mark off again.
func (a *Answer) Foreign() { a.foreign = true }

// Delta gives a piece of streaming text.
func (a *Answer) Delta(text string) []byte {
	if text == "" || a.done {
		return nil
	}
	a.begin()
	a.write(text)
	return a.take()
}

// Ping gives a line that every client passes over and that keeps a connection from being
// thought dead (a comment of server-sent events; the vendors' clients read over it).
func (a *Answer) Ping() []byte { return []byte(": wait\n\n") }

// Done gives the rest of a stream: text that was not streamed, reasoning, calls, the reason
// to stop, the usage.
func (a *Answer) Done(resp provider.Response) []byte {
	if a.done {
		return nil
	}
	a.done = true
	a.begin()
	switch a.e.Wire {
	case Chat:
		a.chatDone(resp)
	case Responses:
		a.responsesDone(resp)
	default:
		a.messagesDone(resp)
	}
	return a.take()
}

// Whole gives the answer as one document.
func (a *Answer) Whole(resp provider.Response) []byte {
	a.done = true
	switch a.e.Wire {
	case Chat:
		return encoded(a.chatWhole(resp))
	case Responses:
		return encoded(a.responsesWhole(resp))
	default:
		return encoded(a.messagesWhole(resp))
	}
}

func (a *Answer) begin() {
	if a.begun {
		return
	}
	a.begun = true
	switch a.e.Wire {
	case Chat:
		a.chunk(obj{"role": "assistant", "content": ""}, nil)
	case Responses:
		a.say("response.created", obj{"response": a.response("in_progress")})
		a.say("response.in_progress", obj{"response": a.response("in_progress")})
	default:
		a.event("message_start", obj{"type": "message_start", "message": a.message([]any{}, nil, provider.Usage{})})
	}
}

// write sends a piece of text, which must not be empty.
func (a *Answer) write(text string) {
	switch a.e.Wire {
	case Chat:
		a.chunk(obj{"content": text}, nil)
	case Responses:
		a.responsesText(text)
	default:
		a.messagesText(text)
	}
	a.text.WriteString(text)
}

// left gives the parts of a response that are not sent yet. Text that was streamed comes
// first, as it did; what differs from it is not said a second time.
func (a *Answer) left(resp provider.Response) []provider.Part {
	sent := a.text.String()
	var parts []provider.Part
	var whole strings.Builder
	for _, p := range resp.Message.Parts {
		switch {
		case p.Kind == provider.PartText && (p.Text == "" || sent != ""):
			whole.WriteString(p.Text)
		case p.Kind == provider.PartText, p.Kind == provider.PartReasoning, p.Kind == provider.PartCall && p.Call != nil:
			parts = append(parts, p)
		default: // an answer holds nothing else
		}
	}
	if rest, ok := strings.CutPrefix(whole.String(), sent); ok && rest != "" {
		parts = append([]provider.Part{provider.Text(rest)}, parts...)
	}
	return parts
}

// event writes one server-sent event.
func (a *Answer) event(name string, v any) {
	if name != "" {
		fmt.Fprintf(&a.out, "event: %s\n", name)
	}
	fmt.Fprintf(&a.out, "data: %s\n\n", encoded(v))
}

// take gives what was written since the last time.
func (a *Answer) take() []byte {
	data := bytes.Clone(a.out.Bytes())
	a.out.Reset()
	return data
}

// args gives a call's arguments as text.
func args(c *provider.Call) string {
	if len(c.Args) == 0 {
		return "{}"
	}
	return string(c.Args)
}

// calls reports whether the answer calls tools.
func calls(resp provider.Response) bool {
	for _, p := range resp.Message.Parts {
		if p.Kind == provider.PartCall {
			return true
		}
	}
	return false
}

// count gives 0 for what is not known, for fields that a wire demands.
func count(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
