// Package routing decides which model gets a task: a walk over the ladder, up
// first, then down, to the nearest model that can do it. Every choice carries
// its reasons. The package is pure; who runs the model is not its business.
package routing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
	words := make([]string, len(reasons))
	for i, r := range reasons {
		words[i] = r.Words
	}
	return strings.Join(words, "; ")
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

// eyes is the least that a walk asks of a model's sight.
type eyes int

const (
	anyEyes eyes = iota // sight does not matter
	maybe               // not known to be blind
	seeing              // known to see
)

// eyesOf gives the most that can be asked without leaving m out.
func eyesOf(m catalog.Model) eyes {
	switch m.Eyes() {
	case vision.Sees:
		return seeing
	case vision.Unknown:
		return maybe
	default:
		return anyEyes
	}
}

// fit gives the rung's models that meet the hard needs, and of those only the
// ones whose sight is at least as asked. For a task with eyes the best sight
// leads, otherwise in the person's order.
func (r Rung) fit(n Need, least eyes) []catalog.Model {
	var out []catalog.Model
	for _, m := range r.Models {
		if unfit(m, n) == "" && eyesOf(m) >= least {
			out = append(out, m)
		}
	}
	if n.Vision {
		slices.SortStableFunc(out, func(a, b catalog.Model) int { return cmp.Compare(eyesOf(b), eyesOf(a)) })
	}
	return out
}

// lead names the rung by its first model.
func (r Rung) lead() catalog.Model {
	if len(r.Models) == 0 {
		return catalog.Model{Ref: "an empty rung"}
	}
	return r.Models[0]
}

var levels = map[job.Difficulty]int{job.Easy: 0, job.Normal: 1, job.Hard: 2}

