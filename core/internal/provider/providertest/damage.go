package providertest

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/secret"
)

const (
	// damagedReplies is how many replies each wire is sent that were recorded and damaged.
	damagedReplies = 10_000
	// atOnce of them, so that they take seconds.
	atOnce = 8
)

// tape is a reply as it came over HTTP.
type tape struct {
	kind string
	body []byte
}

// record lets the double answer once and keeps what it said.
func record(t *testing.T, w Wire) tape {
	t.Helper()
	d := double.New(double.Options{Key: key, Models: map[string]double.Model{sees: {Sees: true}}, Play: always(double.Reply{
		Reasoning: "First I think.", Text: "Some words that come in pieces.", Calls: []double.Call{{Name: "read", Args: map[string]any{"path": "a/b.go"}}, {Name: "read"}},
	})})
	var kept tape
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		d.ServeHTTP(rec, r)
		kept = tape{rec.Header().Get("Content-Type"), rec.Body.Bytes()}
		out.Header().Set("Content-Type", kept.kind)
		_, _ = out.Write(kept.body)
	}))
	defer server.Close()
	if _, err := w.New(server.URL+"/v1", secret.New(key), patient).Stream(t.Context(), ask(sees), nil); err != nil {
		t.Fatalf("the whole reply is not read: %v", err)
	}
	return kept
}

// RunDamage sends the client a recorded reply that was cut at every byte, and then ten thousand
// that were damaged: it never gives half a call, never panics, gives receipts with an answer only, and
// leaves no goroutine. Whether a damaged reply is an answer all the same is the wire's matter.
func RunDamage(t *testing.T, w Wire) {
	t.Helper()
	kept := record(t, w)
	before := runtime.NumGoroutine()
	var mu sync.Mutex
	answers, bodies := 0, make(chan []byte)
	var work sync.WaitGroup
	var servers []*httptest.Server
	for range atOnce {
		next := make(chan []byte, 1)
		server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			out.Header().Set("Content-Type", kept.kind)
			_, _ = out.Write(<-next)
		}))
		servers = append(servers, server)
		client := w.New(server.URL+"/v1", secret.New(key), patient)
		work.Go(func() {
			for body := range bodies {
				next <- body
				resp, err := client.Stream(t.Context(), ask(sees), nil)
				mu.Lock()
				if err == nil {
					answers++
				}
				mu.Unlock()
				survived(t, resp, err, body)
			}
		})
	}
	for n := range kept.body {
		bodies <- kept.body[:n]
	}
	r := rand.New(rand.NewPCG(1, 9))
	for range damagedReplies {
		bodies <- damaged(r, kept.body)
	}
	close(bodies)
	work.Wait()
	for _, server := range servers {
		server.Close()
	}
	if answers == 0 || answers > damagedReplies {
		t.Errorf("%d answers of %d damaged replies: the damage proves nothing", answers, damagedReplies)
	}
	for end := time.Now().Add(patient); runtime.NumGoroutine() > before && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines before, %d after", before, n)
	}
}

// survived holds what came of a damaged reply against what Relo promises.
func survived(t *testing.T, resp provider.Response, err error, body []byte) {
	if err != nil {
		if asError(err) == nil || len(resp.Message.Parts) > 0 || len(resp.Receipts) > 0 {
			t.Errorf("%T %v with %+v", err, err, resp)
		}
		return
	}
	for _, c := range calls(resp.Message) {
		if c.ID == "" || c.Name == "" || !strings.HasPrefix(strings.TrimSpace(string(c.Args)), "{") {
			t.Errorf("half a call %+v out of %q", c, body)
		}
	}
}

// damaged changes a copy in a few places.
func damaged(r *rand.Rand, body []byte) []byte {
	b := append([]byte{}, body...)
	for range 1 + r.IntN(4) {
		at := r.IntN(len(b))
		switch r.IntN(4) {
		case 0:
			b[at] ^= "\x01\x20\x80\xff"[r.IntN(4)]
		case 1:
			b = append(b[:at], b[min(len(b), at+1+r.IntN(40)):]...)
		case 2:
			b = append(b[:at:at], append([]byte(fmt.Sprint(r.Uint64())), b[at:]...)...)
		default:
			from := r.IntN(len(b))
			piece := append([]byte{}, b[from:min(len(b), from+r.IntN(200))]...)
			b = append(b[:at:at], append(piece, b[at:]...)...)
		}
		if len(b) == 0 {
			return []byte("x")
		}
	}
	return b
}
