// Package anthropic sends requests to Anthropic, or to a provider that speaks its
// Messages API. It sends each request once: whether to ask again is for the
// gateway. It never lets the key into an error, nor to another host.
package anthropic

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
	codec "github.com/relo-dev/relo/core/internal/provider/codec/anthropic"
	"github.com/relo-dev/relo/core/internal/secret"
)

// Options make a Client.
type Options struct {
	Provider string            // the name in the config, for errors
	BaseURL  string            // with or without /v1; empty: https://api.anthropic.com; a query is kept
	Key      secret.Value      // sent as x-api-key; empty: none is sent
	Headers  map[string]string // sent as they are, over the client's own
	HTTP     *http.Client      // nil: one of its own, without an overall timeout
	Idle     time.Duration     // how long a stream may be silent; 0: 2 minutes
}

// The API's address, and the version whose shapes codec/anthropic knows
// (Anthropic's documentation, "Versions").
const (
	defaultBase = "https://api.anthropic.com"
	apiVersion  = "2023-06-01"
)

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
	c.header.Set("Anthropic-Version", apiVersion)
	key := strings.TrimSpace(o.Key.Reveal())
	if key != "" {
		c.header.Set("X-Api-Key", key)
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

// endpoint is the URL of the messages below a base URL that may name it already.
func endpoint(base string) string {
	base = strings.TrimSpace(base)
	if base == "" {
		base = defaultBase
	}
	u, err := url.Parse(base)
	if err != nil {
		return base // the request says what is wrong with it
	}
	switch path := strings.TrimRight(u.Path, "/"); {
	case strings.HasSuffix(path, "/v1/messages"):
	case strings.HasSuffix(path, "/v1"):
		u = u.JoinPath("messages")
	default:
		u = u.JoinPath("v1", "messages")
	}
	return u.String()
}

// Stream implements provider.Client. The receipts are in the response only when
// the provider has answered 2xx and the whole answer was read.
func (c *Client) Stream(ctx context.Context, r provider.Request, onDelta func(provider.Delta)) (provider.Response, error) {
	body, receipts, err := codec.Encode(r)
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
	if id := answer.Header.Get("Request-Id"); id != "" {
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
		if e.Name != "ping" { // a ping keeps the connection open and says nothing
			answer.Progress()
		}
		say(d)
	}
}