// Start is the rung of a difficulty: the one that names it, else the nearest
// above, else the nearest below. A rung without a difficulty that stands above
// all easier ones counts as above. A ladder that names no difficulty at all is
// divided evenly.
func (l Ladder) Start(d job.Difficulty) int {
	want, above, below := levels[d], -1, -1
	for i, r := range l {
		have := levels[r.Difficulty]
		switch {
		case r.Difficulty == "":
		case have == want:
			return i
		case have > want && (above < 0 || have < levels[l[above].Difficulty]):
			above = i
		case have < want && (below < 0 || have >= levels[l[below].Difficulty]):
			below = i
		}
	}
	switch {
	case above >= 0:
		return above
	case below >= 0 && below+1 < len(l) && l[below+1].Difficulty == "":
		return below + 1
	case below >= 0:
		return below
	default:
		return want * max(len(l)-1, 0) / 2
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
		if len(l[i].fit(n, seeing)) > 0 {
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
	reasons := []job.Reason{reason(CodeDifficulty, "%s, so %s is the model for it", d, l[start].lead().Ref)}
	if !n.Vision {
		return l.settle(start, n, anyEyes, reasons)
	}
	rung, ok := l.Seeing(start, n)
	if !ok {
		reasons = append(reasons, reason(CodeBlindAll, "it needs eyes, but no model of the ladder that could take it sees, so it is done blind and a person must look"))
		return l.settle(start, n, anyEyes, reasons)
	}
	reasons = append(reasons, l.wayTo(start, rung, n)...)
	return l.settle(rung, n, seeing, reasons)
}

// wayTo words the move from the rung of the difficulty to the one that sees.
func (l Ladder) wayTo(start, rung int, n Need) []job.Reason {
	sees := l[rung].fit(n, seeing)[0]
	from := l[start].lead()
	if rung == start {
		return []job.Reason{reason(CodeNeedsEyes, "it needs eyes and %s sees images (%s)", sees.Ref, sees.Sight.Source.Words())}
	}
	code, way := CodeUp, "up"
	if rung < start {
		code, way = CodeDown, "down"
	}
	steps := max(rung-start, start-rung)
	why := sightWords(from)
	if eyesOf(from) == seeing { // it sees and yet was passed over
		why = "does not fit: " + unfit(from, n)
	}
	return []job.Reason{
		reason(CodeNeedsEyes, "it needs eyes and %s %s", from.Ref, why),
		reason(code, "so %d %s %s to %s, which sees images (%s)", steps, plural(steps, "step", "steps"), way, sees.Ref, sees.Sight.Source.Words()),
	}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func sightWords(m catalog.Model) string {
	switch {
	case m.Sight.Sight == vision.Sees:
		return "sees images (" + m.Sight.Source.Words() + ")"
	case m.Sight.Sight == vision.Blind:
		return "is text only (" + m.Sight.Source.Words() + ")"
	case m.MayShow():
		return "is not known to see"
	default:
		return "is not known to see, and its provider takes no pictures"
	}
}

// settle takes the wished rung, or the nearest whose models meet the hard needs.
func (l Ladder) settle(rung int, n Need, least eyes, reasons []job.Reason) Choice {
	for _, i := range l.walk(rung) {
		chain := l[i].fit(n, least)
		if len(chain) == 0 {
			continue
		}
		if i != rung {
			reasons = append(reasons, reason(CodeUnfit, "%s does not fit (%s), so %s takes it", l[rung].lead().Ref, unfit(l[rung].lead(), n), chain[0].Ref))
		}
		return Choice{Rung: i, Model: chain[0], Chain: chain, Reasons: reasons, OK: true}
	}
	first := l[rung].lead()
	return Choice{Rung: rung, Reasons: append(reasons, reason(CodeUnfit, "no model of the ladder fits: of %s, %s", first.Ref, unfit(first, n)))}
}

// Escalate chooses the model of the next attempt after one on rung from failed:
// the next rung up that meets the needs. For a task with eyes only rungs that
// see: from a blind rung the nearest seeing one above, else below; when nobody
// sees, one that is known to be blind does not follow one that is not known. From
// the highest that fits it stays.
func (l Ladder) Escalate(from int, n Need) Choice {
	if from < 0 || from >= len(l) {
		return Choice{Reasons: []job.Reason{reason(CodeUnfit, "the ladder has no rung %d any more", from+1)}}
	}
	least, failed := l.leastAfter(from, n), l[from].lead().Ref //nolint:gosec // from was held against the ladder above
	for i := from + 1; i < len(l); i++ {
		if chain := l[i].fit(n, least); len(chain) > 0 {
			return Choice{
				Rung: i, Model: chain[0], Chain: chain, OK: true,
				Reasons: []job.Reason{reason(CodeEscalated, "the last attempt failed on %s, so %s tries next", failed, chain[0].Ref)},
			}
		}
	}
	if stay := l[from].fit(n, least); len(stay) > 0 {
		return l.settle(from, n, least, []job.Reason{reason(CodeStay, "%s is the highest that fits, so it tries again", stay[0].Ref)})
	}
	if least == seeing {
		rung, _ := l.Seeing(from, n)
		return l.settle(rung, n, seeing, []job.Reason{reason(CodeDown, "%s cannot do it with eyes and no rung above can, so the nearest below that sees tries next", failed)})
	}
	return l.settle(from, n, least, []job.Reason{reason(CodeDown, "the last attempt failed on %s, and no rung above fits", failed)})
}

// leastAfter is the sight that the attempt after one on rung from must have, so
// that a task with eyes never gets fewer than it had.
func (l Ladder) leastAfter(from int, n Need) eyes {
	if !n.Vision {
		return anyEyes
	}
	if _, ok := l.Seeing(from, n); ok {
		return seeing
	}
	if had := l[from].fit(n, anyEyes); len(had) > 0 {
		return eyesOf(had[0])
	}
	return anyEyes
}

// Reviewer chooses who reviews the work of author on rung: another model than
// the author when one fits, from the same rung up, then down, and one that sees
// for a task with eyes.
func (l Ladder) Reviewer(author catalog.Ref, rung int, n Need) Choice {
	if len(l) == 0 {
		return Choice{Reasons: []job.Reason{reason(CodeUnfit, "the ladder is empty")}}
	}
	if rung < 0 || rung >= len(l) {
		rung = len(l) - 1
	}
	least := anyEyes
	if n.Vision {
		if _, ok := l.Seeing(rung, n); ok {
			least = seeing
		}
	}
	for _, i := range l.walk(rung) {
		if chain := others(l[i].fit(n, least), author); len(chain) > 0 {
			reasons := []job.Reason{reason(CodeOther, "a review by another model than the author: %s", chain[0].Ref)}
			if least == seeing {
				reasons = append(reasons, reason(CodeNeedsEyes, "it needs eyes and %s %s", chain[0].Ref, sightWords(chain[0])))
			}
			return Choice{Rung: i, Model: chain[0], Chain: chain, Reasons: reasons, OK: true}
		}
	}
	for _, i := range l.walk(rung) { // only the author is left, or nobody
		if chain := l[i].fit(n, least); len(chain) > 0 {
			return Choice{
				Rung: i, Model: chain[0], Chain: chain, OK: true,
				Reasons: []job.Reason{reason(CodeSame, "no other model fits, so the author's own reviews: %s", chain[0].Ref)},
			}
		}
	}
	return l.settle(rung, n, least, nil)
}

func others(chain []catalog.Model, author catalog.Ref) []catalog.Model {
	return slices.DeleteFunc(slices.Clone(chain), func(m catalog.Model) bool { return m.Ref == author })
}

// Keep gives a task the model that it had, for an attempt that follows a loss:
// the rung's other models stand behind it as far as they meet the hard needs
// and, for a task with eyes, see no worse. A rung outside the ladder gives the
// model alone.
func (l Ladder) Keep(rung int, m catalog.Model, n Need, reasons []job.Reason) Choice {
	c := Choice{Rung: rung, Model: m, Chain: []catalog.Model{m}, Reasons: reasons, OK: true}
	if rung < 0 || rung >= len(l) {
		return c
	}
	least := eyes(0)
	if n.Vision {
		least = eyesOf(m)
	}
	c.Chain = append(c.Chain, others(l[rung].fit(n, least), m.Ref)...)
	return c
}

// Chosen is a model that the person set: it is taken as it is and never escalated.
func Chosen(m catalog.Model) Choice {
	return Choice{
		Rung: -1, Model: m, Chain: []catalog.Model{m}, OK: true,
		Reasons: []job.Reason{reason(CodeChosen, "you chose %s", m.Ref)},
	}
}

// Via takes the first model of a route set by the person that fits; with eyes
// wanted only one that sees. OK is false, with the reason, when none does.
func Via(name string, route []catalog.Model, n Need) Choice {
	least := anyEyes
	if n.Vision {
		least = seeing
	}
	chain := Rung{Models: route}.fit(n, least)
	if len(chain) == 0 {
		return Choice{Rung: -1, Reasons: []job.Reason{reason(CodeUnfit, "no model of the route for %s fits", name)}}
	}
	return Choice{
		Rung: -1, Model: chain[0], Chain: chain, OK: true,
		Reasons: []job.Reason{reason(CodeRoute, "%s leads the route for %s", chain[0].Ref, name)},
	}
}
