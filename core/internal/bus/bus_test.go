package bus

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/protocol"
)

// soon bounds what a real broker on this machine does within milliseconds.
const soon = 20 * time.Second

// silence is how long a test waits to see that nothing comes.
const silence = 300 * time.Millisecond

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func serve(t *testing.T, dir string) *Server {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: dir, Listen: "127.0.0.1:0", Log: zerolog.Nop()})
	must(t, err)
	return s
}

// broker opens a server that ends with the test, with streams and an owner.
func broker(t *testing.T) (*Server, *Conn) {
	t.Helper()
	s := serve(t, filepath.Join(t.TempDir(), "bus"))
	t.Cleanup(func() { must(t, s.Close()) })
	c := dial(t, s.Owner())
	must(t, c.Prepare(t.Context()))
	return s, c
}

func dial(t *testing.T, creds Creds) *Conn {
	t.Helper()
	c, err := Connect(t.Context(), creds, t.Name())
	must(t, err)
	t.Cleanup(c.Close)
	return c
}

// hear waits for one message; "" when none comes in time.
func hear(ch <-chan string, wait time.Duration) string {
	select {
	case s := <-ch:
		return s
	case <-time.After(wait):
		return ""
	}
}

// mailbox reads a worker's mailbox until the test ends, answering with say.
func mailbox(t *testing.T, c *Conn, worker string, say func(data string) bool) <-chan string {
	t.Helper()
	got := make(chan string, 100)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		_ = c.Mailbox(ctx, worker, func(data []byte) bool {
			got <- string(data)
			return say(string(data))
		})
	})
	t.Cleanup(func() { cancel(); c.Close(); all.Wait() })
	return got
}

func yes(string) bool { return true }

func TestAWrongPasswordOpensNothing(t *testing.T) {
	s, _ := broker(t)
	good := s.Owner()
	for why, c := range map[string]Creds{
		"no password":              {URL: good.URL, User: good.User},
		"another's password":       {URL: good.URL, User: good.User, Password: s.Worker("w").Password},
		"a viewer as owner":        {URL: good.URL, User: good.User, Password: s.Viewer().Password},
		"no user":                  {URL: good.URL},
		"a user that is no kind":   {URL: good.URL, User: "root", Password: s.keys.password("root")},
		"a worker with a wildcard": s.Worker("*"),
		"a worker with a dot":      s.Worker("a.b"),
		"a worker without a name":  s.Worker(""),
	} {
		if conn, err := Connect(t.Context(), c, "stranger"); err == nil {
			conn.Close()
			t.Errorf("%s: let in", why)
		}
	}
	dial(t, s.Worker("w-1"))
	dial(t, s.Viewer())
}

// refusedSub reports whether the server refuses a subscription. Its refusal is
// on the wire before the answer to the flush.
func refusedSub(t *testing.T, c *Conn, subject string) bool {
	t.Helper()
	c.nc.SetErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}) // expected; not on the screen
	sub, err := c.nc.SubscribeSync(subject)
	must(t, err)
	defer func() { _ = sub.Unsubscribe() }()
	must(t, c.nc.Flush())
	last := c.nc.LastError()
	return errors.Is(last, nats.ErrPermissionViolation) && strings.Contains(last.Error(), "Subscription to \""+subject+"\"")
}

func TestAWorkerHearsOnlyItself(t *testing.T) {
	s, owner := broker(t)
	must(t, owner.PrepareMailbox(t.Context(), "other"))
	w := dial(t, s.Worker("w"))
	for _, subject := range []string{
		">", "relo.>", "_INBOX.>", ControlSubject("other"), ControlSubject("*"), TaskSubject("w"), TaskSubject("other"), EventSubject("*"), API + "job.submit",
		"_INBOX.worker-other.>", "$JS.EVENT.>", "$SYS.>",
	} {
		if !refusedSub(t, w, subject) {
			t.Errorf("a worker may listen on %s", subject)
		}
	}
	for _, subject := range []string{ControlSubject("w"), "_INBOX.worker-w.x"} {
		if refusedSub(t, w, subject) {
			t.Errorf("a worker may not listen on %s", subject)
		}
	}
	v := dial(t, s.Viewer())
	for _, subject := range []string{">", ControlSubject("w"), TaskSubject("w"), "_INBOX.>"} {
		if !refusedSub(t, v, subject) {
			t.Errorf("a viewer may listen on %s", subject)
		}
	}
	if refusedSub(t, v, EventSubject("*")) {
		t.Error("a viewer may not follow the news")
	}
}

