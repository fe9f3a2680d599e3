package exchange

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

// mark says whose error it is and what it means, and takes the key out of
// everything foreign in it.
func (c *Client) mark(model string, e *provider.Error) *provider.Error {
	e.Provider, e.Model = c.opts.Provider, model
	e.Tell(provider.Place{KeyRef: c.opts.KeyRef, URL: c.wire.URL})
	e.Words = c.scrub.Replace(e.Words)
	e.Code = c.scrub.Replace(e.Code)
	e.Body = c.scrub.Replace(e.Body)
	if len(e.Body) > provider.MaxErrorBody {
		e.Body = e.Body[:provider.MaxErrorBody]
	}
	if e.Cause != nil {
		if text := e.Cause.Error(); c.scrub.Replace(text) != text {
			e.Cause = errors.New(c.scrub.Replace(text))
		}
	}
	return e
}

// fault reads a failure of the transport.
func fault(err error, status int) *provider.Error {
	e := &provider.Error{Kind: provider.KindCut, Status: status, Words: httpwire.Plain(err.Error()), Cause: err}
	if f, ok := errors.AsType[*httpwire.Error](err); ok {
		e.Sent = f.Sent
	}
	switch {
	case errors.Is(err, httpwire.ErrIdle), errors.Is(err, httpwire.ErrQuiet):
		e.Kind = provider.KindStalled
	case errors.Is(err, httpwire.ErrLarge):
		e.Kind = provider.KindLarge
	}
	return e
}

// received readies an error that came after a 2xx.
func received(err error, answer *httpwire.Answer) *provider.Error {
	e, ok := errors.AsType[*provider.Error](err)
	if !ok {
		e = fault(err, answer.Status)
	}
	e.Sent = true // it was answered
	return e
}

// refusal reads an answer that is no 2xx.
func (c *Client) refusal(answer *httpwire.Answer) *provider.Error {
	// Scrubbed before it is cut or shortened: half a key would not be found.
	body := c.scrub.Replace(string(answer.Complaint()))
	said := httpwire.ReadComplaint([]byte(body))
	if code, _, _ := strings.Cut(answer.Header.Get(c.wire.CodeHeader), ":"); c.wire.CodeHeader != "" && code != "" {
		said.Code = httpwire.Plain(code) // what is behind the colon is the address of a name space
	}
	e := &provider.Error{
		Kind:   provider.KindOf(answer.Status, said.Code, said.Words),
		Status: answer.Status, Code: said.Code, Words: said.Words, Body: body,
		RetryAfter: answer.RetryAfter(time.Now()), Sent: answer.Sent(),
	}
	if answer.Status/100 == 3 {
		e.Words = "a redirect, which is not followed with a key"
		if to, err := url.Parse(answer.Header.Get("Location")); err == nil && to.Host != "" {
			e.Words += "; set the base URL to the one at " + httpwire.Plain(to.Host)
		}
	}
	return e
}

// page is a web page where an answer was due: a wrong base URL, a login, a proxy.
func page(body []byte) *provider.Error {
	return &provider.Error{
		Kind: provider.KindMalformed, Status: http.StatusOK,
		Words: httpwire.ReadComplaint(body).Words, Body: string(body[:min(len(body), provider.MaxErrorBody)]),
	}
}
