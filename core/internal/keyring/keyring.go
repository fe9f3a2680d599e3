// Package keyring keeps keys in the system's keyring: the Keychain, the Credential
// Manager, or a secret service on the session's bus. Where there is none it says so
// at once, with what to use instead. It writes no file and never prints a key.
package keyring

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	system "github.com/zalando/go-keyring"

	"github.com/relo-dev/relo/core/internal/secret"
)

// The ways in which a keyring has no answer. They are found with errors.Is.
var (
	ErrNone   = errors.New("there is no keyring here")
	ErrAbsent = errors.New("the keyring holds nothing under that name")
	ErrChange = errors.New("the keyring gave back something else than was stored")
)

// Instead says what to use where there is no keyring.
const Instead = "keep the key in a variable (--key-env NAME), in a file that only you can read (--key-file PATH), or in a password manager (--key-cmd COMMAND)"

const (
	// service is the name under which all of Relo's keys stand.
	service = "relo"
	// askTime is how long a keyring may take: a locked one asks a person for a password.
	askTime = time.Minute
)

// store is a keyring as the system's libraries have it.
type store interface {
	Set(service, user, password string) error
	Get(service, user string) (string, error)
	Delete(service, user string) error
}

// Ring is one keyring.
type Ring struct {
	store store
	ready func() error // an error: there is no keyring, and asking would hang or start things
}

// System is the keyring of this machine. It is not opened before it is used.
func System(getenv func(string) string) *Ring {
	return &Ring{store: machine{}, ready: func() error { return reachable(getenv) }}
}

// machine is go-keyring's choice for the system.
type machine struct{}

func (machine) Set(s, user, password string) error { return system.Set(s, user, password) }
func (machine) Get(s, user string) (string, error) { return system.Get(s, user) }
func (machine) Delete(s, user string) error        { return system.Delete(s, user) }

// Memory is a keyring that is forgotten with the process, for tests.
func Memory() *Ring {
	return &Ring{store: &memory{keys: map[string]string{}}, ready: func() error { return nil }}
}

type memory struct {
	mu   sync.Mutex
	keys map[string]string
}

func (m *memory) Set(_, user, password string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keys[user] = password
	return nil
}

func (m *memory) Delete(_, user string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.keys, user)
	return nil
}

func (m *memory) Get(_, user string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, ok := m.keys[user]; ok {
		return v, nil
	}
	return "", system.ErrNotFound
}

// Get gives what is kept under a name; nothing is ErrAbsent.
func (r *Ring) Get(ctx context.Context, name string) (string, error) {
	var value string
	err := r.ask(ctx, func() (err error) {
		value, err = r.store.Get(service, name)
		return err
	})
	if err != nil {
		return "", about(name, err)
	}
	return value, nil
}

// about names what was asked for, where there is a keyring to ask.
func about(name string, err error) error {
	if errors.Is(err, ErrNone) {
		return err
	}
	return fmt.Errorf("keyring %s: %w", name, err)
}

// Put keeps a key under a name and reads it back, so that what is said to be
// stored is.
func (r *Ring) Put(ctx context.Context, name string, key secret.Value) error {
	if err := r.ask(ctx, func() error { return r.store.Set(service, name, key.Reveal()) }); err != nil {
		return about(name, err)
	}
	kept, err := r.Get(ctx, name)
	if err == nil && kept != key.Reveal() {
		err = fmt.Errorf("keyring %s: %w", name, ErrChange)
	}
	return err
}

// Drop forgets a name; one that is not there is ErrAbsent.
func (r *Ring) Drop(ctx context.Context, name string) error {
	if err := r.ask(ctx, func() error { return r.store.Delete(service, name) }); err != nil {
		return about(name, err)
	}
	return nil
}

// ask does one thing with the keyring. The libraries know no context: when ours
// ends first the goroutine stays until the keyring answers, and its answer is dropped.
func (r *Ring) ask(ctx context.Context, do func() error) error {
	if err := r.ready(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return read(err)
	case <-ctx.Done():
		return fmt.Errorf("the keyring does not answer; is it locked? %w", ctx.Err())
	}
}

// read puts the libraries' errors into ours. None of them holds a key.
func read(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, system.ErrNotFound):
		return ErrAbsent
	case errors.Is(err, system.ErrUnsupportedPlatform), strings.Contains(err.Error(), "org.freedesktop.secrets"), strings.Contains(err.Error(), "dbus"):
		return fmt.Errorf("%w: no secret service answers on the session's bus; %s", ErrNone, Instead)
	case errors.Is(err, system.ErrSetDataTooBig):
		return fmt.Errorf("the key is longer than this keyring takes: %w", err)
	}
	return fmt.Errorf("the keyring refused: %w", err)
}
