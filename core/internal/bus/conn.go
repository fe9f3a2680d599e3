package bus

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/relo-dev/relo/core/internal/protocol"
)

const (
	headerProgress = "Relo-Progress"
	headerSign     = "Relo-Signature"
	headerCode     = "Nats-Service-Error-Code"
	headerError    = "Nats-Service-Error"
)

// Conn is a connection to the bus. It reconnects by itself for as long as it is open.
type Conn struct {
	nc    *nats.Conn
	js    jetstream.JetStream
	creds Creds
}

// Connect dials once, so that a wrong address or credential is told at once;
// afterwards the connection mends itself.
func Connect(ctx context.Context, c Creds, name string) (*Conn, error) {
	timeout := nats.DefaultTimeout
	if d, ok := ctx.Deadline(); ok {
		timeout = max(time.Until(d), time.Millisecond)
	}
	nc, err := nats.Connect(c.URL, nats.UserInfo(c.User, c.Password), nats.Name(name), nats.MaxReconnects(-1),
		nats.ReconnectWait(100*time.Millisecond), nats.ReconnectJitter(100*time.Millisecond, 100*time.Millisecond),
		nats.CustomInboxPrefix(inboxOf(c.User)), nats.DrainTimeout(drainWait), nats.Timeout(timeout), nats.IgnoreAuthErrorAbort())
	if err != nil {
		return nil, fmt.Errorf("connect to the bus at %s: %w", c.URL, err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("open JetStream: %w", err)
	}
	return &Conn{nc: nc, js: js, creds: c}, nil
}

// Close ends the connection after what is under way was sent.
func (c *Conn) Close() {
	if c.nc.IsConnected() { // else there is nobody to wait for
		_ = c.nc.FlushTimeout(drainWait)
	}
	c.nc.Close()
}

// Connected reports whether the server is there at this moment.
func (c *Conn) Connected() bool { return c.nc.IsConnected() }

// Request calls an endpoint, such as job.submit, and waits for its answer for as
// long as it shows signs of life. Nobody there: protocol.ErrAway. A refusal: *protocol.Error.
func (c *Conn) Request(ctx context.Context, endpoint string, body []byte) ([]byte, error) {
	inbox := c.nc.NewRespInbox()
	sub, err := c.nc.SubscribeSync(inbox)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", endpoint, err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := c.nc.PublishRequest(API+endpoint, inbox, body); err != nil {
		return nil, fmt.Errorf("call %s: %w", endpoint, err)
	}
	for {
		msg, err := c.next(ctx, sub)
		if err != nil {
			return nil, fmt.Errorf("call %s: %w", endpoint, err)
		}
		switch {
		case msg.Header.Get(headerProgress) != "":
		case msg.Header.Get("Status") == "503":
			return nil, fmt.Errorf("call %s: %w", endpoint, protocol.ErrAway)
		case msg.Header.Get(headerCode) != "":
			return nil, refusal(msg)
		default:
			return msg.Data, nil
		}
	}
}

// refusal reads an endpoint's error: its document, or the header's words.
func refusal(msg *nats.Msg) error {
	var e protocol.Error
	if err := json.Unmarshal(msg.Data, &e); err != nil || e.Code == "" {
		e = protocol.Error{Code: msg.Header.Get(headerCode), Message: msg.Header.Get(headerError)}
	}
	return &e
}

func (c *Conn) next(ctx context.Context, sub *nats.Subscription) (*nats.Msg, error) {
	quiet, cancel := context.WithTimeout(ctx, quietMax)
	defer cancel()
	msg, err := sub.NextMsgWithContext(quiet)
	switch {
	case err == nil:
		return msg, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, nats.ErrNoResponders):
		return nil, protocol.ErrAway
	default:
		return nil, fmt.Errorf("%w: %w", protocol.ErrAway, err)
	}
}

// News calls f with every event of a job, or of every job when id is "*", until
// stop is called. It starts with what is published next.
func (c *Conn) News(id string, f func(data []byte)) (stop func(), err error) {
	sub, err := c.nc.Subscribe(EventSubject(id), func(m *nats.Msg) { f(m.Data) })
	if err != nil {
		return nil, fmt.Errorf("follow the news: %w", err)
	}
	if err := c.nc.Flush(); err != nil {
		return nil, fmt.Errorf("follow the news: %w", err)
	}
	return func() { _ = sub.Unsubscribe() }, nil
}

// Orders calls f with every genuine order for this worker: signed with the
// worker's own password, and not delivered by the broker's streams (whose
// deliveries a rogue pull request could redirect here).
func (c *Conn) Orders(worker string, f func(data []byte)) (stop func(), err error) {
	sub, err := c.nc.Subscribe(ControlSubject(worker), func(m *nats.Msg) {
		if m.Reply != "" || !hmac.Equal([]byte(m.Header.Get(headerSign)), []byte(sign(c.creds.Password, m.Data))) {
			return
		}
		f(m.Data)
	})
	if err != nil {
		return nil, fmt.Errorf("listen for orders: %w", err)
	}
	return func() { _ = sub.Unsubscribe() }, nil
}

// Order sends a signed order to a worker; s is the server that knows its password.
func (c *Conn) Order(s *Server, worker string, data []byte) error {
	m := nats.NewMsg(ControlSubject(worker))
	m.Data = data
	m.Header.Set(headerSign, sign(s.keys.password(workerPrefix+worker), data))
	if err := c.nc.PublishMsg(m); err != nil {
		return fmt.Errorf("order worker %s: %w", worker, err)
	}
	return nil
}
