package app

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/client"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

func TestTheDemoReachesAReadyJob(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
	defer cancel()
	d, done, err := StartDemo(ctx, Env{Getenv: os.Getenv, Dir: t.TempDir()}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = done() }()
	l, err := Open(ctx, d.Env, d.Config, Standalone)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	got, err := l.Submit(ctx, protocol.Submit{Text: d.Text, Repo: d.Repo})
	if err != nil {
		t.Fatal(err)
	}
	err = l.Follow(ctx, got.Job, 0, func(e job.Event) error {
		text, _ := e.MarshalJSON()
		t.Logf("%.400s", text)
		if e.Kind == job.KindFinished {
			return client.ErrStop
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := l.Show(ctx, got.Job)
	if err != nil || doc.Status != job.Ready {
		t.Fatalf("the job is %s: %s (%v)", doc.Status, doc.Reason, err)
	}
}