func TestAWorkerSpeaksOnlyWhereItMay(t *testing.T) {
	s, owner := broker(t)
	must(t, owner.PrepareMailbox(t.Context(), "w"))
	must(t, owner.PrepareMailbox(t.Context(), "other"))
	heard := make(chan string, 100)
	_, err := owner.nc.Subscribe(">", func(m *nats.Msg) {
		if strings.HasPrefix(m.Subject, "relo.") || strings.HasPrefix(m.Subject, "$JS.API") {
			heard <- m.Subject
		}
	})
	must(t, err)
	must(t, owner.nc.Flush())
	say := func(c *Conn, subject string) {
		must(t, c.nc.PublishRequest(subject, c.nc.NewRespInbox(), []byte("{}")))
		must(t, c.nc.Flush())
	}
	w, v := dial(t, s.Worker("w")), dial(t, s.Viewer())
	for _, c := range []*Conn{w, v} {
		c.nc.SetErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}) // expected; not on the screen
	}
	for _, subject := range []string{
		API + "job.submit", API + "job.cancel", API + "job.apply", API + "job.show", API + "costs.list", EventSubject("j"), TaskSubject("w"), TaskSubject("other"),
		ControlSubject("w"), ControlSubject("other"), "$JS.API.CONSUMER.MSG.NEXT." + taskStream + ".other", "$JS.API.CONSUMER.INFO." + taskStream + ".other",
		"$JS.API.STREAM.DELETE." + taskStream, "$JS.API.STREAM.PURGE." + taskStream, "$JS.API.CONSUMER.CREATE." + taskStream + ".x",
		"$JS.API.CONSUMER.DELETE." + taskStream + ".other", "$JS.API.STREAM.MSG.GET." + taskStream,
	} {
		say(w, subject)
	}
	for _, subject := range []string{
		API + "job.submit", API + "job.cancel", API + "job.apply", API + "job.retry", API + "worker.hello", API + "attempt.finish",
		API + "blob.put", EventSubject("j"), ControlSubject("w"), TaskSubject("w"), "$JS.API.STREAM.DELETE." + eventStream,
	} {
		say(v, subject)
	}
	say(w, API+"attempt.claim") // allowed: marks the end
	say(v, API+"job.list")
	var got []string
	for range 2 {
		got = append(got, hear(heard, soon))
	}
	if last := hear(heard, silence); last != "" {
		got = append(got, last)
	}
	for _, subject := range got {
		if subject != API+"attempt.claim" && subject != API+"job.list" {
			t.Errorf("it got through: %v", got)
		}
	}
}

func TestAMailboxDeliversOnceAndAgainUntilItIsTaken(t *testing.T) {
	s, owner := broker(t)
	must(t, owner.PrepareMailbox(t.Context(), "w"))
	must(t, owner.PrepareMailbox(t.Context(), "v"))
	refuse := true
	got := mailbox(t, dial(t, s.Worker("w")), "w", func(data string) bool {
		if data == "second" && refuse {
			refuse = false
			return false
		}
		return true
	})
	others := mailbox(t, dial(t, s.Worker("v")), "v", yes)
	send := func(id, data string) { must(t, owner.Send(t.Context(), TaskSubject("w"), id, []byte(data))) }
	send("1", "first")
	send("1", "first") // published twice after a crash
	if m := hear(got, soon); m != "first" {
		t.Fatalf("%q", m)
	}
	send("2", "second")
	for range 2 {
		if m := hear(got, soon); m != "second" {
			t.Fatalf("%q, want the second task again after it was refused", m)
		}
	}
	if m := hear(got, 2*silence); m != "" {
		t.Errorf("%q came once more", m)
	}
	if m := hear(others, silence); m != "" {
		t.Errorf("another's mailbox got %q", m)
	}
	if n, err := owner.Waiting(t.Context(), "w"); err != nil || n != 0 {
		t.Errorf("%d wait, %v", n, err)
	}
}

// A worker that dies with a task unread or unacknowledged does not take it along.
func TestWhatNobodyTookWaits(t *testing.T) {
	s, owner := broker(t)
	must(t, owner.PrepareMailbox(t.Context(), "w"))
	must(t, owner.Send(t.Context(), TaskSubject("w"), "1", []byte("task")))
	cons, err := dial(t, s.Worker("w")).js.Consumer(t.Context(), taskStream, "w")
	must(t, err)
	batch, err := cons.Fetch(1, jetstream.FetchMaxWait(soon))
	must(t, err)
	for m := range batch.Messages() {
		if string(m.Data()) != "task" {
			t.Errorf("%q", m.Data())
		}
	}
	if n, err := owner.Waiting(t.Context(), "w"); err != nil || n != 1 {
		t.Errorf("%d wait, %v", n, err)
	}
	must(t, owner.DropMailbox(t.Context(), "w"))
	if n, err := owner.Waiting(t.Context(), "w"); err != nil || n != 0 {
		t.Errorf("after the mailbox was dropped %d wait, %v", n, err)
	}
	must(t, owner.DropMailbox(t.Context(), "w"))
}

