package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/vision"
)

func (s *shell) modelsCmd() *cobra.Command {
	var f listFlags
	list := func(c *cobra.Command, _ []string) error {
		return s.askingModels(c.Context(), func(l *link) error { return s.models(c.Context(), l, f) })
	}
	c := &cobra.Command{
		Use: "models", Short: "The models of the configuration, and whether they see", Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return group(c, args)
			}
			return list(c, args)
		},
	}
	s.addListFlags(c, &f)
	lists := &cobra.Command{Use: "list", Short: "List the models of the configuration, or with --all those of the providers' lists too", Args: none, RunE: list}
	s.addListFlags(lists, &f)
	c.AddCommand(lists, s.modelsWhyCmd(), s.modelsGuessCmd(), s.modelsProbeCmd(), s.modelsRefreshCmd(), s.modelsForgetCmd())
	return c
}

// askingModels opens the API for a command about models: the person's configuration
// is what is asked about, so a fault in it matters.
func (s *shell) askingModels(ctx context.Context, f func(*link) error) error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	cfg, err := s.load(env)
	if err != nil {
		return err
	}
	return s.askingWith(ctx, env, cfg, app.Any, f)
}

// listFlags choose what is listed.
type listFlags struct {
	all, sees, blind, unknown bool
	provider                  string
}

func (s *shell) addListFlags(c *cobra.Command, f *listFlags) {
	fl := c.Flags()
	fl.BoolVar(&f.all, "all", false, "those too that only their provider's list names, and those that answer nobody")
	fl.BoolVar(&f.sees, "sees", false, "only models that see images")
	fl.BoolVar(&f.blind, "blind", false, "only models that are text only")
	fl.BoolVar(&f.unknown, "unknown", false, "only models of which nobody knows")
	fl.StringVar(&f.provider, "provider", "", "only models of this provider")
	c.MarkFlagsMutuallyExclusive("sees", "blind", "unknown")
	_ = c.RegisterFlagCompletionFunc("provider", s.completer(providers)) // it fails only for a flag that is not there
}

// fits says whether a model is wanted by what the person filters with.
func (f listFlags) fits(m protocol.ModelDoc) bool {
	switch {
	case f.provider != "" && m.Provider != f.provider:
		return false
	case f.sees:
		return m.Vision == vision.Sees
	case f.blind:
		return m.Vision == vision.Blind
	case f.unknown:
		return m.Vision == vision.Unknown
	}
	return true
}

func (s *shell) models(ctx context.Context, l *link, f listFlags) error {
	doc, err := l.Models(ctx, protocol.ModelsRequest{All: f.all})
	if err != nil {
		return err
	}
	all := len(doc.Models)
	doc.Models = slices.DeleteFunc(doc.Models, func(m protocol.ModelDoc) bool { return !f.fits(m) })
	if s.json {
		if doc.Models == nil {
			doc.Models = []protocol.ModelDoc{}
		}
		s.out.doc(doc)
		return nil
	}
	if all == 0 {
		s.note.line("no models are configured; relo config schema prints the keys, relo demo needs none")
		return nil
	}
	rows, mute := [][]string{{"MODEL", "IMAGES", "FROM", "CONTEXT", "USD IN / OUT", "RUNG", ""}}, 0
	for _, m := range doc.Models {
		if !m.Chat && !f.all && len(m.Rungs) == 0 {
			mute++
			continue
		}
		rows = append(rows, modelRow(m))
	}
	if len(rows) > 1 {
		s.out.table(rows)
	} else {
		s.note.line("none of %s is like that", count(all, "model", "models"))
	}
	s.hiddenModels(doc, f, all-len(doc.Models), mute)
	return nil
}

// hiddenModels says what the list leaves out, and how to see it.
func (s *shell) hiddenModels(doc protocol.ModelsDoc, f listFlags, filtered, mute int) {
	var words []string
	if filtered > 0 && len(doc.Models) > 0 {
		words = append(words, count(filtered, "model more is not like that", "models more are not like that"))
	}
	if mute > 0 {
		words = append(words, count(mute, "answers nobody and is left out; --all lists it", "answer nobody and are left out; --all lists them"))
	}
	if doc.Left > 0 {
		words = append(words, count(doc.Left, "model", "models")+" of the lists did not fit into the answer")
	}
	if len(words) > 0 {
		s.note.line("%s", strings.Join(words, "; "))
	}
	unread := func(m protocol.ModelDoc) bool { return m.ListRead == nil }
	if f.all && !slices.ContainsFunc(doc.Models, func(m protocol.ModelDoc) bool { return !unread(m) }) {
		s.note.line("no provider's list was read yet; %s asks for them", s.typed("models", "refresh"))
	}
}

func modelRow(m protocol.ModelDoc) []string {
	from := m.VisionSource.Words()
	if m.VisionDetail != "" {
		from += " (" + flat(m.VisionDetail, titleRunes) + ")"
	}
	price := maybe(m.Price.Input) + " / " + maybe(m.Price.Output)
	if m.Price.Input == nil && m.Price.Output == nil {
		price = "unknown"
		if m.Private {
			price = "local"
		}
	}
	size := "unknown"
	if m.Context > 0 {
		size = strconv.Itoa(m.Context)
	}
	return []string{flat(m.Ref, 0), m.Vision.Words(), from, size, price, rungWords(m), strings.Join(modelNotes(m), ", ")}
}

func rungWords(m protocol.ModelDoc) string {
	var rungs []string
	for _, r := range m.Rungs {
		rungs = append(rungs, strconv.Itoa(r))
	}
	return strings.Join(rungs, ",")
}

// modelNotes are what a person should know of a model beside its sight.
func modelNotes(m protocol.ModelDoc) (notes []string) {
	if m.Private {
		notes = append(notes, "private")
	}
	if !m.Chat {
		notes = append(notes, "answers nobody")
	}
	if !m.Tools {
		notes = append(notes, "no tools")
	}
	if len(m.Rungs) > 0 && !m.Listed && m.ListRead != nil {
		notes = append(notes, "not in the provider's list of "+m.ListRead.UTC().Format(time.DateOnly))
	}
	return notes
}

// namedModels gives the models of refs, in their order; one that nobody knows is a
// usage error with what was probably meant.
func namedModels(ctx context.Context, l *link, refs []string) ([]protocol.ModelDoc, error) {
	doc, err := l.Models(ctx, protocol.ModelsRequest{Refs: refs})
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		if slices.ContainsFunc(doc.Models, func(m protocol.ModelDoc) bool { return m.Ref == ref }) {
			continue
		}
		all, err := l.Models(ctx, protocol.ModelsRequest{All: true})
		if err != nil {
			return nil, err
		}
		var known []string
		for _, m := range all.Models {
			known = append(known, m.Ref)
		}
		return nil, app.UnknownModel(ref, known)
	}
	return doc.Models, nil
}

// refsMissing asks for at least one model.
func refsMissing(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return &usageError{words: "REF is missing", hint: fmt.Sprintf("%s; %s lists the models", c.UseLine(), c.Root().Name()+" models")}
	}
	return nil
}
