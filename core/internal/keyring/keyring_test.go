package keyring

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/relo-dev/relo/core/internal/secret"
)

func TestAKeyIsKeptReadBackAndForgotten(t *testing.T) {
	t.Parallel()
	r, ctx := Memory(), t.Context()
	if _, err := r.Get(ctx, "acme"); !errors.Is(err, ErrAbsent) {
		t.Errorf("an empty keyring gives %v", err)
	}
	if err := r.Put(ctx, "acme", secret.New("sk-one")); err != nil {
		t.Fatal(err)
	}
	if v, err := r.Get(ctx, "acme"); err != nil || v != "sk-one" {
		t.Errorf("%v", err)
	}
	if err := r.Drop(ctx, "acme"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Get(ctx, "acme"); !errors.Is(err, ErrAbsent) {
		t.Errorf("after Drop: %v", err)
	}
}

// odd is a keyring that fails in one way.
type odd struct {
	err   error
	gives string
	hang  chan struct{}
}

func (o odd) Set(string, string, string) error { return o.err }
func (o odd) Delete(string, string) error      { return o.err }
func (o odd) Get(string, string) (string, error) {
	if o.hang != nil {
		<-o.hang
	}
	return o.gives, o.err
}

func TestWhatIsNotReadBackIsNotStored(t *testing.T) {
	t.Parallel()
	r := &Ring{store: odd{gives: "sk-other"}, ready: func() error { return nil }}
	err := r.Put(t.Context(), "acme", secret.New("sk-mine"))
	if !errors.Is(err, ErrChange) || strings.Contains(fmt.Sprint(err), "sk-") {
		t.Errorf("%v", err)
	}
}

func TestAServiceThatIsNotThereIsNamedWithWhatToUseInstead(t *testing.T) {
	t.Parallel()
	r := &Ring{store: odd{err: errors.New("The name org.freedesktop.secrets was not provided by any .service files")}, ready: func() error { return nil }}
	if _, err := r.Get(t.Context(), "acme"); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), Instead) {
		t.Errorf("%v", err)
	}
}

func TestWithoutABusNothingIsStarted(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // the other systems' keyrings need no bus
	}
	t.Parallel()
	dir := t.TempDir()
	env := map[string]string{"XDG_RUNTIME_DIR": dir}
	r := System(func(n string) string { return env[n] })
	began := time.Now()
	_, err := r.Get(t.Context(), "acme")
	if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), Instead) || time.Since(began) > time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
	if err := os.WriteFile(dir+"/bus", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := reachable(func(n string) string { return env[n] }); err != nil {
		t.Errorf("a bus is there: %v", err)
	}
}

func TestAKeyringThatHangsIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		r := &Ring{store: odd{hang: hang}, ready: func() error { return nil }}
		_, err := r.Get(t.Context(), "acme")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		close(hang)
	})
}
