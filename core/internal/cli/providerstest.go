package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
)

func (s *shell) providersTestCmd() *cobra.Command {
	var o app.CheckOptions
	c := &cobra.Command{
		Use: "test [NAME]...", Short: "Try providers step by step: reach, key, models, one tiny answer a model",
		Long: "Try providers step by step: is the address reached, is the key good, which models are there, does each model\n" +
			"of the ladder answer. Each answer is one tiny request, which costs a little at paid providers.\n" +
			"Exit code 4 when a key or its account is the reason, 1 when something else failed.",
		RunE: func(c *cobra.Command, args []string) error {
			o.Names = args
			return s.providersTest(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.All, "all", false, "every model that the configuration names, not only those of the ladder")
	c.Flags().BoolVar(&o.Picture, "picture", false, "show each model a tiny picture too and ask for its colour")
	return c
}

// testedDoc is what came of one provider.
type testedDoc struct {
	Name  string     `json:"name"`
	OK    bool       `json:"ok"`
	Steps []app.Step `json:"steps"`
}

func (s *shell) providersTest(ctx context.Context, o app.CheckOptions) error {
	p, cfg, err := s.providersHere()
	if err != nil {
		return err
	}
	if len(cfg.Providers) == 0 {
		return &usageError{words: "no providers are configured, so there is nothing to test", hint: "relo config init proposes some, relo providers add NAME adds one"}
	}
	docs := []testedDoc{}
	badKey, failed := false, false
	err = p.Check(ctx, cfg, o, func(step app.Step) {
		if n := len(docs); n == 0 || docs[n-1].Name != step.Provider {
			docs = append(docs, testedDoc{Name: step.Provider, OK: true, Steps: []app.Step{}})
			s.stepHead(step)
		}
		last := &docs[len(docs)-1]
		last.Steps = append(last.Steps, step)
		if step.State == "fail" {
			last.OK, failed = false, true
		}
		badKey = badKey || step.BadKey
		s.stepLine(step)
	})
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(map[string]any{"providers": docs})
	}
	switch {
	case badKey:
		return &endError{exitKey}
	case failed:
		return &endError{exitError}
	}
	return nil
}

func (s *shell) stepHead(step app.Step) {
	if !s.json {
		s.out.line("%s", flat(step.Provider, 0))
	}
}

// stepLine tells a step as it ends: its mark in a word, what was tried, the time.
func (s *shell) stepLine(step app.Step) {
	if s.json {
		return
	}
	words := flat(step.Words, reasonRunes)
	if step.Model != "" {
		words = flat(step.Model, 0) + ": " + words
	}
	s.out.line("  %-4s  %s%s", step.State, words, took(step))
	if step.Hint != "" {
		s.out.line("        %s", flat(step.Hint, reasonRunes))
	}
}

// took is the time of a step that waited for somebody.
func took(step app.Step) string {
	d := time.Duration(step.MS) * time.Millisecond
	switch {
	case step.State == "skip" || step.Step == app.StepKey || step.Step == app.StepModels:
		return ""
	case d < time.Second:
		return fmt.Sprintf(" (%d ms)", step.MS)
	}
	return fmt.Sprintf(" (%.1f s)", d.Seconds())
}

// providersDiscover looks for what could be used here; with names it asks these
// providers for their lists.
func (s *shell) providersDiscover(ctx context.Context, names []string) error {
	if len(names) > 0 {
		return s.providersLists(ctx, names)
	}
	env, err := s.env("")
	if err != nil {
		return err
	}
	offer, err := app.FindOffer(ctx, env)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(offer)
		return nil
	}
	s.tellDiscovered(offer)
	return nil
}

func (s *shell) providersLists(ctx context.Context, names []string) error {
	p, cfg, err := s.providersHere()
	if err != nil {
		return err
	}
	lists, code, err := s.discover(ctx, p, cfg, app.DiscoverOptions{Names: names, Force: true})
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(map[string]any{"providers": lists})
	}
	return ended(code)
}

func (s *shell) tellDiscovered(offer app.Offer) {
	s.tellFound(s.out, offer)
	s.tellPrograms(s.out, offer)
	for _, n := range offer.Found.Notes {
		s.out.line("%s", flat(n, 0))
	}
	if offer.Config != "" {
		s.note.line("nothing was changed; %s proposes a configuration of it", s.typed("config", "init"))
	}
}

// tellFound says what was found and could be used as it is.
func (s *shell) tellFound(to *paper, o app.Offer) {
	if len(o.Providers) == 0 {
		to.line("%s", app.NothingFound)
		return
	}
	to.line("Found on this machine:")
	for _, p := range o.Providers {
		models := count(p.Models, "model", "models")
		if p.Key.Kind != "none" {
			models = "the catalogue knows " + models
		}
		to.line("  %s: %s; %s", flat(p.Name, 0), flat(p.Words, 0), models)
		if p.URL != "" {
			to.line("    address %s", flat(p.URL, 0))
		}
	}
}

// tellPrograms says what other agents' settings hold, and how it could be used.
func (s *shell) tellPrograms(to *paper, o app.Offer) {
	for _, prog := range o.Found.Programs {
		to.line("%s's settings (%s):", prog.Name, flat(strings.Join(prog.Files, ", "), 0))
		if len(prog.Offers) == 0 {
			to.line("  nothing that Relo could use")
		}
		for _, x := range prog.Offers {
			to.line("  %s: %s", flat(x.Name, 0), flat(x.Words, 0))
			if x.Usable() {
				to.line("    to use it: %s", calm(s.addCommand(x.Name, x.API, x.URL, x.KeyRef)))
			}
		}
	}
}

// addCommand is the command line that adds an offer.
func (s *shell) addCommand(name, api, url, ref string) string {
	words := []string{"providers", "add", quoted(name), "--api", api}
	if url != "" {
		words = append(words, "--url", quoted(url))
	}
	return s.typed(append(words, "--key", quoted(ref))...)
}

// typed is a command line for a person to type.
func (s *shell) typed(words ...string) string {
	return s.command(words[0], strings.Join(words[1:], " "))
}
