// Package routing decides which model gets a task: a walk over the ladder, up
// first, then down, to the nearest model that can do it. Every choice carries
// its reasons. The package is pure; who runs the model is not its business.
package routing

import (
	"fmt"
	"slices"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Rung is one step of the ladder: a chain of models (the next takes over when
// one fails) and the difficulty that it is for, when the person named one.
type Rung struct {
	Models     []catalog.Model
	Difficulty job.Difficulty
}

// Ladder holds the rungs, weakest first.
type Ladder []Rung

// Need is what a task asks of a model.
type Need struct {
	Vision  bool // sees pictures; soft: when nobody sees, the task is done blind and said so
	Tools   bool // calls tools
	Context int  // tokens; 0: any
	Private bool // on the person's own machines
}

// Codes of reasons.
const (
	CodeDifficulty = "difficulty"
	CodeNeedsEyes  = "needs-eyes"
	CodeUp         = "up"
	CodeDown       = "down"
	CodeBlindAll   = "nobody-sees"
	CodeChosen     = "chosen"
	CodeEscalated  = "escalated"
	CodeStay       = "stay"
	CodeOther      = "other-eyes"
	CodeSame       = "same-model"
	CodeRoute      = "route"
	CodeUnfit      = "unfit"
)

// Choice is a decision. Chain holds the models that may serve it, best first;
// Model is its head. OK is false when no model of the ladder fits the hard needs.
type Choice struct {
	Rung    int
	Model   catalog.Model
	Chain   []catalog.Model
	Reasons []job.Reason
	OK      bool
}

// Words joins the reasons into one sentence.
func (c Choice) Words() string { return Words(c.Reasons) }

// Words joins reasons into one sentence.
func Words(reasons []job.Reason) string {
	out := ""
	for i, r := range reasons {
		if i > 0 {
			out += "; "
		}
		out += r.Words
	}
	return out
}

func reason(code, format string, args ...any) job.Reason {
	return job.Reason{Code: code, Words: fmt.Sprintf(format, args...)}
}

// unfit says why m does not meet the hard needs; empty when it does.
func unfit(m catalog.Model, n Need) string {
	switch {
	case !m.Chat:
		return "it is not a chat model"
	case n.Tools && !m.Tools:
		return "it does not call tools"
	case n.Private && !m.Private:
		return "it is not on your own machines"
	case n.Context > 0 && m.Context > 0 && m.Context < n.Context:
		return fmt.Sprintf("its context of %d tokens is too small", m.Context)
	}
	return ""
}

// fit gives the rung's models that meet the hard needs, and of those only the
// seeing ones when eyes is set.
func (r Rung) fit(n Need, eyes bool) []catalog.Model {
	var out []catalog.Model
	for _, m := range r.Models {
		if unfit(m, n) == "" && (!eyes || m.Sight.Sight == vision.Sees) {
			out = append(out, m)
		}
	}
	return out
}

var levels = map[job.Difficulty]int{job.Easy: 0, job.Normal: 1, job.Hard: 2}

// Start is the rung of a difficulty: the one that names it, else the nearest
// above, else the nearest below. A ladder without any difficulty is divided evenly.
func (l Ladder) Start(d job.Difficulty) int {
	want, labelled := levels[d], -1
	for i, r := range l {
		if r.Difficulty == "" {
			continue
		}
		if levels[r.Difficulty] >= want {
			return i
		}
		labelled = i
	}
	switch {
	case labelled >= 0 && labelled+1 < len(l):
		return labelled + 1
	case labelled >= 0:
		return labelled
	default:
		return want * (len(l) - 1) / 2
	}
}

// walk lists the rungs from at upward, then downward.
func (l Ladder) walk(at int) []int {
	var order []int
	for i := at; i < len(l); i++ {
		order = append(order, i)
	}
	for i := at - 1; i >= 0; i-- {
		order = append(order, i)
	}
	return order
}

// Seeing returns the nearest rung that sees and meets the hard needs: from at
// upward, then downward. When nobody sees it returns at, and ok is false.
// Unknown does not count as seeing.
func (l Ladder) Seeing(at int, n Need) (rung int, ok bool) {
	for _, i := range l.walk(at) {
		if len(l[i].fit(n, true)) > 0 {
			return i, true
		}
	}
	return at, false
}

// Pick chooses the model of a task's first attempt.
func (l Ladder) Pick(d job.Difficulty, n Need) Choice {
	if len(l) == 0 {
		return Choice{Reasons: []job.Reason{reason(CodeUnfit, "the ladder is empty")}}
	}
	start := l.Start(d)
	reasons := []job.Reason{reason(CodeDifficulty, "%s, so %s is the model for it", d, l[start].Models[0].Ref)}
	if !n.Vision {
		return l.settle(start, n, false, reasons)
	}
	rung, ok := l.Seeing(start, n)
	if !ok {
		reasons = append(reasons, reason(CodeBlindAll, "it needs eyes, but no model of the ladder sees, so it is done blind and a person must look"))
		return l.settle(start, n, false, reasons)
	}
	reasons = append(reasons, l.wayTo(start, rung, n)...)
	return l.settle(rung, n, true, reasons)
}

// wayTo words the move from the rung of the difficulty to the one that sees.
func (l Ladder) wayTo(start, rung int, n Need) []job.Reason {
	sees := l[rung].fit(n, true)[0]
	from := l[start].Models[0]
	if rung == start {
		return []job.Reason{reason(CodeNeedsEyes, "it needs eyes and %s sees images (%s)", sees.Ref, sees.Sight.Source.Words())}
	}
	code, way := CodeUp, "up"
	if rung < start {
		code, way = CodeDown, "down"
	}
	steps := max(rung-start, start-rung)
	return []job.Reason{
		reason(CodeNeedsEyes, "it needs eyes and %s %s", from.Ref, sightWords(from.Sight)),
		reason(code, "so %d %s %s to %s, which sees images (%s)", steps, plural(steps, "step", "steps"), way, sees.Ref, sees.Sight.Source.Words()),
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func sightWords(a vision.Answer) string {
	switch a.Sight {
	case vision.Sees:
		return "sees images (" + a.Source.Words() + ")"
	case vision.Blind:
		return "is text only (" + a.Source.Words() + ")"
	default:
		return "is not known to see"
	}
}

// settle takes the wished rung, or the nearest whose models meet the hard needs.
func (l Ladder) settle(rung int, n Need, eyes bool, reasons []job.Reason) Choice {
	for _, i := range l.walk(rung) {
		chain := l[i].fit(n, eyes)
		if len(chain) == 0 {
			continue
		}
		if i != rung {
			reasons = append(reasons, reason(CodeUnfit, "%s does not fit (%s), so %s takes it", l[rung].Models[0].Ref, unfit(l[rung].Models[0], n), chain[0].Ref))
		}
		return Choice{Rung: i, Model: chain[0], Chain: chain, Reasons: reasons, OK: true}
	}
	first := l[rung].Models[0]
	return Choice{Rung: rung, Reasons: append(reasons, reason(CodeUnfit, "no model of the ladder fits: of %s, %s", first.Ref, unfit(first, n)))}
}

// Escalate chooses the model of the next attempt after one on rung from failed:
// the next rung up that meets the needs; for a task with eyes only rungs that
// see. From a blind rung that is the nearest seeing one above, else below; from
// the highest that fits it stays.
func (l Ladder) Escalate(from int, n Need) Choice {
	if from < 0 || from >= len(l) {
		return Choice{Reasons: []job.Reason{reason(CodeUnfit, "the ladder has no rung %d any more", from+1)}}
	}
	eyes := false
	if n.Vision {
		_, eyes = l.Seeing(from, n)
	}
	for i := from + 1; i < len(l); i++ {
		if chain := l[i].fit(n, eyes); len(chain) > 0 {
			return Choice{Rung: i, Model: chain[0], Chain: chain, OK: true,
				Reasons: []job.Reason{reason(CodeEscalated, "the last attempt failed on %s, so %s tries next", l[from].Models[0].Ref, chain[0].Ref)}}
		}
	}
	if len(l[from].fit(n, eyes)) == 0 { // a blind rung, and nobody above sees
		rung, _ := l.Seeing(from, n)
		return l.settle(rung, n, eyes, []job.Reason{reason(CodeDown, "%s cannot see and no rung above does, so the nearest below that sees tries next", l[from].Models[0].Ref)})
	}
	return l.settle(from, n, eyes, []job.Reason{reason(CodeStay, "%s is the highest that fits, so it tries again", l[from].fit(n, eyes)[0].Ref)})
}

// Reviewer chooses who reviews the work of author on rung: the same rung or
// higher, another model than the author when there is one, and one that sees
// for a task with eyes.
func (l Ladder) Reviewer(author catalog.Ref, rung int, n Need) Choice {
	if rung < 0 || rung >= len(l) {
		rung = len(l) - 1
	}
	eyes := false
	if n.Vision {
		_, eyes = l.Seeing(rung, n)
	}
	for _, i := range l.walk(rung) {
		if chain := others(l[i].fit(n, eyes), author); len(chain) > 0 {
			reasons := []job.Reason{reason(CodeOther, "a review by another model than the author: %s", chain[0].Ref)}
			if eyes {
				reasons = append(reasons, reason(CodeNeedsEyes, "it needs eyes and %s %s", chain[0].Ref, sightWords(chain[0].Sight)))
			}
			return Choice{Rung: i, Model: chain[0], Chain: chain, Reasons: reasons, OK: true}
		}
	}
	return l.settle(rung, n, eyes, []job.Reason{reason(CodeSame, "no other model fits, so the author's own reviews")})
}

func others(chain []catalog.Model, author catalog.Ref) []catalog.Model {
	return slices.DeleteFunc(slices.Clone(chain), func(m catalog.Model) bool { return m.Ref == author })
}

// Chosen is a model that the person set: it is taken as it is and never escalated.
func Chosen(m catalog.Model) Choice {
	return Choice{Rung: -1, Model: m, Chain: []catalog.Model{m}, OK: true,
		Reasons: []job.Reason{reason(CodeChosen, "you chose %s", m.Ref)}}
}

// Via takes the first model of a route set by the person that fits; with eyes
// wanted only one that sees. OK is false when none does.
func Via(name string, route []catalog.Model, n Need) Choice {
	chain := Rung{Models: route}.fit(n, n.Vision)
	if len(chain) == 0 {
		return Choice{}
	}
	return Choice{Rung: -1, Model: chain[0], Chain: chain, OK: true,
		Reasons: []job.Reason{reason(CodeRoute, "%s leads the route for %s", chain[0].Ref, name)}}
}
