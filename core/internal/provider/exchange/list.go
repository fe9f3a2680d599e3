package exchange

import (
	"context"
	"errors"
	"net/http"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

// maxList bounds a list of models: OpenRouter's, the longest known, has some 600 kB.
const maxList = 8 << 20

// Models asks the provider for its list of models. The error is a *provider.Error;
// a provider without such a list answers 404, which is a FaultPath.
func (c *Client) Models(ctx context.Context) ([]provider.Listed, error) {
	header := c.header.Clone()
	header.Set("Accept", "application/json")
	answer, err := httpwire.Get(ctx, c.http, httpwire.Request{
		URL: c.wire.ListURL, Header: header, Limits: httpwire.Limits{Idle: c.opts.Idle, Stream: maxList},
	})
	if err != nil {
		return nil, c.mark("", fault(err, 0))
	}
	defer func() { _ = answer.Close() }()
	if !answer.OK() {
		return nil, c.mark("", c.refusal(answer))
	}
	shape, err := answer.Shape()
	if err != nil {
		return nil, c.mark("", received(err, answer))
	}
	body, err := answer.All()
	switch {
	case err != nil:
		return nil, c.mark("", received(err, answer))
	case shape == httpwire.ShapePage:
		return nil, c.mark("", page(body))
	}
	list, err := provider.ReadModels(body)
	if err != nil {
		return nil, c.mark("", &provider.Error{Kind: provider.KindMalformed, Status: http.StatusOK, Words: httpwire.Plain(err.Error()), Cause: errors.Unwrap(err)})
	}
	return list, nil
}
