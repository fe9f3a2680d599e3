package app

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/config"
)

const (
	// listAge is how old a provider's list may be before the daemon asks again by
	// itself: models come and go in weeks.
	listAge = 24 * time.Hour
	// listLook is how often the daemon looks whether one is too old; a provider that
	// could not be reached is asked again as often.
	listLook = time.Hour
)

// keepKnown asks, in the background, the providers that the ladder and routes name for
// their lists of models when these are old, so that what endpoints report is known to
// the router without anybody waiting for it. Being offline costs nothing but a line in
// the log.
func (c *core) keepKnown(ctx context.Context) (wait func()) {
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c.askOldLists(ctx)
			select {
			case <-ctx.Done():
				return
			case <-time.After(listLook):
			}
		}
	})
	return work.Wait
}

func (c *core) askOldLists(ctx context.Context) {
	cfg, _, err := c.settings.of("")
	if err != nil {
		return // the faults of a config are told to who needs it
	}
	names := quietly(cfg)
	if len(names) == 0 {
		return
	}
	err = Providers{Env: c.env}.Discover(ctx, cfg, DiscoverOptions{Names: names, Older: listAge}, func(l Listing) {
		switch l.State {
		case stateOK:
			c.log.Info().Str("provider", l.Provider).Int("models", l.Models).Msg("a provider's list of models was read")
		case stateFail:
			c.log.Info().Str("provider", l.Provider).Str("why", l.Words).Msg("a provider's list of models could not be read")
		}
	})
	if err != nil && ctx.Err() == nil {
		c.log.Warn().Err(err).Msg("lists of models were not asked for")
	}
}

// quietly names the providers that may be asked without anybody noticing: those that
// jobs would use, unless discover is off or their key is fetched by a program or from
// the keyring, which may ask the person for a password.
func quietly(cfg *config.Config) []string {
	var names []string
	for _, ref := range cfg.Models() {
		name, _ := ref.Split()
		p := cfg.Providers[name]
		kind, is := config.Reference(p.Key)
		if p.Discovers() && p.Wire != "rehearsal" && !slices.Contains(names, name) && (!is || kind == "env" || kind == "file") {
			names = append(names, name)
		}
	}
	return names
}
