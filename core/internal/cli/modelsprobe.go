package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider/probe"
	"github.com/relo-dev/relo/core/internal/vision"
)

func (s *shell) modelsProbeCmd() *cobra.Command {
	var ladder bool
	c := &cobra.Command{
		Use: "probe REF...", Short: "Show models a tiny picture to find out whether they see",
		Long: "Show each model a picture of one colour and one of a digit, 64 by 64 pixels, and ask what is on them. What it shows is\n" +
			"kept with its date and endpoint and counts more than what the provider or the catalogue says. Two to six tiny\n" +
			"requests a model, which cost a little at paid providers and are in no job's costs.\n" +
			"Exit code 4 when a key or its account is the reason that there is no answer, 1 when something else failed.",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && !ladder {
				return refsMissing(c, args)
			}
			return s.modelsProbe(c.Context(), args, ladder)
		},
	}
	c.Flags().BoolVar(&ladder, "ladder", false, "all models of the ladder, and the primary")
	return c
}

func (s *shell) modelsProbe(ctx context.Context, refs []string, ladder bool) error {
	p, cfg, err := s.providersHere()
	if err != nil {
		return err
	}
	if ladder {
		refs = append(refs, app.LadderModels(cfg)...)
	}
	if len(refs) == 0 {
		return &usageError{words: "no ladder and no primary are set, so there is nothing to probe", hint: s.typed("config", "init") + " proposes them"}
	}
	docs, badKey, failed := []app.Probed{}, false, false
	s.begun("showing %s tiny pictures", count(len(refs), "model", "models"))
	err = p.Probe(ctx, cfg, refs, func(x app.Probed) {
		docs = append(docs, x)
		badKey, failed = badKey || x.BadKey, failed || x.State == "fail"
		s.probedLine(x)
	})
	if err != nil {
		return err
	}
	s.forgetSeen(ctx, cfg, docs)
	if s.json {
		slices.SortFunc(docs, func(a, b app.Probed) int { return slices.Index(refs, a.Ref) - slices.Index(refs, b.Ref) })
		s.out.doc(map[string]any{"models": docs})
	}
	switch {
	case badKey:
		return ended(exitKey)
	case failed:
		return ended(exitError)
	}
	return nil
}

// probedLine tells one model as its probe ends.
func (s *shell) probedLine(x app.Probed) {
	if s.json {
		return
	}
	words := flat(x.Words, reasonRunes)
	switch {
	case x.State != "fail":
		words = x.Vision.Words() + "; " + words
	case !strings.HasPrefix(words, "no answer"):
		words = "no answer; " + words
	}
	s.out.line("%s: %s (%.1f s)", flat(x.Ref, 0), words, (time.Duration(x.MS) * time.Millisecond).Seconds())
	if x.Hint != "" {
		s.out.line("  %s", flat(x.Hint, reasonRunes))
	}
	if x.Kept && x.Now.Source != vision.Probed {
		s.out.line("  it counts only when nothing stronger does: %s, %s", x.Now.Vision.Words(), x.Now.Source.Words())
	}
	if x.Verdict == probe.Dropped {
		s.out.line("  something between here and the model leaves pictures out: another provider of the same model may not")
	}
}

// forgetSeen ends refusals that a running daemon learned of models which have seen a
// picture since.
func (s *shell) forgetSeen(ctx context.Context, cfg *config.Config, docs []app.Probed) {
	var seen []string
	for _, x := range docs {
		if x.Vision == vision.Sees {
			seen = append(seen, x.Ref)
		}
	}
	env, err := s.env("")
	if err != nil || len(seen) == 0 || !s.running(env, cfg) {
		return
	}
	err = s.askingWith(ctx, env, cfg, app.Any, func(l *link) error {
		doc, err := l.ForgetRefusals(ctx, protocol.ForgetRequest{Refs: seen})
		for _, m := range doc.Forgotten {
			s.note.line("%s had refused a picture since the daemon started; that is forgotten", flat(m.Ref, 0))
		}
		return err
	})
	if err != nil {
		s.note.line("whether the daemon learned a refusal of them could not be asked: %v", err)
	}
}

func (s *shell) modelsRefreshCmd() *cobra.Command {
	o := app.RefreshOptions{Catalog: true}
	c := &cobra.Command{
		Use: "refresh", Short: "Ask all providers for their lists of models, and fetch the newest catalogue", Args: none,
		Long: "Ask every provider whose discover is on for its list of models, and fetch the newest catalogue of models with your own npm\n" +
			"client, when there is one. What was known before stays where one of them cannot be reached.",
		RunE: func(c *cobra.Command, _ []string) error { return s.modelsRefresh(c.Context(), o) },
	}
	c.Flags().BoolVar(&o.Catalog, "catalog", true, "fetch the catalogue too")
	return c
}

func (s *shell) modelsRefresh(ctx context.Context, o app.RefreshOptions) error {
	p, cfg, err := s.providersHere()
	if err != nil {
		return err
	}
	lists, code, err := s.discover(ctx, p, cfg, app.DiscoverOptions{Force: true})
	if err != nil {
		return err
	}
	doc := map[string]any{"providers": lists}
	if o.Catalog {
		s.begun("fetching the newest catalogue with npm")
		fetched := p.RefreshCatalog(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		doc["catalog"] = fetched
		if !s.json {
			s.out.line("the catalogue: %s", flat(fetched.Words, 0))
		}
	}
	if s.json {
		s.out.doc(doc)
	}
	return ended(code)
}

// discover asks providers for their lists and tells each as it ends.
func (s *shell) discover(ctx context.Context, p app.Providers, cfg *config.Config, o app.DiscoverOptions) (lists []app.Listing, code int, err error) {
	lists = []app.Listing{}
	asked := len(o.Names)
	if asked == 0 {
		asked = len(cfg.Providers)
	}
	s.begun("asking %s for lists of models", count(asked, "provider", "providers"))
	err = p.Discover(ctx, cfg, o, func(l app.Listing) {
		lists = append(lists, l)
		switch {
		case l.BadKey:
			code = exitKey
		case l.State == "fail" && code == exitDone:
			code = exitError
		}
		s.listingLines(l)
	})
	return lists, code, err
}

// begun says on a terminal what is being waited for: the first line of the result may
// take as long as a model needs to be loaded.
func (s *shell) begun(format string, args ...any) {
	if s.terminal(s.note.w) {
		s.note.line(format+" …", args...)
	}
}

// changesShown is how many new, gone or changed ids of a list are named.
const changesShown = 8

func (s *shell) listingLines(l app.Listing) {
	if s.json {
		return
	}
	s.out.line("%s: %-4s  %s", flat(l.Provider, 0), l.State, flat(l.Words, reasonRunes))
	if l.Hint != "" {
		s.out.line("  %s", flat(l.Hint, reasonRunes))
	}
	some := func(word string, ids []string) {
		if len(ids) == 0 {
			return
		}
		more := ""
		if n := len(ids) - changesShown; n > 0 {
			ids, more = ids[:changesShown], fmt.Sprintf(" and %d more", n)
		}
		for i, id := range ids {
			ids[i] = flat(id, 0)
		}
		s.out.line("  %s: %s%s", word, strings.Join(ids, ", "), more)
	}
	some("new", slices.Clone(l.New))
	some("gone", slices.Clone(l.Gone))
	for _, c := range l.Changed[:min(len(l.Changed), changesShown)] {
		s.out.line("  %s: %s, was %s", flat(c.ID, 0), c.Now.Words(), c.Was.Words())
	}
	for _, n := range l.Notes {
		s.out.line("  %s", flat(n, reasonRunes))
	}
}
