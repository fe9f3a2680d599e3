package bus

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/protocol"
)

func fault(err error) (code, words string, data []byte) {
	e, ok := errors.AsType[*protocol.Error](err)
	if !ok {
		return "internal", err.Error(), nil
	}
	data, _ = json.Marshal(e)
	return e.Code, e.Message, data
}

func endpoint(name string, f func(ctx context.Context, body []byte) ([]byte, error)) Endpoint {
	return Endpoint{Name: name, Description: "for a test", Handle: f, Fault: fault}
}

// answering serves a table until the test ends.
func answering(t *testing.T, c *Conn, table ...Endpoint) *Service {
	t.Helper()
	svc, err := c.Serve(t.Context(), "1.0.0", table)
	must(t, err)
	return svc
}

func TestRequestsAreAnsweredOrRefusedInWords(t *testing.T) {
	s, owner := broker(t)
	no := &protocol.Error{Code: protocol.CodeNotReady, Message: "not\nyet", Hint: "wait a little", Retryable: true}
	svc := answering(t, owner,
		endpoint("job.show", func(_ context.Context, b []byte) ([]byte, error) { return append([]byte("you said "), b...), nil }),
		endpoint("job.list", func(context.Context, []byte) ([]byte, error) { return nil, no }),
		endpoint("job.diff", func(context.Context, []byte) ([]byte, error) { return nil, errors.New("it\r\nbroke") }),
	)
	v := dial(t, s.Viewer())
	if out, err := v.Request(t.Context(), "job.show", []byte("hello")); err != nil || string(out) != "you said hello" {
		t.Errorf("%q %v", out, err)
	}
	_, err := v.Request(t.Context(), "job.list", nil)
	if got, ok := errors.AsType[*protocol.Error](err); !ok || cmp.Diff(no, got) != "" {
		t.Errorf("%+v, want the code, the words and the hint", err)
	}
	_, err = v.Request(t.Context(), "job.diff", nil)
	if got, ok := errors.AsType[*protocol.Error](err); !ok || got.Code != "internal" || got.Message != "it broke" {
		t.Errorf("%+v", err)
	}
	if _, err := v.Request(t.Context(), "models.list", nil); !errors.Is(err, protocol.ErrAway) {
		t.Errorf("nobody serves it: %v", err)
	}
	must(t, svc.Close())
	for range 20 { // some reach it before the broker has taken the subscription back
		if _, err := v.Request(t.Context(), "job.show", nil); !errors.Is(err, protocol.ErrAway) {
			t.Errorf("nobody serves any more: %v", err)
		}
	}
}

