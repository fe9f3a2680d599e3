package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

// Finish gives the whole answer. When the stream broke off it is KindCut, and
// when a call cannot be read KindMalformed: a half call is never given.
func (d *Decoder) Finish() (provider.Response, error) {
	if d.stop == "" || (!d.done && !d.closed()) {
		return provider.Response{}, &provider.Error{
			Kind: provider.KindCut, Status: http.StatusOK, Words: "the stream ended before the answer was whole",
		}
	}
	stop := stopOf(d.stop)
	m := provider.Message{Role: provider.RoleAssistant}
	var calls []*provider.Call
	for _, b := range d.blocks {
		part, ok, err := b.part(stop)
		if err != nil {
			return provider.Response{}, malformed(nil, err)
		}
		if ok {
			m.Parts = append(m.Parts, part)
		}
		if part.Call != nil {
			calls = append(calls, part.Call)
		}
	}
	if err := provider.NameCalls(calls, d.before); err != nil {
		return provider.Response{}, malformed(nil, err)
	}
	if len(calls) > 0 && (stop == provider.StopEnd || stop == provider.StopOther) {
		stop = provider.StopCalls
	}
	return provider.Response{Message: m, Stop: stop, Usage: d.usage.usage(), RequestID: d.id}, nil
}

// closed reports whether every block has ended: then a stream without its
// message_stop has lost nothing.
func (d *Decoder) closed() bool {
	for _, b := range d.blocks {
		if !b.whole {
			return false
		}
	}
	return true
}

// part gives what a block says; ok is false when it says nothing that is kept.
func (b *building) part(stop provider.Stop) (part provider.Part, ok bool, err error) {
	switch b.kind {
	case "text":
		return provider.Text(b.text.String()), b.text.Len() > 0, nil
	case "thinking", "redacted_thinking":
		part = provider.Part{Kind: provider.PartReasoning, Text: b.text.String(), Signature: b.signature.String()}
		return part, part.Text != "" || part.Signature != "", nil
	case "tool_use":
		args := b.args.String()
		if args == "" {
			args = string(b.call.Args)
		}
		if args == "" {
			args = "{}"
		}
		cutShort := stop == provider.StopLength && (!b.whole || b.args.Len() == 0)
		if err := httpwire.Object([]byte(args)); err != nil || cutShort {
			if stop == provider.StopLength {
				return provider.Part{}, false, nil // the limit of tokens cut it short
			}
			return provider.Part{}, false, fmt.Errorf("the input of %.80q: %w", b.call.Name, err)
		}
		b.call.Args = json.RawMessage(args)
		return provider.Part{Kind: provider.PartCall, Call: &b.call}, true, nil
	default:
		return provider.Part{}, false, nil
	}
}

// stopOf reads stop_reason (Anthropic's documentation, "Handling stop reasons").
func stopOf(word string) provider.Stop {
	switch word {
	case "end_turn", "stop_sequence":
		return provider.StopEnd
	case "tool_use":
		return provider.StopCalls
	case "max_tokens", "model_context_window_exceeded":
		return provider.StopLength
	case "refusal":
		return provider.StopRefusal
	default:
		return provider.StopOther
	}
}

// counts are the tokens as the wire counts them: its input_tokens leave out what
// was read from the cache and what was written to it.
type counts struct {
	Input    *int64 `json:"input_tokens"`
	Created  *int64 `json:"cache_creation_input_tokens"`
	CacheHit *int64 `json:"cache_read_input_tokens"`
	Output   *int64 `json:"output_tokens"`
}

// read takes what an event says; later events are cumulative. An answer is not
// lost over a usage that cannot be read.
func (c *counts) read(raw json.RawMessage) {
	var now counts
	if len(raw) == 0 || json.Unmarshal(raw, &now) != nil {
		return
	}
	for _, f := range []struct{ to, from **int64 }{
		{&c.Input, &now.Input}, {&c.Created, &now.Created}, {&c.CacheHit, &now.CacheHit}, {&c.Output, &now.Output},
	} {
		if *f.from != nil && **f.from >= 0 {
			*f.to = *f.from
		}
	}
}

func (c *counts) usage() provider.Usage {
	if c.Input == nil {
		return provider.Usage{}
	}
	in := *c.Input
	for _, more := range []*int64{c.Created, c.CacheHit} {
		if more != nil {
			in += *more
		}
	}
	if in <= 0 {
		return provider.Usage{} // a request of 0 tokens is a server that does not count
	}
	return provider.Usage{TokensIn: &in, TokensOut: c.Output, TokensCached: c.CacheHit}
}
