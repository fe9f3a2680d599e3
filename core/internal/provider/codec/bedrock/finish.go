package bedrock

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

// Finish gives the whole answer. When the stream broke off it is KindCut, and
// when a call cannot be read KindMalformed: a half call is never given.
func (d *Decoder) Finish() (provider.Response, error) {
	if d.stop == "" {
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
	return provider.Response{Message: m, Stop: stop, Usage: d.usage.usage()}, nil
}

// part gives what a block says; ok is false when it says nothing that is kept.
func (b *building) part(stop provider.Stop) (part provider.Part, ok bool, err error) {
	switch b.kind {
	case kindText:
		return provider.Text(b.text.String()), b.text.Len() > 0, nil
	case kindReasoning:
		part = provider.Part{Kind: provider.PartReasoning, Text: b.text.String(), Signature: b.signature.String()}
		if part.Signature == "" && len(b.redacted) > 0 {
			part.Signature = redactedMark + base64.StdEncoding.EncodeToString(b.redacted)
		}
		return part, part.Text != "" || part.Signature != "", nil
	case kindCall:
		args := b.args.String()
		cutShort := stop == provider.StopLength && (!b.ended || args == "")
		if args == "" {
			args = "{}"
		}
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

// stopOf reads stopReason (Bedrock's API reference, MessageStopEvent).
func stopOf(word string) provider.Stop {
	switch word {
	case "end_turn", "stop_sequence":
		return provider.StopEnd
	case "tool_use":
		return provider.StopCalls
	case "max_tokens", "model_context_window_exceeded":
		return provider.StopLength
	case "guardrail_intervened", "content_filtered", "refusal":
		return provider.StopRefusal
	default: // malformed_model_output, malformed_tool_use, and what is to come
		return provider.StopOther
	}
}

// counts are the tokens as the wire counts them: inputTokens leaves out what was read
// from the cache and what was written to it (Bedrock's user guide, "Prompt caching";
// opencode#38427).
type counts struct {
	Input   *int64 `json:"inputTokens"`
	Written *int64 `json:"cacheWriteInputTokens"`
	Read    *int64 `json:"cacheReadInputTokens"`
	Output  *int64 `json:"outputTokens"`
}

// read takes what the metadata says. An answer is not lost over a usage that cannot
// be read.
func (c *counts) read(raw json.RawMessage) {
	var now counts
	if len(raw) == 0 || json.Unmarshal(raw, &now) != nil {
		return
	}
	for _, f := range []struct{ to, from **int64 }{
		{&c.Input, &now.Input}, {&c.Written, &now.Written}, {&c.Read, &now.Read}, {&c.Output, &now.Output},
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
	for _, more := range []*int64{c.Written, c.Read} {
		if more != nil {
			in += *more
		}
	}
	if in <= 0 {
		return provider.Usage{} // a request of 0 tokens is a server that does not count
	}
	return provider.Usage{TokensIn: &in, TokensOut: c.Output, TokensCached: c.Read}
}
