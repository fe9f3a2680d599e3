// Package httpwire sends one JSON request and reads its answer: a stream of
// server-sent events or a body, under time and size limits. It follows no
// redirect, so that a credential reaches only the host it is meant for, and it
// knows nothing of models.
package httpwire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Request is what to send. The header is sent as it is, with Content-Type added.
type Request struct {
	URL    string
	Header http.Header
	Body   []byte
	Limits Limits
}

// Answer is a response whose header has arrived. It must be closed.
type Answer struct {
	Status int
	Header http.Header

	body   io.ReadCloser
	buf    *bufio.Reader // over body, under the limits
	limits Limits
	watch  *watch
	left   int64 // bytes that may still be read
	sent   *atomic.Bool
}

// NewClient gives an http.Client for wires: no cookies, no redirects, no overall timeout.
func NewClient() *http.Client { return &http.Client{Transport: Transport()} }

// Post sends the request. An error is a *Error; any status is an Answer, a
// redirect (3xx) too: it is never followed. client may be nil.
func Post(ctx context.Context, client *http.Client, r Request) (*Answer, error) {
	return send(ctx, client, http.MethodPost, r)
}

// Get asks for a document as Post does, without a body.
func Get(ctx context.Context, client *http.Client, r Request) (*Answer, error) {
	r.Body = nil
	return send(ctx, client, http.MethodGet, r)
}

func send(ctx context.Context, client *http.Client, method string, r Request) (*Answer, error) {
	own := http.Client{}
	if client != nil {
		own = *client
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	own.Jar = nil

	limits := r.Limits.withDefaults()
	sent := new(atomic.Bool)
	inner, w := newWatch(ctx, limits)
	trace := &httptrace.ClientTrace{WroteRequest: func(info httptrace.WroteRequestInfo) {
		if info.Err == nil {
			sent.Store(true)
		}
	}}
	req, err := newRequest(httptrace.WithClientTrace(inner, trace), method, r, w)
	if err != nil {
		w.stop()
		return nil, &Error{Why: errors.New("the request cannot be built"), Err: bare(err)}
	}
	resp, err := own.Do(req) //nolint:bodyclose // the Answer closes it
	if err != nil {
		f := &Error{Sent: sent.Load(), Why: w.reason(), Err: bare(err)}
		w.stop()
		return nil, f
	}
	w.beat()
	if w.drained.Load() {
		sent.Store(true) // an answer after the last byte was handed over: the trace may only be late
	}
	a := &Answer{
		Status: resp.StatusCode, Header: resp.Header, body: resp.Body,
		limits: limits, watch: w, left: limits.Stream + 1, sent: sent,
	}
	a.buf = bufio.NewReader(limited{a})
	return a, nil
}

func newRequest(ctx context.Context, method string, r Request, w *watch) (*http.Request, error) {
	if method == http.MethodGet {
		req, err := http.NewRequestWithContext(ctx, method, r.URL, nil)
		if err != nil {
			return nil, err
		}
		if r.Header != nil {
			req.Header = maps.Clone(r.Header)
		}
		return req, nil
	}
	body := func() io.ReadCloser { return io.NopCloser(&beating{bytes.NewReader(r.Body), w}) }
	req, err := http.NewRequestWithContext(ctx, method, r.URL, body())
	if err != nil {
		return nil, err
	}
	req.ContentLength = int64(len(r.Body))
	// A connection that turns out dead before a byte was written is retried by
	// net/http itself; nothing was sent then.
	req.GetBody = func() (io.ReadCloser, error) { return body(), nil }
	req.Header = maps.Clone(r.Header)
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set("Content-Type", "application/json")
	return req, nil
}

// bare takes the URL out of an error: it may hold a credential.
func bare(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// Sent reports whether the request was written whole.
func (a *Answer) Sent() bool { return a.sent.Load() }

// OK reports a 2xx.
func (a *Answer) OK() bool { return a.Status/100 == 2 }

// MediaType is the answer's Content-Type without parameters, in lower case.
func (a *Answer) MediaType() string {
	t, _, err := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if err != nil {
		t, _, _ = strings.Cut(a.Header.Get("Content-Type"), ";")
	}
	return strings.ToLower(strings.TrimSpace(t))
}

// RetryAfter is what the answer asks to wait; 0: nothing.
func (a *Answer) RetryAfter(now time.Time) time.Duration { return RetryAfter(a.Header, now) }

// Progress says that what arrived was more than a keep-alive.
func (a *Answer) Progress() { a.watch.progress() }

// Close ends the exchange; what was not read is dropped.
func (a *Answer) Close() error {
	a.watch.stop()
	return a.body.Close()
}

// Read implements io.Reader under the limits. Errors but io.EOF are *Error.
func (a *Answer) Read(p []byte) (int, error) { return a.buf.Read(p) }

// Shape says what the body is, by its first byte: proxies get Content-Type wrong
// in both directions. It waits for that byte.
func (a *Answer) Shape() (Shape, error) {
	for n := 1; n <= maxBlank; n++ {
		head, err := a.buf.Peek(n)
		if len(head) < n {
			if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return ShapeEvents, nil
			}
			return ShapeEvents, err
		}
		switch head[n-1] {
		case ' ', '\t', '\r', '\n', bom[0], bom[1], bom[2]:
		case '{', '[':
			return ShapeJSON, nil
		case '<':
			return ShapePage, nil
		default:
			return ShapeEvents, nil
		}
	}
	return ShapeEvents, nil
}

// Shape is what a body holds.
type Shape int

// The shapes of a body.
const (
	ShapeEvents Shape = iota
	ShapeJSON
	ShapePage // HTML or XML
)

// limited reads the connection's bytes for an Answer.
type limited struct{ a *Answer }

func (l limited) Read(p []byte) (int, error) {
	a := l.a
	if a.left <= 0 {
		return 0, a.fault(ErrLarge, nil)
	}
	if int64(len(p)) > a.left {
		p = p[:a.left]
	}
	n, err := a.body.Read(p)
	a.left -= int64(n)
	if n > 0 {
		a.watch.beat()
	}
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return n, io.EOF
	default:
		return n, a.fault(a.watch.reason(), err)
	}
}

func (a *Answer) fault(why, err error) error {
	return &Error{Sent: a.sent.Load(), Why: why, Err: err}
}

// All reads the body to its end, at most Limits.Stream bytes.
func (a *Answer) All() ([]byte, error) {
	b, err := io.ReadAll(a)
	if err != nil {
		return b, fmt.Errorf("read the answer: %w", err)
	}
	return b, nil
}

// Complaint reads the body of a refusal, as much of it as is worth keeping. A
// body that breaks off is given as far as it came.
func (a *Answer) Complaint() []byte {
	b, err := io.ReadAll(io.LimitReader(a, maxComplaint))
	if err != nil && len(b) == 0 {
		return nil
	}
	return b
}
