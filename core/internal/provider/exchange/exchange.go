// Package exchange carries one request of any wire over HTTP and reads its
// streamed answer: what the wires have in common. What is theirs alone (address,
// headers, JSON) comes in as a Wire. It sends each request once: whether to ask
// again is for the gateway. It never lets the key into an error, nor to another host.
package exchange

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/secret"
)

// Options say which provider it is and how it is reached.
type Options struct {
	Provider string            // the name in the config, for errors
	BaseURL  string            // what it may leave out is the wire's to say; a query is kept
	Key      secret.Value      // empty: none is sent
	KeyRef   string            // where the key is kept, as env:NAME, for errors; never the key
	Headers  map[string]string // sent as they are, over the client's own
	HTTP     *http.Client      // nil: one of its own, without an overall timeout
	Idle     time.Duration     // how long a stream may be silent; 0: 2 minutes
}

// Decoder reads an answer; a codec's.
type Decoder interface {
	Event(name string, data []byte) (provider.Delta, error)
	Whole(body []byte) (provider.Delta, error)
	Finish() (provider.Response, error)
}

// Wire is what differs between the wires.
type Wire struct {
	Name       string                    // of the bodies that Forward takes; empty: none
	URL        string                    // of the endpoint, whole; of its base when URLOf is set
	URLOf      func(model string) string // of the endpoint, where it names the model; nil: URL
	KeyHeader  string                    // the header that carries the key
	KeyPrefix  string                    // before the key, such as "Bearer "
	Header     map[string]string         // fixed ones, such as the API's version
	IDHeader   string                    // the answer's header with the provider's id of the request
	CodeHeader string                    // a refusal's header with the provider's code; empty: it is in the body
	Idles      func(event string) bool   // events that keep the connection open and say nothing; nil: none
	Encode     func(provider.Request) ([]byte, []provider.Receipt, error)
	Decoder    func(provider.Request) Decoder
	// Lines says that the stream is one JSON document a line instead of server-sent events.
	Lines bool
	// HeaderOf gives headers that one request needs beside the fixed ones; nil: none does.
	// They are no secrets, and never take the place of a header of the person's.
	HeaderOf func(provider.Request) map[string]string
	// Placements are the places that a model may take for a tool's pictures, the usual
	// one first; nil: the wire has one.
	Placements func(model string) []provider.Placement
	// Frames reads a stream that is no server-sent events: a function that gives the next
	// event's name and data, and io.EOF after the last. nil: server-sent events.
	Frames func(r io.Reader) func() (name string, data []byte, err error)
	// Sign adds headers that depend on the whole request, such as a signature, to header,
	// and gives what must not be told. It runs before anything is sent. nil: none.
	Sign func(ctx context.Context, url string, header http.Header, body []byte) (secrets []string, err error)
}

// Client is one provider. It is safe for concurrent use.
type Client struct {
	opts   Options
	wire   Wire
	http   *http.Client
	header http.Header
	scrub  scrubber
}

var _ provider.Client = (*Client)(nil)

// New makes a client. It opens no connection.
func New(o Options, w Wire) *Client {
	c := &Client{opts: o, wire: w, http: o.HTTP, header: http.Header{}}
	if c.http == nil {
		c.http = httpwire.NewClient()
	}
	c.header.Set("Accept", "text/event-stream")
	for name, value := range w.Header {
		c.header.Set(name, value)
	}
	key := strings.TrimSpace(o.Key.Reveal())
	if key != "" {
		if c.opts.KeyRef == "" {
			c.opts.KeyRef = "given"
		}
		c.header.Set(w.KeyHeader, w.KeyPrefix+key)
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

// Stream implements provider.Client. The receipts are in the response only when
// the provider has answered 2xx and the whole answer was read.
func (c *Client) Stream(ctx context.Context, r provider.Request, onDelta func(provider.Delta)) (provider.Response, error) {
	body, receipts, err := c.wire.Encode(r)
	if err != nil {
		return provider.Response{}, c.mark(r.Model, &provider.Error{Kind: provider.KindRefused, Words: err.Error(), Cause: err})
	}
	url := c.wire.URL
	if c.wire.URLOf != nil {
		url = c.wire.URLOf(r.Model)
	}
	if c.wire.Sign != nil {
		signed, err := c.sign(ctx, url, body)
		if err != nil {
			return provider.Response{}, c.mark(r.Model, unsigned(err))
		}
		c = signed
	}
	answer, err := httpwire.Post(ctx, c.http, httpwire.Request{
		URL: url, Header: c.headerOf(r), Body: body, Limits: httpwire.Limits{Idle: c.opts.Idle},
	})
	if err != nil {
		return provider.Response{}, c.mark(r.Model, fault(err, 0))
	}
	defer func() { _ = answer.Close() }()
	if !answer.OK() {
		return provider.Response{}, c.mark(r.Model, c.refusal(answer))
	}
	dec := c.wire.Decoder(r)
	if err := c.read(answer, dec, onDelta); err != nil {
		return provider.Response{}, c.mark(r.Model, received(err, answer))
	}
	resp, err := dec.Finish()
	if err != nil {
		return provider.Response{}, c.mark(r.Model, received(err, answer))
	}
	resp.Receipts = receipts
	if id := answer.Header.Get(c.wire.IDHeader); id != "" {
		resp.RequestID = httpwire.Plain(id)
	}
	return resp, nil
}

// read feeds the decoder with a stream, or with one document where a proxy
// answers so.
func (c *Client) read(answer *httpwire.Answer, dec Decoder, onDelta func(provider.Delta)) error {
	say := func(d provider.Delta) {
		if onDelta != nil && d.Text != "" {
			onDelta(d)
		}
	}
	shape, err := answer.Shape()
	if err != nil {
		return err
	}
	if c.wire.Lines && shape != httpwire.ShapePage {
		return c.readLines(answer, dec, say)
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
	next := answer.Events().Next
	if c.wire.Frames != nil {
		frames := c.wire.Frames(answer)
		next = func() (httpwire.Event, error) {
			name, data, err := frames()
			return httpwire.Event{Name: name, Data: data}, err
		}
	}
	for {
		e, err := next()
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
		if c.wire.Idles == nil || !c.wire.Idles(e.Name) {
			answer.Progress()
		}
		say(d)
	}
}
