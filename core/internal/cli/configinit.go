package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/found"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// initFlags are the flags of config init.
type initFlags struct{ yes, dry, force bool }

func (s *shell) configInitCmd() *cobra.Command {
	var f initFlags
	c := &cobra.Command{
		Use: "init", Short: "Propose a configuration from what is on this machine, and write it when you say so",
		Long: "Look for keys in the environment, model servers on this machine and the settings of other agents, and propose\n" +
			"a configuration: providers, a ladder of models from weak to strong, and the one that plans.\n" +
			"Nothing is used or written before you say so. A configuration that is there is never written over\n" +
			"without --force, and then kept beside the new one.",
		Args: none, RunE: func(c *cobra.Command, _ []string) error { return s.configInit(c.Context(), f) },
	}
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "accept the proposal; what other agents' settings hold is not in it")
	c.Flags().BoolVarP(&f.dry, "dry-run", "n", false, "print the proposal and write nothing")
	c.Flags().BoolVar(&f.force, "force", false, "write although there is a configuration; the old one is kept beside it")
	return c
}

func (s *shell) configInit(ctx context.Context, f initFlags) error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	file := config.FindPlaces(s.getenv).File()
	if info, err := os.Stat(file); err == nil && info.Size() > 0 && !f.force && !f.dry {
		return &usageError{words: "there is a configuration already: " + file, hint: "--force writes a new one and keeps the old beside it; --dry-run only prints one; relo config set changes one value"}
	}
	offer, err := app.FindOffer(ctx, env)
	if err != nil {
		return err
	}
	asks := s.asks() && !f.yes && !f.dry && !s.json
	if asks {
		if offer, err = s.takeMore(ctx, env, offer); err != nil {
			return err
		}
	}
	if offer.Config == "" {
		s.tellFound(s.note, offer)
		return nothingToPropose(offer)
	}
	if f.dry {
		return s.printOffer(offer)
	}
	if !f.yes && !asks {
		return &usageError{words: "nobody can be asked here, and nothing is written unasked", hint: "--yes accepts the proposal, --dry-run prints it"}
	}
	if !s.json {
		s.tellOffer(offer)
	}
	if asks {
		if yes, err := s.agrees(ctx, "Write this to "+offer.File+"? [y/N] "); err != nil || !yes {
			return errors.Join(err, s.declined())
		}
	}
	return s.writeOffer(env, offer, f.force)
}

// declined ends a command whose question was answered with no.
func (s *shell) declined() error {
	s.note.line("nothing was written")
	return &endError{exitPerson}
}

func (s *shell) agrees(ctx context.Context, question string) (bool, error) {
	answer, err := s.ask(ctx, question)
	return answer == "y" || strings.EqualFold(answer, "yes"), err
}

func (s *shell) printOffer(o app.Offer) error {
	if s.json {
		s.out.doc(o)
		return nil
	}
	s.tellWarnings(o)
	s.out.raw(calm(o.Config))
	return nil
}

func (s *shell) writeOffer(env app.Env, o app.Offer, force bool) error {
	backup, err := app.AcceptOffer(env, o, force)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(map[string]any{"file": o.File, "backup": backup, "offer": o})
		return nil
	}
	s.out.line("wrote %s", o.File)
	if backup != "" {
		s.out.line("the old one is %s", backup)
	}
	s.note.line("%s tries the providers", s.typed("providers", "test"))
	return nil
}

// takeMore asks about each thing that another agent's settings hold.
func (s *shell) takeMore(ctx context.Context, env app.Env, o app.Offer) (app.Offer, error) {
	var taken []found.Offered
	for _, prog := range o.Found.Programs {
		for _, x := range prog.Offers {
			if !x.Usable() {
				continue
			}
			s.note.line("%s: %s (%s). The key stays there; Relo would fetch it with %s", prog.Name, flat(x.Name, 0), flat(x.Words, 0), flat(x.KeyRef, 0))
			yes, err := s.agrees(ctx, "Use it? [y/N] ")
			if err != nil {
				return o, err
			}
			if yes {
				taken = append(taken, x)
			}
		}
	}
	if len(taken) == 0 {
		return o, nil
	}
	return o.Take(env, taken)
}

// nothingToPropose says why there is no proposal, and what a person can do.
func nothingToPropose(o app.Offer) error {
	e := &protocol.Error{Code: protocol.CodeConfig, Message: "there is nothing to make a configuration of", Hint: addHint(o)}
	for _, w := range o.Warnings {
		if w.Code != app.CodeNothingFound {
			e.Message = w.Words
		}
	}
	return e
}

func addHint(o app.Offer) string {
	hint := "relo providers add anthropic asks for a key; ollama serve gives models without one; relo demo needs nothing"
	if len(o.Providers) > 0 {
		hint = "choose a model that calls tools, such as qwen3-coder; relo providers add NAME adds a provider; relo demo needs nothing"
	}
	for _, prog := range o.Found.Programs {
		for _, x := range prog.Offers {
			if x.Usable() {
				return "relo providers discover says what " + prog.Name + "'s settings hold; " + hint
			}
		}
	}
	return hint
}

// tellOffer shows a proposal to a person.
func (s *shell) tellOffer(o app.Offer) {
	s.tellFound(s.note, o)
	s.note.line("Proposed ladder, weakest first:")
	for _, r := range o.Ladder {
		difficulty := r.Difficulty
		if difficulty == "" {
			difficulty = "any"
		}
		for i, m := range r.Models {
			if i > 0 {
				difficulty = "  then"
			}
			s.note.line("  %-7s %s (%s, %s)", difficulty, flat(m.Ref, 0), m.Vision.Words(), m.Words)
		}
	}
	s.note.line("  plans   %s", flat(o.Primary, 0))
	if o.Vision != "" {
		s.note.line("  looks   %s, which describes pictures for the others", flat(o.Vision, 0))
	}
	s.tellWarnings(o)
}

func (s *shell) tellWarnings(o app.Offer) {
	for _, w := range o.Warnings {
		s.note.line("%s", flat(w.Words, 0))
	}
}

// firstConfig is for the first run on a machine: with no configuration at all it
// offers one, and goes on with it when the person says so.
func (s *shell) firstConfig(ctx context.Context, env app.Env, cfg *config.Config, yes bool) (*config.Config, error) {
	if !cfg.Empty || len(cfg.Providers) > 0 {
		return cfg, nil
	}
	s.note.line("there is no configuration yet: looking for keys and model servers on this machine")
	offer, err := app.FindOffer(ctx, env)
	switch {
	case err != nil:
		return nil, err
	case offer.Config == "":
		s.tellFound(s.note, offer)
		return nil, nothingToPropose(offer)
	case !yes && !s.asks():
		names := make([]string, 0, len(offer.Providers))
		for _, p := range offer.Providers {
			names = append(names, p.Name)
		}
		return nil, &protocol.Error{
			Code: protocol.CodeConfig, Message: fmt.Sprintf("there is no configuration yet; found here: %s. Nothing is used before you say so", strings.Join(names, ", ")),
			Hint: "relo config init shows a proposal and asks; --yes accepts it",
		}
	}
	s.tellOffer(offer)
	if !yes {
		if agreed, err := s.agrees(ctx, "Write this to "+offer.File+" and go on? [y/N] "); err != nil || !agreed {
			return nil, errors.Join(err, s.declined())
		}
	}
	if _, err := app.AcceptOffer(env, offer, false); err != nil {
		return nil, err
	}
	s.note.line("wrote %s", offer.File)
	return s.load(env)
}
