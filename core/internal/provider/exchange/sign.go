package exchange

import (
	"context"
	"errors"
	"strings"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

// sign gives the client as it is for one request: with the signature among its
// headers, and with what made it among the secrets. Nothing of it outlives the call.
func (c *Client) sign(ctx context.Context, url string, body []byte) (*Client, error) {
	call := *c
	call.header = c.header.Clone()
	// As it will be sent, since it is signed too.
	call.header.Set("Content-Type", "application/json")
	secrets, err := c.wire.Sign(ctx, url, call.header, body)
	if err != nil {
		return nil, err
	}
	call.scrub = both{c.scrub, httpwire.Scrubber(secrets...)}
	return &call, nil
}

// unsigned is a request for which no credentials could be had.
func unsigned(err error) *provider.Error {
	if e, ok := errors.AsType[*provider.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) {
		return &provider.Error{Kind: provider.KindCut, Words: httpwire.Plain(err.Error()), Cause: err}
	}
	return &provider.Error{Kind: provider.KindKey, Words: httpwire.Plain(err.Error()), Cause: err}
}

// scrubber takes secrets out of foreign text.
type scrubber interface{ Replace(s string) string }

// both takes out what either does.
type both struct {
	first  scrubber
	second *strings.Replacer
}

func (b both) Replace(s string) string { return b.second.Replace(b.first.Replace(s)) }
