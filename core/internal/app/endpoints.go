package app

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// endpointsDoc is run/endpoints.json, written by who has the record open.
type endpointsDoc struct {
	PID        int       `json:"pid"`
	Version    string    `json:"version"`
	API        string    `json:"api"`
	Bus        string    `json:"bus"`
	Proxy      string    `json:"proxy,omitempty"`      // http://host:port
	Standalone bool      `json:"standalone,omitempty"` // ends with its job, takes no others
	Started    time.Time `json:"started"`
	// Fixed are the settings that hold until the process ends.
	Fixed map[string]string `json:"fixed,omitempty"`
}

// fixedSettings are those that a daemon reads at its start only, by path.
func fixedSettings(cfg *config.Config) map[string]string {
	return map[string]string{
		"workers.local":        strconv.Itoa(cfg.Workers.Local),
		"workers.leaseSeconds": strconv.Itoa(cfg.Workers.LeaseSeconds),
		"bus.listen":           cfg.Bus.Listen,
	}
}

func readEndpoints(e Env) (endpointsDoc, bool) {
	var doc endpointsDoc
	text, err := os.ReadFile(e.places().Endpoints())
	if err != nil || json.Unmarshal(text, &doc) != nil {
		return doc, false
	}
	return doc, true
}

// liveEndpoints reads where the process that has the record can be reached. A
// file that a killed process left is seen through: the kernel frees the record's
// lock with its process, whatever became of its number or its port.
func liveEndpoints(e Env) (endpointsDoc, bool) {
	doc, ok := readEndpoints(e)
	return doc, ok && recordOwner(e) == doc.PID
}

// recordOwner gives the process that has the record open; 0: none, -1: one that
// is just about to write its number. To ask is to hold the lock for a moment,
// which whoever opens the record waits for.
func recordOwner(e Env) int {
	f, held := heldLock(filepath.Join(e.recordDir(), "record.lock"))
	if !held {
		return 0
	}
	defer func() { _ = f.Close() }() // opened to look only
	var owner struct {
		PID int `json:"pid"`
	}
	if json.NewDecoder(f).Decode(&owner) != nil || owner.PID <= 0 {
		return -1
	}
	return owner.PID
}

// heldLock opens a lock's file when another process holds it.
func heldLock(name string) (*os.File, bool) {
	f, err := os.OpenFile(name, os.O_RDWR, 0o600) //nolint:gosec // Relo's own state folder
	if err != nil {
		return nil, false
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil {
		_ = f.Close() // opened to look only
		return nil, false
	}
	return f, true
}

// busFree says in its own words when the bus cannot be served: its folder is
// taken, or the address of bus.listen is.
func busFree(e Env, listen string) error {
	if f, held := heldLock(filepath.Join(e.busDir(), "bus.lock")); held {
		_ = f.Close() // opened to look only
		return &protocol.Error{
			Code: protocol.CodeUnreachable, Message: fmt.Sprintf("another process serves the bus in %s, although it does not have the record", e.busDir()),
			Hint: "end that process, or set RELO_HOME to another folder",
		}
	}
	_, port, err := net.SplitHostPort(listen)
	if err != nil || port == "0" {
		return nil // the bus has words for what it cannot read
	}
	l, err := net.Listen("tcp", listen) //nolint:noctx // bound and closed at once
	if err != nil {
		return &protocol.Error{
			Code: protocol.CodeUnreachable, Message: fmt.Sprintf("the bus cannot listen on %s (bus.listen): %v", listen, err),
			Hint: "end the program that uses the port, or let Relo choose one: relo config set bus.listen 127.0.0.1:0",
		}
	}
	return l.Close()
}

// publish writes where this process can be reached.
func (c *core) publish(standalone bool) error {
	if err := c.server.Owner().Save(c.env.runFile(credsName)); err != nil {
		return err
	}
	text, err := json.Marshal(endpointsDoc{
		PID: os.Getpid(), Version: Version, API: protocol.Version, Bus: c.server.URL(), Proxy: c.proxy, Standalone: standalone, Started: c.started, Fixed: fixedSettings(c.cfg),
	})
	if err != nil {
		return fmt.Errorf("encode the endpoints: %w", err)
	}
	return c.env.writeState(c.env.places().Endpoints(), text)
}

func (c *core) unpublish() error { return os.Remove(c.env.places().Endpoints()) }
