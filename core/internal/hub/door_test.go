package hub

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/relo-dev/relo/core/internal/secret"
)

const key = "Key-Of-This-Test"

// open serves a hub over HTTP.
func open(t *testing.T, h *Hub) *httptest.Server {
	t.Helper()
	d := h.Handler(secret.New(key))
	s := httptest.NewServer(d)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return s
}

// with a key in every request.
type carrier struct{ key string }

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+c.key)
	return http.DefaultTransport.RoundTrip(r)
}

func connect(t *testing.T, url, key string) (*mcp.ClientSession, error) {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	return c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: carrier{key}}}, nil)
}

func TestOverHTTPTheAnswerIsTheSame(t *testing.T) {
	t.Parallel()
	s := open(t, hubOf(files{"a.png": "A"}, looker{}))
	c, err := connect(t, s.URL, key)
	if err != nil {
		t.Fatal(err)
	}
	r := call(t, c, "relo_image", `{"paths":["a.png"]}`)
	if p, ok := r.Content[1].(*mcp.ImageContent); !ok || string(p.Data) != "A" || p.MIMEType != "image/png" {
		t.Errorf("%+v", r.Content[1])
	}
	if r := call(t, c, "relo_image", `{"paths":[]}`); !r.IsError {
		t.Errorf("%+v", r)
	}
	if r := call(t, c, "relo_describe", `{"path":"a.png","question":"colour"}`); r.IsError || !strings.Contains(textOf(t, r), "colour of A") {
		t.Errorf("%+v", r)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestOverHTTPACancelledCallEndsItsPreparing(t *testing.T) {
	t.Parallel()
	p := newStuck()
	c, err := connect(t, open(t, hubOf(p, nil)).URL, key)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "relo_image", Arguments: json.RawMessage(`{"paths":["a.png"]}`)})
		done <- err
	}()
	<-p.began
	cancel()
	<-p.ended
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestClosingTheDoorEndsCallsAndLeavesNothing(t *testing.T) { // not parallel: it counts goroutines
	before := runtime.NumGoroutine()
	p := newStuck()
	d := hubOf(p, nil).Handler(secret.New(key))
	s := httptest.NewServer(d)
	c, err := connect(t, s.URL, key)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "relo_image", Arguments: json.RawMessage(`{"paths":["a.png"]}`)}); err == nil {
			t.Error("a call was answered that nobody prepared")
		}
	}()
	<-p.began
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	<-p.ended
	<-done
	_ = c.Close() // its connection is gone
	s.Close()
	http.DefaultClient.CloseIdleConnections()
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			text := make([]byte, 1<<16)
			t.Fatalf("goroutines: %d before, %d after\n%s", before, runtime.NumGoroutine(), text[:runtime.Stack(text, true)])
		}
	}
}