func TestACallerThatLeavesDoesNotWait(t *testing.T) {
	_, owner := broker(t)
	entered := make(chan string, 1)
	svc := answering(t, owner, endpoint("job.show", func(ctx context.Context, _ []byte) ([]byte, error) {
		entered <- "in"
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := owner.Request(ctx, "job.show", nil)
		done <- err
	}()
	if hear(entered, soon) == "" {
		t.Fatal("never called")
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	must(t, svc.Close()) // ends the handler, which waits for nothing else
}

// This test waits by the real clock, a little longer than a caller bears
// silence: only then do the signs of life prove something.
func TestSignsOfLifeKeepASlowCallAlive(t *testing.T) {
	t.Parallel()
	s, owner := broker(t)
	slow := func(ctx context.Context, _ []byte) ([]byte, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(quietMax + progressEvery/2):
			return []byte("at last"), nil
		}
	}
	svc := answering(t, owner, endpoint("job.show", slow))
	if out, err := dial(t, s.Viewer()).Request(t.Context(), "job.show", nil); err != nil || string(out) != "at last" {
		t.Errorf("%q %v", out, err)
	}
	must(t, svc.Close())
}

// Likewise by the real clock: who takes a call and falls silent is away.
func TestSilenceIsAway(t *testing.T) {
	t.Parallel()
	_, owner := broker(t)
	sub, err := owner.nc.SubscribeSync(API + "job.show")
	must(t, err)
	defer func() { _ = sub.Unsubscribe() }()
	start := time.Now()
	if _, err := owner.Request(t.Context(), "job.show", nil); !errors.Is(err, protocol.ErrAway) {
		t.Errorf("%v", err)
	}
	if took := time.Since(start); took < quietMax || took > 2*quietMax {
		t.Errorf("gave up after %v", took)
	}
}

func TestARestartKeepsPortAndPasswords(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bus")
	s := serve(t, dir)
	url, creds := s.URL(), s.Worker("w")
	c := dial(t, creds)
	must(t, s.Close())
	s = serve(t, dir)
	defer func() { must(t, s.Close()) }()
	if s.URL() != url || s.Worker("w") != creds {
		t.Errorf("%s became %s", url, s.URL())
	}
	deadline := time.After(soon)
	for !c.Connected() {
		select {
		case <-deadline:
			t.Fatal("the connection did not mend itself")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestTwoServersOnOneFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bus")
	s := serve(t, dir)
	if other, err := Open(t.Context(), Options{Dir: dir, Listen: "127.0.0.1:0", Log: zerolog.Nop()}); err == nil {
		must(t, other.Close())
		t.Error("a second server was opened on the folder")
	} else if !strings.Contains(err.Error(), "another process") {
		t.Errorf("%v", err)
	}
	must(t, s.Close())
	must(t, serve(t, dir).Close())
}

func TestADeletedFolderCostsNothingButTime(t *testing.T) {
	t.Parallel() // a pull that is under way outlives the reconnect: some five seconds
	dir := filepath.Join(t.TempDir(), "bus")
	s := serve(t, dir)
	owner := dial(t, s.Owner())
	must(t, owner.Prepare(t.Context()))
	must(t, owner.PrepareMailbox(t.Context(), "w"))
	must(t, owner.Send(t.Context(), TaskSubject("w"), "1", []byte("lost")))
	url := s.URL()
	owner.Close()
	w := dial(t, s.Worker("w"))
	got := mailbox(t, w, "w", func(data string) bool { return data != "lost" })
	must(t, s.Close())
	must(t, os.RemoveAll(dir))
	s = serve(t, dir)
	t.Cleanup(func() { must(t, s.Close()) })
	if s.URL() != url {
		t.Errorf("workers look at %s, the server is at %s", url, s.URL())
	}
	owner = dial(t, s.Owner())
	for range 2 {
		must(t, owner.Prepare(t.Context()))
		must(t, owner.PrepareMailbox(t.Context(), "w"))
	}
	must(t, owner.Send(t.Context(), TaskSubject("w"), "1", []byte("sent again")))
	for {
		switch m := hear(got, soon); m {
		case "lost": // before the end
			continue
		case "sent again":
			return
		default:
			t.Fatalf("%q", m)
		}
	}
}

func TestListenAddressesThatCannotBe(t *testing.T) {
	for _, listen := range []string{"", "nowhere", "127.0.0.1:x", "127.0.0.1:70000", "127.0.0.1:-1"} {
		dir := filepath.Join(t.TempDir(), "bus")
		if s, err := Open(t.Context(), Options{Dir: dir, Listen: listen, Log: zerolog.Nop()}); err == nil {
			must(t, s.Close())
			t.Errorf("%q was taken", listen)
		}
	}
}

func TestTheKeyIsOnesOwnAndDamageIsSaid(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bus")
	must(t, serve(t, dir).Close())
	key := filepath.Join(filepath.Dir(dir), "bus.key")
	info, err := os.Stat(key)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("%v", info.Mode())
	}
	must(t, os.WriteFile(key, []byte("short"), 0o600))
	if s, err := Open(t.Context(), Options{Dir: dir, Listen: "127.0.0.1:0", Log: zerolog.Nop()}); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("%v %v", s, err)
	}
}
