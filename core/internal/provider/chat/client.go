// Package chat sends requests to a provider that speaks OpenAI's chat completions,
// in any of its dialects. It sends each request once: whether to ask again is for
// the gateway. It never lets the key into an error, nor to another host.
package chat

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
	codec "github.com/relo-dev/relo/core/internal/provider/codec/chat"
	"github.com/relo-dev/relo/core/internal/secret"
)

// Options make a Client.
type Options struct {
	Provider string            // the name in the config, for errors
	BaseURL  string            // such as https://host/v1; a query is kept
	Key      secret.Value      // sent as a bearer token; empty: none is sent
	Headers  map[string]string // sent as they are, over the client's own
	HTTP     *http.Client      // nil: one of its own, without an overall timeout
	Idle     time.Duration     // how long a stream may be silent; 0: 2 minutes
	Dialect  string            // a name of codec/chat's Names; empty: by the host, else by the model's id
}

// Client is one provider. It is safe for concurrent use.
type Client struct {
	opts   Options
	url    string
	http   *http.Client
	header http.Header
	scrub  *strings.Replacer
}

var _ provider.Client = (*Client)(nil)

// New makes a client. It opens no connection.
func New(o Options) *Client {
	c := &Client{opts: o, url: endpoint(o.BaseURL), http: o.HTTP, header: http.Header{}}
	if c.http == nil {
		c.http = httpwire.NewClient()
	}
	c.header.Set("Accept", "text/event-stream")
	key := strings.TrimSpace(o.Key.Reveal())
	if key != "" {
		c.header.Set("Authorization", "Bearer "+key)
	}
	secrets := []string{key}
	for name, value := range o.Headers {
		c.header.Set(name, value)
		if httpwire.Confidential(name) {
			secrets = append(secrets, value)
		}
	}
	c.scrub = httpwire.Scrubber(secrets...)
	return c
}

// endpoint is the URL of the completions below a base URL that may name it already.
func endpoint(base string) string {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil {
		return base // the request says what is wrong with it
	}
	if !strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions") {
		u = u.JoinPath("chat", "completions")
	}
	return u.String()
}

// Stream implements provider.Client. The receipts are in the response only when
// the provider has answered 2xx and the whole answer was read.
func (c *Client) Stream(ctx context.Context, r provider.Request, onDelta func(provider.Delta)) (provider.Response, error) {
	body, receipts, err := codec.Encode(r, codec.Pick(c.opts.Dialect, c.opts.BaseURL, r.Model))
	if err != nil {
		return provider.Response{}, c.mark(r, &provider.Error{Kind: provider.KindRefused, Words: err.Error(), Cause: err})
	}
	answer, err := httpwire.Post(ctx, c.http, httpwire.Request{
		URL: c.url, Header: c.header, Body: body, Limits: httpwire.Limits{Idle: c.opts.Idle},
	})
	if err != nil {
		return provider.Response{}, c.mark(r, fault(err, 0))
	}
	defer func() { _ = answer.Close() }()
	if !answer.OK() {
		return provider.Response{}, c.mark(r, c.refusal(answer))
	}
	dec := codec.NewDecoder(r)
	if err := read(answer, dec, onDelta); err != nil {
		return provider.Response{}, c.mark(r, received(err, answer))
	}
	resp, err := dec.Finish()
	if err != nil {
		return provider.Response{}, c.mark(r, received(err, answer))
	}
	resp.Receipts = receipts
	if id := answer.Header.Get("X-Request-Id"); id != "" {
		resp.RequestID = httpwire.Plain(id)
	}
	return resp, nil
}

// read feeds the decoder with a stream, or with one document where a proxy
// answers so.
func read(answer *httpwire.Answer, dec *codec.Decoder, onDelta func(provider.Delta)) error {
	say := func(d provider.Delta) {
		if onDelta != nil && d.Text != "" {
			onDelta(d)
		}
	}
	shape, err := answer.Shape()
	if err != nil {
		return err
	}
	if shape != httpwire.ShapeEvents {
		body, err := answer.All()
		if err != nil {
			return err
		}
		if shape == httpwire.ShapePage {
			return page(body)
		}
		d, err := dec.Whole(body)
		say(d)
		return err
	}
	events := answer.Events()
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		d, err := dec.Event(e.Name, e.Data)
		if err != nil && e.Partial && provider.Is(err, provider.KindMalformed) {
			return nil // half an event at the end: Finish says that it was cut
		}
		if err != nil {
			return err
		}
		answer.Progress()
		say(d)
	}
}
