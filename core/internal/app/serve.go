package app

import (
	"context"
	"errors"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// Serve is the daemon in the foreground: it calls ready once the API answers,
// and returns when ctx has ended and its workers are gone.
func Serve(ctx context.Context, e Env, cfg *config.Config, ready func(protocol.StatusDoc)) (err error) {
	// Everything below the conductors outlives ctx for a moment, so that what is
	// under way can still be written down.
	c, err := openCore(context.WithoutCancel(ctx), e, cfg, kind{})
	if err != nil {
		return openFault(err)
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.publish(false); err != nil {
		return err
	}
	c.later(c.unpublish)
	wait, err := c.hire(ctx)
	if err != nil {
		return err
	}
	status, err := c.Status(ctx)
	if err != nil {
		return err
	}
	ready(status)
	<-ctx.Done()
	wait()
	return nil
}