func TestMailboxNamesCannotReachOthers(t *testing.T) {
	_, owner := broker(t)
	must(t, owner.PrepareMailbox(t.Context(), "w"))
	must(t, owner.Send(t.Context(), TaskSubject("w"), "1", []byte("task")))
	for _, name := range []string{"*", ">", "", "a.b", "a b", "A", "w.>", "é"} {
		if err := owner.PrepareMailbox(t.Context(), name); !errors.Is(err, errName) {
			t.Errorf("prepare %q: %v", name, err)
		}
		if err := owner.DropMailbox(t.Context(), name); !errors.Is(err, errName) {
			t.Errorf("drop %q: %v", name, err)
		}
	}
	if n, err := owner.Waiting(t.Context(), "w"); err != nil || n != 1 {
		t.Errorf("%d wait, %v", n, err)
	}
}

func TestOnlySignedOrdersArrive(t *testing.T) {
	s, owner := broker(t)
	w := dial(t, s.Worker("w"))
	got := make(chan string, 10)
	stop, err := w.Orders("w", func(data []byte) { got <- string(data) })
	must(t, err)
	defer stop()
	must(t, w.nc.Flush())
	raw := func(change func(m *nats.Msg)) {
		m := nats.NewMsg(ControlSubject("w"))
		m.Data = []byte("forged")
		change(m)
		must(t, owner.nc.PublishMsg(m))
	}
	mine := s.Worker("w").Password
	raw(func(*nats.Msg) {})
	raw(func(m *nats.Msg) { m.Header.Set(headerSign, "") })
	raw(func(m *nats.Msg) { m.Header.Set(headerSign, sign(s.Worker("v").Password, m.Data)) })
	raw(func(m *nats.Msg) { m.Header.Set(headerSign, sign(mine, []byte("other words"))) })
	raw(func(m *nats.Msg) { m.Header.Set(headerSign, sign(mine, m.Data)); m.Reply = "some.reply" })
	must(t, owner.Order(s, "w", []byte("stop")))
	if m := hear(got, soon); m != "stop" {
		t.Errorf("heard %q, want only the signed order", m)
	}
	if m := hear(got, silence); m != "" {
		t.Errorf("and then %q", m)
	}
}

func TestNewsIsFollowedAndRemembered(t *testing.T) {
	s, owner := broker(t)
	if last, err := owner.LastNews(t.Context(), "j"); err != nil || last != nil {
		t.Errorf("%q %v", last, err)
	}
	one, all := make(chan string, 10), make(chan string, 10)
	v := dial(t, s.Viewer())
	stop, err := v.News("j", func(data []byte) { one <- string(data) })
	must(t, err)
	defer stop()
	stopAll, err := v.News("*", func(data []byte) { all <- string(data) })
	must(t, err)
	defer stopAll()
	must(t, owner.Tell("k", "k1", []byte("other")))
	must(t, owner.Tell("j", "j1", []byte("first")))
	must(t, owner.Tell("j", "j2", []byte("second")))
	if a, b := hear(one, soon), hear(one, soon); a != "first" || b != "second" {
		t.Errorf("%q %q", a, b)
	}
	if a := hear(all, soon); a != "other" {
		t.Errorf("%q", a)
	}
	must(t, owner.Send(t.Context(), EventSubject("j"), "j3", []byte("third")))
	must(t, owner.Send(t.Context(), EventSubject("j"), "j3", []byte("third again")))
	if last, err := owner.LastNews(t.Context(), "j"); err != nil || string(last) != "third" {
		t.Errorf("%q %v", last, err)
	}
}

func TestCredentialsInAFileAreOnesOwn(t *testing.T) {
	s, _ := broker(t)
	name := filepath.Join(t.TempDir(), "creds.json")
	must(t, s.Worker("w").Save(name))
	info, err := os.Stat(name)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("%v", info.Mode())
	}
	c, err := LoadCreds(name)
	must(t, err)
	if c != s.Worker("w") {
		t.Errorf("%+v", c)
	}
	must(t, os.WriteFile(name, []byte("{"), 0o600))
	if _, err := LoadCreds(name); err == nil {
		t.Error("half a file was read")
	}
	if _, err := LoadCreds(name + ".gone"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestAwayIsAwayAlsoWithoutAServer(t *testing.T) {
	s := serve(t, filepath.Join(t.TempDir(), "bus"))
	creds := s.Owner()
	must(t, s.Close())
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	if _, err := Connect(ctx, creds, "late"); err == nil {
		t.Error("connected to nobody")
	}
	if errors.Is(protocol.ErrAway, context.Canceled) {
		t.Error("away is not cancelled")
	}
}
