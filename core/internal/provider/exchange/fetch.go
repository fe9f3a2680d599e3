package exchange

import (
	"context"
	"net/http"
	"time"

	"github.com/relo-dev/relo/core/internal/httpwire"
)

// Fetch is a question to a provider that is no model call, such as which models it has.
type Fetch struct {
	URL    string
	Header map[string]string // beside the client's
	Body   []byte            // nil: a GET
	Idle   time.Duration     // how long it may be silent; 0: as the kit has it
	Most   int64             // bytes of the answer
}

// Fetched is the answer: a 2xx whole, or a 304 without a body.
type Fetched struct {
	Status int
	Header http.Header
	Body   []byte
}

// Fetch asks once, with the key and headers of the provider. The error is a
// *provider.Error; a page of HTML is one too.
func (c *Client) Fetch(ctx context.Context, f Fetch) (Fetched, error) {
	header := c.header.Clone()
	header.Set("Accept", "application/json")
	for name, value := range f.Header {
		header.Set(name, value)
	}
	send := httpwire.Get
	if f.Body != nil {
		send = httpwire.Post
		header.Set("Content-Type", "application/json")
	}
	answer, err := send(ctx, c.http, httpwire.Request{
		URL: f.URL, Header: header, Body: f.Body, Limits: httpwire.Limits{Idle: f.Idle, Stream: f.Most},
	})
	if err != nil {
		return Fetched{}, c.mark("", fault(err, 0))
	}
	defer func() { _ = answer.Close() }()
	got := Fetched{Status: answer.Status, Header: answer.Header}
	if answer.Status == http.StatusNotModified {
		return got, nil
	}
	if !answer.OK() {
		return got, c.mark("", c.refusal(answer))
	}
	shape, err := answer.Shape()
	if err != nil {
		return got, c.mark("", received(err, answer))
	}
	if got.Body, err = answer.All(); err != nil {
		return got, c.mark("", received(err, answer))
	}
	if shape == httpwire.ShapePage {
		return got, c.mark("", page(got.Body))
	}
	return got, nil
}
