// Package board draws a job as a person sees it on a terminal while it runs:
// which lines from which events, in which words, and what a key means. It knows
// no terminal, no clock and no API, and decides nothing about a job.
package board

import (
	"slices"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/job"
)

// Tone is how a piece of a line is shown; without colours only Bold and
// Selected remain. A state is never told by its tone alone.
type Tone int

// The tones.
const (
	Plain Tone = iota
	Bold
	Dim
	Active   // something works on it
	Good     //
	Warn     // a person should look
	Bad      //
	Selected // the row that keys act on
)

// Span is a piece of a line in one tone.
type Span struct {
	Text string
	Tone Tone
}

// Line is one row of the screen, never wider than the frame that it was drawn for.
type Line []Span

// String is the line without its tones.
func (l Line) String() string {
	var text strings.Builder
	for _, s := range l {
		text.WriteString(s.Text)
	}
	return text.String()
}

// Size is that of a screen, in columns and rows.
type Size struct{ Width, Height int }

// Board is what is shown of one job: its state, what happened beside it, and
// what the person chose to see. It is not safe for concurrent use.
type Board struct {
	Job   *job.Job                // folded by whoever follows it
	Local func(model string) bool // whose requests cost nothing that Relo could count; nil: unknown
	Plan  string                  // what to do about a plan that waits
	Here  bool                    // the job runs in this process: leaving the view does not leave it alone

	// Answers says that the view stays when an agent asks and nothing else goes on.
	Answers bool

	began  time.Time
	ended  time.Time
	steps  map[string]time.Time // of an attempt's last step
	usages []usage

	selected string // a task's id; empty: nobody chose, so the view looks at what is going on
	open     bool   // the selected task is shown whole
	help     bool
	scroll   int
	typing   bool
	typed    []rune
	crowded  bool      // not every task had a row in the last frame
	words    string    // the answer to the last order
	told     time.Time // when it was first drawn
	diff     map[string][]string
}

// usage is one request; the models that are local may become known later.
type usage struct {
	model string
	cost  *float64
}

// New makes a board for a job that is folded elsewhere.
func New(j *job.Job) *Board {
	return &Board{Job: j, steps: map[string]time.Time{}, diff: map[string][]string{}}
}

// Take notes what the state of the job does not hold. The event is folded already.
func (b *Board) Take(e job.Event) {
	if b.began.IsZero() {
		b.began = e.Time
	}
	switch u := e.Body.(type) {
	case *job.Step, *job.Started, *job.CheckResult, *job.Look:
		b.steps[e.Attempt] = e.Time
	case *job.UsageBody:
		b.usages = append(b.usages, usage{e.Model, u.Cost})
	case *job.StatusChange:
		if e.Task == "" {
			b.ended = time.Time{}
		}
	case *job.Finished:
		b.ended = e.Time
	}
}

// Tell shows the answer to an order under the tasks.
func (b *Board) Tell(words string) { b.words, b.told = Flat(words, maxWords), time.Time{} }

// Show gives what a task changed, for its open page.
func (b *Board) Show(task, diff string) {
	b.diff[task] = nil
	if diff = Calm(diff); diff != "" {
		b.diff[task] = splitLines(diff)
	}
}

// Sum is what the job cost so far.
func (b *Board) Sum() Sum {
	var s Sum
	for _, u := range b.usages {
		s.Add(1, u.cost, b.Local != nil && b.Local(u.model))
	}
	return s
}

// row is a task in its place: a review stands under what it looks at.
type row struct {
	task  *job.Task
	depth int
}

// rows lists the tasks: those that wait for the person first, else in the
// plan's order. When not all have room, those being worked on come next and those
// that have ended last.
func (b *Board) rows() []row {
	ranked := map[int][]row{}
	for _, t := range b.Job.List() {
		if t.ReviewOf != "" && b.Job.Tasks[t.ReviewOf] != nil {
			continue
		}
		family, rank := []row{{t, 0}}, b.rank(t)
		for _, r := range b.Job.ReviewsOf(t.ID) {
			family = append(family, row{r, 1})
			if !r.Status.Terminal() {
				rank = min(rank, b.rank(r))
			}
		}
		ranked[rank] = append(ranked[rank], family...)
	}
	return slices.Concat(ranked[rankYours], ranked[rankLive], ranked[rankOpen], ranked[rankEnded])
}

const (
	rankYours = iota
	rankLive
	rankOpen
	rankEnded
)

func (b *Board) rank(t *job.Task) int {
	switch {
	case taskWord(b.Job, t) == WordYou:
		return rankYours
	case !b.crowded:
		return rankOpen
	case t.Status.Terminal():
		return rankEnded
	case t.Status.Live(), t.Status == job.TaskReviewing:
		return rankLive
	}
	return rankOpen
}

// focus is the row that the view looks at: the chosen one, else the first that
// waits for the person or is being worked on.
func (b *Board) focus(rows []row) int {
	live := -1
	for i, r := range rows {
		if r.task.ID == b.selected {
			return i
		}
		if word := taskWord(b.Job, r.task); live < 0 && (word == WordYou || r.task.Status.Live()) {
			live = i
		}
	}
	return max(live, 0)
}
