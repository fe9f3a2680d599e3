package httpwire

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func post(t *testing.T, h http.HandlerFunc, r Request) (*Answer, error) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	r.URL = server.URL
	a, err := Post(t.Context(), nil, r)
	if err == nil {
		t.Cleanup(func() { _ = a.Close() })
	}
	return a, err
}

func TestPost(t *testing.T) {
	a, err := post(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "Application/JSON; charset=utf-8")
		_, _ = fmt.Fprintf(w, ` {"got":%q,"type":%q,"own":%q}`, b, r.Header.Get("Content-Type"), r.Header.Get("X-Own"))
	}, Request{Header: http.Header{"X-Own": {"yes"}}, Body: []byte("hello")})
	if err != nil {
		t.Fatal(err)
	}
	shape, err := a.Shape()
	if err != nil || shape != ShapeJSON || a.MediaType() != "application/json" || !a.OK() || !a.Sent() {
		t.Errorf("%v %v %q %v %v", shape, err, a.MediaType(), a.OK(), a.Sent())
	}
	b, err := a.All()
	if err != nil || string(b) != ` {"got":"hello","type":"application/json","own":"yes"}` {
		t.Errorf("%q %v", b, err)
	}
}

func TestShape(t *testing.T) {
	for body, want := range map[string]Shape{
		"": ShapeEvents, "data: {}\n\n": ShapeEvents, ": c\n": ShapeEvents, "\n\n  [": ShapeJSON, "\xef\xbb\xbf{": ShapeJSON,
		"\r\n<!doctype": ShapePage, strings.Repeat(" ", 200) + "{": ShapeEvents,
	} {
		a, err := post(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }, Request{})
		if err != nil {
			t.Fatal(err)
		}
		shape, err := a.Shape()
		rest, readErr := a.All()
		if shape != want || err != nil || readErr != nil || string(rest) != body {
			t.Errorf("%q: %v %v %v, the rest %q", body, shape, err, readErr, rest)
		}
	}
}

func TestPostFollowsNoRedirect(t *testing.T) {
	reached := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer other.Close()
	a, err := post(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}, Request{Header: http.Header{"Authorization": {"Bearer x"}}})
	if err != nil || a.Status != http.StatusTemporaryRedirect || reached {
		t.Errorf("%v, reached %v", err, reached)
	}
}

func TestAnswerLimits(t *testing.T) {
	bomb := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write(bytes.Repeat([]byte(" "), 10<<20))
		_ = z.Close()
	}
	a, err := post(t, bomb, Request{Limits: Limits{Stream: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := a.All(); !errors.Is(err, ErrLarge) || len(b) > 1<<20+1 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	exact := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "12345") }
	a, err = post(t, exact, Request{Limits: Limits{Stream: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := a.All(); err != nil || string(b) != "12345" {
		t.Errorf("a body as long as the limit: %q, %v", b, err)
	}
}

func TestCutBody(t *testing.T) {
	a, err := post(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half")
	}, Request{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.All()
	if f, ok := errors.AsType[*Error](err); !ok || !errors.Is(err, ErrCut) || !f.Sent || string(b) != "half" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestFaultHoldsNoURL(t *testing.T) {
	for _, url := range []string{"http://user:hidden@127.0.0.1:1/?k=hidden", "http://[::hidden", "hidden://x"} {
		_, err := Post(t.Context(), nil, Request{URL: url})
		f, ok := errors.AsType[*Error](err)
		if !ok || f.Sent || strings.Contains(err.Error(), "user:") || strings.Contains(err.Error(), "k=") {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// piped answers with a body that the test writes, without a network, so that time can be played.
type piped struct{ body io.ReadCloser }

func (p piped) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.ReadAll(r.Body); err != nil {
		return nil, err
	}
	if p.body == nil {
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	}
	context.AfterFunc(r.Context(), func() { _ = p.body.Close() })
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: p.body, Request: r}, nil
}

func TestIdle(t *testing.T) {
	const idle = 10 * time.Second
	for _, row := range []struct {
		why      string
		every    time.Duration // between the bytes that come
		progress bool
		want     error
		after    time.Duration
	}{
		{"bytes and progress keep it open for ever", 9 * time.Second, true, io.EOF, 100 * 9 * time.Second},
		{"silence ends it", 11 * time.Second, true, ErrIdle, idle},
		{"keep-alives alone end it later", 9 * time.Second, false, ErrQuiet, quietFactor * idle},
	} {
		t.Run(row.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, w := io.Pipe()
				var writer sync.WaitGroup
				defer writer.Wait()
				writer.Go(func() {
					for range 100 {
						time.Sleep(row.every)
						if _, err := w.Write([]byte(":\n")); err != nil {
							return
						}
					}
					_ = w.Close()
				})
				begun := time.Now()
				client := &http.Client{Transport: piped{r}}
				a, err := Post(t.Context(), client, Request{URL: "http://played", Limits: Limits{Idle: idle}})
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = a.Close() }()
				buf := make([]byte, 8)
				for err == nil {
					if _, err = a.Read(buf); err == nil && row.progress {
						a.Progress()
					}
				}
				if !errors.Is(err, row.want) || time.Since(begun) != row.after {
					t.Errorf("%v after %v", err, time.Since(begun))
				}
			})
		})
	}
}

func TestIdleBeforeTheHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		_, err := Post(t.Context(), &http.Client{Transport: piped{}}, Request{URL: "http://played"})
		if !errors.Is(err, ErrIdle) || time.Since(begun) != defaultIdle {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err = Post(ctx, &http.Client{Transport: piped{}}, Request{URL: "http://played"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the caller's own deadline: %v", err)
		}
	})
}