// P103 and design, "A page in the user's browser reaches a loopback port".
func TestWhoIsLetIn(t *testing.T) {
	t.Parallel()
	p := newStuck() // nothing may be prepared
	s := open(t, hubOf(p, nil))
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	good := map[string]string{"Authorization": "Bearer " + key, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
	for _, c := range []struct {
		why    string
		method string
		host   string
		set    map[string]string
		want   int
	}{
		{"an agent with the key", "POST", "127.0.0.1:" + port, nil, 200},
		{"by the other name", "POST", "localhost:" + port, nil, 200},
		{"with the scheme in small letters", "POST", "127.0.0.1:" + port, map[string]string{"Authorization": "bearer " + key}, 200},
		{"an Origin that is the hub itself", "POST", "127.0.0.1:" + port, map[string]string{"Origin": "http://127.0.0.1:" + port}, 200},
		{"no key", "POST", "127.0.0.1:" + port, map[string]string{"Authorization": ""}, 401},
		{"another key", "POST", "127.0.0.1:" + port, map[string]string{"Authorization": "Bearer other"}, 401},
		{"the key in another case", "POST", "127.0.0.1:" + port, map[string]string{"Authorization": "Bearer " + strings.ToLower(key)}, 401},
		{"the key and more", "POST", "127.0.0.1:" + port, map[string]string{"Authorization": "Bearer " + key + " "}, 200}, // HTTP trims the field
		{"a beginning of the key", "POST", "127.0.0.1:" + port, map[string]string{"Authorization": "Bearer " + key[:4]}, 401},
		{"the key of another scheme", "POST", "127.0.0.1:" + port, map[string]string{"Authorization": "Basic " + key}, 401},
		{"the key without a scheme", "POST", "127.0.0.1:" + port, map[string]string{"Authorization": key}, 401},
		{"an empty key", "POST", "127.0.0.1:" + port, map[string]string{"Authorization": "Bearer "}, 401},
		{"a name that was made to lead here", "POST", "evil.example:" + port, nil, 403},
		{"a name with ours in it", "POST", "localhost.evil.example:" + port, nil, 403},
		{"no port", "POST", "127.0.0.1", nil, 403},
		{"another port", "POST", "127.0.0.1:1", nil, 403},
		{"another loopback name", "POST", "127.0.0.2:" + port, nil, 403},
		{"the name in capitals", "POST", "LOCALHOST:" + port, nil, 403},
		{"a page elsewhere", "POST", "127.0.0.1:" + port, map[string]string{"Origin": "https://evil.example"}, 403},
		{"a page of no origin", "POST", "127.0.0.1:" + port, map[string]string{"Origin": "null"}, 403},
		{"a page on another port of this machine", "POST", "127.0.0.1:" + port, map[string]string{"Origin": "http://127.0.0.1:1"}, 403},
		{"a page over https", "POST", "127.0.0.1:" + port, map[string]string{"Origin": "https://127.0.0.1:" + port}, 403},
		{"a page that a browser calls cross-site", "POST", "127.0.0.1:" + port, map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"a page that a browser calls same-site", "POST", "127.0.0.1:" + port, map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
		{"a form", "POST", "127.0.0.1:" + port, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 415},
		{"plain text", "POST", "127.0.0.1:" + port, map[string]string{"Content-Type": "text/plain"}, 415},
		{"GET without a connection", "GET", "127.0.0.1:" + port, nil, 400},
		{"a preflight", "OPTIONS", "127.0.0.1:" + port, map[string]string{"Origin": "https://evil.example", "Authorization": ""}, 403},
		{"PUT", "PUT", "127.0.0.1:" + port, nil, 405},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, s.URL, strings.NewReader(hello))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = c.host
		for _, headers := range []map[string]string{good, c.set} {
			for name, value := range headers {
				if r.Header.Set(name, value); value == "" {
					r.Header.Del(name)
				}
			}
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			t.Error(err)
		}
		if resp.StatusCode != c.want || resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d, want %d: %s", c.why, resp.StatusCode, c.want, body)
		}
		if challenged := resp.Header.Get("WWW-Authenticate") != ""; challenged != (c.want == 401) {
			t.Errorf("%s: a challenge: %v", c.why, challenged)
		}
	}
}

func TestABodyIsNotReadForStrangersAndNoLongOneForAnybody(t *testing.T) {
	t.Parallel()
	s := open(t, hubOf(files{}, nil))
	for auth, want := range map[string]int{"Bearer no": 401, "Bearer " + key: 413} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL, strings.NewReader(`{"jsonrpc":"2.0","x":"`+strings.Repeat("x", maxBody)+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", auth)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil || resp.StatusCode != want {
			t.Errorf("%d, want %d, %v", resp.StatusCode, want, err)
		}
	}
}

func TestAHubWithoutAKeyLetsNobodyIn(t *testing.T) {
	t.Parallel()
	d := hubOf(files{}, nil).Handler(secret.Value{})
	s := httptest.NewServer(d)
	t.Cleanup(s.Close)
	for _, given := range []string{"", " ", "x"} {
		if _, err := connect(t, s.URL, given); err == nil {
			t.Errorf("%q was let in", given)
		}
	}
}
