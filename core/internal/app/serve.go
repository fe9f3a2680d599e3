package app

import (
	"context"
	"errors"
	"time"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/store"
	"github.com/relo-dev/relo/core/internal/toolbox"
)

// Serve is the daemon in the foreground: it calls ready once the API answers, and
// returns when it was told to end, by ctx or by daemon.stop, and its workers are
// gone. A config that becomes faulty later does not end it: jobs are refused until
// it is mended.
func Serve(ctx context.Context, e Env, ready func(protocol.StatusDoc)) (err error) {
	e.Dir = "" // it serves all folders alike
	cfg, err := startConfig(e)
	if err != nil {
		return err
	}
	x := newExit()
	c, err := openServing(ctx, e, cfg, x)
	if err != nil {
		return openFault(err)
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.publish(false); err != nil {
		return err
	}
	c.later(c.unpublish)
	defer context.AfterFunc(ctx, x.ask)() // a signal is a wish too
	work, leave := within(context.WithoutCancel(ctx), x.soft)
	defer leave()
	wait, err := c.hire(work)
	if err != nil {
		leave()
		wait()
		return err
	}
	tidied, listed := c.keepTidy(work), c.keepKnown(work)
	status, err := c.Status(ctx)
	if err == nil {
		c.log.Info().Str("version", Version).Int("jobs", status.Jobs).Msg("the daemon serves")
		ready(status)
		<-work.Done()
	}
	c.orch.Quiesce() // what agents lay aside is not given to another worker that is about to leave too
	leave()
	c.log.Info().Msg("the daemon ends")
	wait()
	c.sweepCommands()
	tidied()
	listed()
	return err
}

// openServing opens what a daemon is made of. Everything below the conductors
// outlives ctx for a moment, so that what is under way can still be written down.
// Who only looks into the record has it for milliseconds and is waited for.
func openServing(ctx context.Context, e Env, cfg *config.Config, x *exit) (*core, error) {
	for end := time.Now().Add(startTime); ; {
		c, err := openCore(context.WithoutCancel(ctx), e, cfg, kind{exit: x})
		if _, locked := errors.AsType[*store.LockedError](err); !locked || time.Now().After(end) {
			return c, err
		}
		if _, ok := liveEndpoints(e); ok {
			return c, err // another daemon, or a standalone run
		}
		select {
		case <-ctx.Done():
			return c, err
		case <-time.After(startLook):
		}
	}
}

// sweepCommands ends what agents started whose workers did not come to an end in
// order: nothing of a job runs while nobody looks after it.
func (c *core) sweepCommands() {
	leases, err := c.store.Leases(context.Background())
	if err != nil {
		c.log.Error().Err(err).Msg("the commands of agents were not looked for")
	}
	for _, l := range leases {
		if n := toolbox.KillMarked(l.Attempt); n > 0 {
			c.log.Info().Str("attempt", l.Attempt).Int("processes", n).Msg("commands of an agent were ended")
		}
	}
}
