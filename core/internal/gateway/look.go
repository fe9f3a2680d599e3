package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

// said is a description that is remembered.
type said struct {
	words string
	by    catalog.Ref
}

// Look has a model that sees answer a question about a picture. The same question about
// the same picture is asked once, also by callers at once; nothing of it reaches a disk.
// It returns *traffic.NobodyError when no model may look, *traffic.BudgetError, or why no
// model answered.
func (g *Gateway) Look(ctx context.Context, l traffic.Look) (traffic.Seen, error) {
	private := l.Private
	if m, ok := g.book.Model(l.Asker); ok && m.Private {
		private = true // what is shown to a model on the person's own machines stays there
	}
	chain := g.book.Lookers(l.Asker, private)
	if len(chain) == 0 {
		return traffic.Seen{}, nobody(private)
	}
	var cost *float64
	words, first, err := g.words.get(ctx, g.wordsKey(private, l.Asker, l.Picture.SHA256, l.Question), func(ctx context.Context) (said, int64, error) {
		ctx, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		w, spent, err := g.lookAt(ctx, l, chain, private)
		cost = spent
		return w, 1, err
	})
	if err != nil {
		return traffic.Seen{}, err
	}
	seen := traffic.Seen{Words: words.words, By: words.by, Cost: new(float64), Cached: !first}
	if first {
		seen.Cost = cost
	}
	return seen, nil
}

// wordsKey is what a description is known by: who may look is part of it, so that words
// of a model elsewhere are never taken for those of one on the person's own machines.
func (g *Gateway) wordsKey(private bool, asker catalog.Ref, sha, question string) string {
	head := catalog.Ref("")
	if chain := g.book.Lookers(asker, private); len(chain) > 0 {
		head = chain[0]
	}
	return fmt.Sprintf("%v %s %s %s", private, head, sha, question)
}

// lookAt asks until a model has seen the picture and answered.
func (g *Gateway) lookAt(ctx context.Context, l traffic.Look, chain []catalog.Ref, private bool) (said, *float64, error) {
	system, before := prompt.Look(l.Question)
	p := l.Picture
	if _, err := g.album.Blob(p.SHA256); err == nil {
		p.Bytes = nil // it was prepared, and is at hand
	}
	p.View = vision.View{ID: "look:" + job.NewID(), Path: p.View.Path, Role: vision.Other, Region: p.View.Region, Source: p.View.Source}
	call := traffic.Call{
		Job: l.Job, Task: l.Task, Attempt: l.Attempt, Traffic: job.TrafficVision, Private: private, Budget: l.Budget, Rules: l.Rules,
		Shown: map[string]bool{p.View.ID: true}, // the look is the asker's
		Request: provider.Request{System: system, MaxTokens: lookTokens, Messages: []provider.Message{{
			Role: provider.RoleUser, Parts: []provider.Part{provider.Text(before), provider.Show(p)},
		}}},
	}
	cost := new(float64)
	for len(chain) > 0 {
		call.Chain = chain
		a, err := g.Call(ctx, call)
		cost = plus(cost, a.Cost)
		if err != nil {
			return said{}, cost, lookFault(err)
		}
		if len(a.Blind) > 0 || len(a.Receipts) == 0 { // it answered without the picture
			chain = chain[slices.Index(chain, a.By)+1:]
			continue
		}
		if words := strings.TrimSpace(textOf(a.Message)); words != "" {
			return said{words, a.By}, cost, nil
		}
		return said{}, cost, fmt.Errorf("%s looked and said nothing; ask again, or ask something else", a.By)
	}
	return said{}, cost, nobody(private)
}

// nobody says that no model may look, and what to do.
func nobody(private bool) error {
	if private {
		return &traffic.NobodyError{Words: "no model may look at this picture: only those on the person's own machines may, and none of them is known to see; " +
			"use what can be read as text, say that nobody could look, or ask the person, who can name one under routes.vision"}
	}
	return &traffic.NobodyError{Words: "no model may look at this picture: none that is configured is known to see; " +
		"use what can be read as text, say that nobody could look, or ask the person, who can name one under routes.vision"}
}

// lookFault words why no model answered.
func lookFault(err error) error {
	if _, ok := errors.AsType[*traffic.BudgetError](err); ok {
		return err
	}
	return fmt.Errorf("nobody could look at the picture: %w", err)
}

func textOf(m provider.Message) string {
	var words []string
	for _, p := range m.Parts {
		if p.Kind == provider.PartText {
			words = append(words, p.Text)
		}
	}
	return strings.Join(words, "\n")
}

// plus adds costs; what one of them does not know is not known.
func plus(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}
