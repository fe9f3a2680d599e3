package chat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

// Finish gives the whole answer. When the stream broke off it is KindCut, and
// when a call cannot be read KindMalformed: a half call is never given.
func (d *Decoder) Finish() (provider.Response, error) {
	if d.finish == "" && (!d.done || len(d.calls) > 0) {
		return provider.Response{}, &provider.Error{
			Kind: provider.KindCut, Status: http.StatusOK, Words: "the stream ended before the answer was whole",
		}
	}
	stop := d.stop()
	calls, err := d.wholeCalls(stop)
	if err != nil {
		return provider.Response{}, malformed(nil, err)
	}
	if len(calls) > 0 && (stop == provider.StopEnd || stop == provider.StopOther) {
		stop = provider.StopCalls // many servers say stop beside calls
	}
	m := provider.Message{Role: provider.RoleAssistant}
	proof := seal(detailsMark, d.model, d.details.json())
	if d.reasoning.Len() > 0 || proof != "" {
		m.Parts = append(m.Parts, provider.Part{Kind: provider.PartReasoning, Text: d.reasoning.String(), Signature: proof})
	}
	if d.text.Len() > 0 {
		m.Parts = append(m.Parts, provider.Text(d.text.String()))
	}
	for _, b := range calls {
		m.Parts = append(m.Parts, provider.Part{Kind: provider.PartCall, Call: &b.call, Signature: seal(extraMark, d.model, b.extra)})
	}
	return provider.Response{Message: m, Stop: stop, Usage: d.usage, RequestID: d.id}, nil
}

func (d *Decoder) stop() provider.Stop {
	switch {
	case d.refused, d.finish == "content_filter":
		return provider.StopRefusal
	case d.finish == "stop":
		return provider.StopEnd
	case d.finish == "tool_calls", d.finish == "function_call":
		return provider.StopCalls
	case d.finish == "length":
		return provider.StopLength
	default:
		return provider.StopOther
	}
}

// wholeCalls leaves out calls that the limit of tokens cut short; elsewhere a
// call that is no object is an error.
func (d *Decoder) wholeCalls(stop provider.Stop) ([]*building, error) {
	var whole []*building
	var calls []*provider.Call
	for _, b := range d.calls {
		args := b.args.String()
		if args == "" && stop != provider.StopLength {
			args = "{}"
		}
		if err := httpwire.Object([]byte(args)); err != nil {
			if stop == provider.StopLength {
				continue
			}
			return nil, fmt.Errorf("the arguments of %.80q: %w", b.call.Name, err)
		}
		b.call.Args = json.RawMessage(args)
		whole, calls = append(whole, b), append(calls, &b.call)
	}
	return whole, provider.NameCalls(calls, d.before)
}

// readUsage takes the last usage that says something. An answer is not lost over
// a usage that cannot be read.
func (d *Decoder) readUsage(raw json.RawMessage) {
	var u struct {
		Prompt     *int64 `json:"prompt_tokens"`
		Completion *int64 `json:"completion_tokens"`
		Hit        *int64 `json:"prompt_cache_hit_tokens"` // DeepSeek
		Cached     *int64 `json:"cached_tokens"`           // Moonshot: pi#8119
		Details    *struct {
			Cached *int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &u) != nil || u.Prompt == nil || *u.Prompt <= 0 {
		return // a request of 0 tokens is a server that does not count
	}
	d.usage = provider.Usage{TokensIn: u.Prompt, TokensOut: known(u.Completion), TokensCached: known(cmp.Or(u.Hit, u.Cached))}
	if u.Details != nil && u.Details.Cached != nil {
		d.usage.TokensCached = known(u.Details.Cached)
	}
}

func known(n *int64) *int64 {
	if n == nil || *n < 0 {
		return nil
	}
	return n
}
