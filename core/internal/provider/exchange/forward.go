package exchange

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

// heldEvents are kept back until a word has come, so that a stream which begins with an
// error can still be asked for once more in another form; more are not, since a stream of
// a call without words is progress too.
const heldEvents = 3

var _ provider.Forwarder = (*Client)(nil)

// Speaks implements provider.Forwarder.
func (c *Client) Speaks(wire string) bool { return wire != "" && c.wire.Name == wire }

// Forward implements provider.Forwarder. An answer that Relo cannot read is handed on all
// the same: its program may. Then the usage is not known, and there is no message.
func (c *Client) Forward(ctx context.Context, f provider.Forward) (provider.Response, error) {
	header := c.header
	if len(f.Header) > 0 {
		header = http.Header{}
		for name, value := range f.Header {
			header.Set(name, value)
		}
		maps.Copy(header, c.header) // the client's own count
	}
	answer, err := httpwire.Post(ctx, c.http, httpwire.Request{
		URL: c.wire.URL, Header: header, Body: f.Body, Limits: httpwire.Limits{Idle: c.opts.Idle},
	})
	if err != nil {
		return provider.Response{}, c.mark(f.Request.Model, fault(err, 0))
	}
	defer func() { _ = answer.Close() }()
	if !answer.OK() {
		return provider.Response{}, c.mark(f.Request.Model, c.refusal(answer))
	}
	p := &passing{client: c, answer: answer, dec: c.wire.Decoder(f.Request), pass: f.Pass}
	if err := p.run(); err != nil && !p.whole() {
		if errors.Is(err, errGone) {
			return provider.Response{}, c.mark(f.Request.Model, &provider.Error{Kind: provider.KindCut, Sent: true, Words: err.Error(), Cause: err})
		}
		return provider.Response{}, c.mark(f.Request.Model, received(err, answer))
	}
	resp, err := p.dec.Finish()
	if err != nil && !p.unread {
		return provider.Response{}, c.mark(f.Request.Model, received(err, answer))
	}
	if err != nil {
		resp = provider.Response{Stop: provider.StopOther}
	}
	resp.Receipts = f.Receipts
	if id := answer.Header.Get(c.wire.IDHeader); id != "" {
		resp.RequestID = httpwire.Plain(id)
	}
	return resp, nil
}

// whole reports whether the answer had come to its end before something broke: many programs hang
// up at the last event, while the provider's stream is still open.
func (p *passing) whole() bool {
	if p.unread {
		return false
	}
	_, err := p.dec.Finish()
	return err == nil
}

// errGone says that nobody takes the answer any more.
var errGone = errors.New("the program that asked has left")

// passing is an answer on its way through.
type passing struct {
	client *Client
	answer *httpwire.Answer
	dec    Decoder
	pass   func(contentType string, data []byte) error
	held   bytes.Buffer
	events int
	begun  bool // bytes were handed on
	unread bool // it is no answer that Relo can read
}

func (p *passing) run() error {
	shape, err := p.answer.Shape()
	if err != nil {
		return err
	}
	if shape != httpwire.ShapeEvents {
		body, err := p.answer.All()
		if err != nil {
			return err
		}
		if shape == httpwire.ShapePage {
			return page(body)
		}
		if _, err := p.dec.Whole(body); err != nil && !p.unreadable(err) {
			return err
		}
		p.held.Write(body)
		return p.flush()
	}
	events := p.answer.EventsInto(&p.held)
	for {
		e, err := events.Next()
		if errors.Is(err, io.EOF) {
			return p.flush()
		}
		if err != nil {
			return errors.Join(err, p.flush())
		}
		if err := p.event(e); err != nil {
			return err
		}
	}
}

// event reads one event and hands on what may be handed on.
func (p *passing) event(e httpwire.Event) error {
	var said provider.Delta
	if !p.unread {
		var err error
		if said, err = p.dec.Event(e.Name, e.Data); err != nil && !p.unreadable(err) {
			if p.begun {
				return errors.Join(err, p.flush()) // the program is told as its provider said it
			}
			return err
		}
	}
	p.events++
	if p.client.wire.Idles == nil || !p.client.wire.Idles(e.Name) {
		p.answer.Progress()
	}
	if said.Text == "" && !p.begun && p.events < heldEvents {
		return nil
	}
	return p.flush()
}

// unreadable notes an answer that Relo cannot read, which is no fault of the provider's.
func (p *passing) unreadable(err error) bool {
	p.unread = p.unread || provider.Is(err, provider.KindMalformed)
	return p.unread
}

func (p *passing) flush() error {
	if p.held.Len() == 0 {
		return nil
	}
	data := bytes.Clone(p.held.Bytes())
	p.held.Reset()
	p.begun = true
	if err := p.pass(p.answer.Header.Get("Content-Type"), data); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}
