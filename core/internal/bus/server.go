// Package bus is the door of NATS: the embedded server with JetStream, its
// credentials, the mailboxes of the workers, the news stream and the API's
// micro-service endpoints. Nothing that it keeps is the only copy: the record
// can refill all of it.
package bus

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"
)

// Options of the embedded server.
type Options struct {
	Dir    string // the broker's folder; may be deleted while the server is stopped
	Listen string // host:port; port 0: the port of the last start, else a free one
	Log    zerolog.Logger
}

// Server is the embedded broker.
type Server struct {
	nats *server.Server
	lock *os.File
	keys keys
	url  string
}

// Open starts the server on a loopback or given address and waits until it is
// ready. It fails when another process serves the same folder: two servers on
// one store directory run and silently diverge.
func Open(ctx context.Context, o Options) (*Server, error) {
	store := filepath.Join(o.Dir, "jetstream")
	if err := os.MkdirAll(store, 0o700); err != nil {
		return nil, fmt.Errorf("make the broker's folder: %w", err)
	}
	lock, err := lockFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	s := &Server{lock: lock}
	if s.keys, err = loadKeys(o.Dir); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	host, port, err := listenAt(o)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if err := s.start(ctx, host, port, store, o); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, host string, port int, store string, o Options) error {
	opts := &server.Options{
		ServerName: "relo", Host: host, Port: port, JetStream: true, StoreDir: store, MaxPayload: maxPayload,
		NoSigs: true, DontListen: false, CustomClientAuthentication: s.keys,
		// The record is what is synced, not the broker; see docs/bus.md.
	}
	n, err := server.NewServer(opts)
	if err != nil {
		return fmt.Errorf("start the bus: %w", err)
	}
	n.SetLoggerV2(&serverLog{o.Log}, false, false, false)
	n.Start()
	s.nats = n
	if !n.ReadyForConnections(readyWait) {
		n.Shutdown()
		return fmt.Errorf("the bus did not get ready on %s:%d", host, port)
	}
	if err := ctx.Err(); err != nil {
		s.nats.Shutdown()
		return err
	}
	addr, ok := n.Addr().(*net.TCPAddr)
	if !ok {
		n.Shutdown()
		return errors.New("the bus has no TCP address")
	}
	s.url = "nats://" + addr.String()
	if err := os.WriteFile(portFile(o.Dir), []byte(strconv.Itoa(addr.Port)), 0o600); err != nil {
		n.Shutdown()
		return fmt.Errorf("keep the bus's port: %w", err)
	}
	return nil
}

// URL is where clients connect.
func (s *Server) URL() string { return s.url }

// Owner gives the credentials that may do everything.
func (s *Server) Owner() Creds {
	return Creds{URL: s.url, User: ownerUser, Password: s.keys.password(ownerUser)}
}

// Viewer gives the credentials that may read.
func (s *Server) Viewer() Creds {
	return Creds{URL: s.url, User: viewerUser, Password: s.keys.password(viewerUser)}
}

// Worker gives the credentials of one worker: its own mailbox, its own inbox.
func (s *Server) Worker(id string) Creds {
	user := workerPrefix + id
	return Creds{URL: s.url, User: user, Password: s.keys.password(user)}
}

// Close stops the server and frees its folder.
func (s *Server) Close() error {
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
	return s.lock.Close()
}

// portFile lies beside the broker's folder, as its key does: workers that live on
// must find the server again after that folder was lost.
func portFile(dir string) string { return filepath.Join(filepath.Dir(dir), "bus.port") }

// listenAt reads the address; port 0 becomes the port of the last start when it
// is still free, so that workers find a restarted daemon.
func listenAt(o Options) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return "", 0, fmt.Errorf("bus.listen %q is not host:port: %w", o.Listen, err)
	}
	port, err = strconv.Atoi(text)
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("bus.listen %q has no usable port", o.Listen)
	}
	if port != 0 {
		return host, port, nil
	}
	if last, err := os.ReadFile(portFile(o.Dir)); err == nil {
		if p, err := strconv.Atoi(strings.TrimSpace(string(last))); err == nil && free(host, p) {
			return host, p, nil
		}
	}
	return host, server.RANDOM_PORT, nil
}

func free(host string, port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port))) //nolint:noctx // bound and closed at once
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func lockFolder(dir string) (*os.File, error) {
	name := filepath.Join(dir, "bus.lock")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // Relo's own state folder
	if err != nil {
		return nil, fmt.Errorf("open the bus's lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another process serves the bus in %s", dir), f.Close())
	}
	return f, nil
}

// serverLog passes the server's own log on; its notices are traces here.
type serverLog struct{ log zerolog.Logger }

func (l *serverLog) Noticef(f string, v ...any) { l.log.Trace().Msgf(f, v...) }
func (l *serverLog) Warnf(f string, v ...any)   { l.log.Warn().Msgf(f, v...) }
func (l *serverLog) Fatalf(f string, v ...any)  { l.log.Error().Msgf(f, v...) }
func (l *serverLog) Errorf(f string, v ...any)  { l.log.Error().Msgf(f, v...) }
func (l *serverLog) Debugf(f string, v ...any)  { l.log.Trace().Msgf(f, v...) }
func (l *serverLog) Tracef(f string, v ...any)  { l.log.Trace().Msgf(f, v...) }
