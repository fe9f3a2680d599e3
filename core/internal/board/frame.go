package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/routing"
)

// Frame draws the whole view: at most size.Height lines of at most size.Width
// columns. now is for ages.
func (b *Board) Frame(size Size, now time.Time) []Line {
	if b.words != "" && b.told.IsZero() {
		b.told = now
	}
	if now.Sub(b.told) > staysFor {
		b.words = ""
	}
	top, bottom := b.head(size.Width, now), b.foot(size.Width)
	room := size.Height - len(top) - len(bottom)
	if room < 1 { // a sliver of a screen: what goes on is worth more than keys
		bottom, room = nil, size.Height-len(top)
	}
	var body []Line
	switch {
	case room < 1:
		return held(top[:max(0, min(len(top), size.Height))], size.Width)
	case b.help:
		body = cutTo(b.helpLines(size.Width), size.Width, 0, room)
	case b.open && b.Job.Tasks[b.selected] != nil:
		lines := b.page(b.Job.Tasks[b.selected], size.Width)
		b.scroll = max(0, min(b.scroll, len(lines)-room))
		body = cutTo(lines, size.Width, b.scroll, room)
	default:
		body = b.list(size.Width, room, now)
	}
	for len(body) < room {
		body = append(body, nil)
	}
	return held(append(append(top, body...), bottom...), size.Width)
}

// held cuts what the parts of a line together take too much of a narrow screen.
func held(lines []Line, width int) []Line {
	for i, l := range lines {
		left := width
		for k, s := range l {
			l[k].Text = Fit(s.Text, left)
			left -= Width(l[k].Text)
		}
		lines[i] = l
	}
	return lines
}

// Last draws the frame that stays behind when the view has ended: no keys, no
// blank rows, nothing chosen.
func (b *Board) Last(size Size, now time.Time) []Line {
	b.selected, b.open, b.help, b.typing, b.Answers, b.words = "", false, false, false, false, ""
	top := b.head(size.Width, now)
	return held(append(top, b.list(size.Width, max(1, size.Height-len(top)-1), now)...), size.Width)
}

func (b *Board) head(width int, now time.Time) []Line {
	j := b.Job
	about := About(JobWord(j.Status, Pausing(j)))
	state := about.Icon + " " + stateWords(j, about.Word)
	title := Flat(j.Title, 0)
	room := width - Width(state) - 2
	lines := []Line{{{Pad(title, max(room, minTitle)), Bold}, {"  ", Plain}, {state, about.Tone}}}
	if room < minTitle {
		lines = []Line{{{Fit(title, width), Bold}}, {{Fit(state, width), about.Tone}}}
	}
	facts := b.facts(now, "%d of %d")
	if Width(facts) > width {
		facts = b.facts(now, "%d/%d")
	}
	lines = append(lines, Line{{Fit(facts, width), Dim}})
	why := Flat(j.Reason, 0)
	if j.Status == job.AwaitingApproval {
		why = cmp.Or(b.Plan, why)
	}
	if b.Answers && b.asked() {
		why = "press s to answer, q to leave it for later"
	}
	if why != "" {
		lines = append(lines, Line{{Fit(why, width), Plain}})
	}
	return append(lines, nil)
}

// asked reports whether the whole job waits for an answer.
func (b *Board) asked() bool {
	return b.Job.Status == job.WaitingForPerson && slices.ContainsFunc(b.Job.List(), func(t *job.Task) bool { return t.Question != "" && !t.Status.Terminal() })
}

// stateWords is the job's word with what it hides.
func stateWords(j *job.Job, word string) string {
	switch j.Status { //nolint:exhaustive // the other words hide nothing
	case job.Ready:
		return word + ", not applied"
	case job.Applied:
		return word + ", applied"
	case job.AwaitingApproval:
		return word + ": the plan"
	}
	return word
}

// facts are the numbers of the job: what it is made of and is merged, cost of budget, time.
func (b *Board) facts(now time.Time, of string) string {
	done, all := 0, 0
	for _, t := range b.Job.List() {
		if t.Kind() != job.Work {
			continue // a review is no part of what was asked for
		}
		all++
		if t.Status == job.TaskAccepted {
			done++
		}
	}
	var parts []string
	if all > 0 {
		parts = append(parts, fmt.Sprintf(of, done, all)+" done")
	}
	parts = append(parts, costWords(b.Sum(), b.Job.Budget))
	if !b.began.IsZero() {
		end := now
		if !b.ended.IsZero() {
			end = b.ended
		}
		parts = append(parts, Lasting(end.Sub(b.began)))
	}
	return strings.Join(parts, ", ")
}

// costWords is the cost of the budget.
func costWords(s Sum, budget *float64) string {
	words, plain := s.Words(), s.Unknown == 0 && s.Local == 0
	switch {
	case budget != nil && plain:
		return words + " of " + USD(*budget) + " USD"
	case s.USD > 0 || plain:
		words += " USD"
	}
	if budget != nil {
		words += " (budget " + USD(*budget) + " USD)"
	}
	return words
}

// list draws the rows around the one that is looked at.
func (b *Board) list(width, room int, now time.Time) []Line {
	b.crowded = len(b.Job.Order) > room
	rows := b.rows()
	if len(rows) == 0 {
		words := "no tasks"
		if b.Job.Status == job.Planning || b.Job.Status == "" {
			words = "the tasks appear here when the plan is there"
		}
		return []Line{{{Fit(words, width), Dim}}}
	}
	c := b.columns(rows, width)
	var lines []Line
	focus, at, end := b.focus(rows), 0, 0
	for i, r := range rows {
		if i == focus {
			at = len(lines)
		}
		lines = append(lines, b.row(r, c))
		lines = append(lines, b.details(r, width, now)...)
		if i == focus {
			end = len(lines)
		}
	}
	if len(lines) <= room {
		return lines
	}
	from := max(0, min(at-room/before, len(lines)-room))
	if end-from > room-1 { // the whole of what is looked at, when it fits
		from = min(at, end-room+1)
	}
	return cutTo(lines, width, max(0, min(from, len(lines)-room)), room)
}

// cutTo shows room of the lines and says what is not shown.
func cutTo(lines []Line, width, from, room int) []Line {
	if len(lines) <= room {
		return lines
	}
	shown := append([]Line{}, lines[from:from+room]...)
	if from > 0 && room > 1 {
		shown[0] = Line{{Fit(fmt.Sprintf("... %s above", Count(from+1, "line", "lines")), width), Dim}}
	}
	if rest := len(lines) - from - room; rest > 0 {
		shown[room-1] = Line{{Fit(fmt.Sprintf("... %s below", Count(rest+1, "line", "lines")), width), Dim}}
	}
	return shown
}

// columns are the widths of a row's parts.
type columns struct{ title, word, model int }

func (b *Board) columns(rows []row, width int) columns {
	var c columns
	for _, r := range rows {
		c.title = max(c.title, Width(Flat(r.task.Title, 0))+2*r.depth)
		c.word = max(c.word, Width(taskWord(b.Job, r.task)))
		c.model = max(c.model, Width(Flat(r.task.Model, 0)))
	}
	c.model = min(c.model, maxModel)
	if width < wide {
		c.model = 0
	}
	rest := width - len("> o ") - c.word - 2
	if c.model > 0 {
		rest -= c.model + 2
	}
	c.title = max(minTitle, min(c.title, rest))
	return c
}

func (b *Board) row(r row, c columns) Line {
	about := About(taskWord(b.Job, r.task))
	mark, tone := "  ", Plain
	if r.task.ID == b.selected {
		mark, tone = "> ", Selected
	}
	line := Line{
		{mark + strings.Repeat("  ", r.depth), tone},
		{about.Icon + " ", about.Tone},
		{Pad(Flat(r.task.Title, 0), c.title-2*r.depth), tone},
		{"  ", Plain},
		{Pad(about.Word, c.word), about.Tone},
	}
	if c.model > 0 && r.task.Model != "" {
		line = append(line, Span{"  " + Fit(Flat(r.task.Model, 0), c.model), Dim})
	}
	return line
}

// details say of a task that goes on what it does, and of one that does not why.
func (b *Board) details(r row, width int, now time.Time) []Line {
	t := r.task
	indent := strings.Repeat(" ", len("> o ")+2*r.depth)
	var lines []Line
	add := func(words string, tone Tone) {
		if words = Flat(words, 0); words != "" {
			lines = append(lines, Line{{Fit(indent+words, width), tone}})
		}
	}
	switch word := taskWord(b.Job, t); word {
	case WordYou:
		add(yourWords(t), Warn)
	case WordWorker:
		add(waitingWords(t.Waiting), Dim)
	case WordFailed, WordLost, WordChanges:
		add(t.Reason, Dim)
	case WordRunning, WordPausing:
		a := t.Attempt(t.Current)
		if a == nil {
			return nil
		}
		add(modelWords(t, a, width), Dim)
		add(b.stepWords(a, now, width-Width(indent)), Plain)
	}
	return lines
}

// yourWords say what a task waits for.
func yourWords(t *job.Task) string {
	if t.Question != "" {
		return "asks: " + t.Question
	}
	return t.Reason
}

func waitingWords(w *job.WaitingBody) string {
	if w == nil {
		return ""
	}
	words := []string{w.For}
	for _, r := range w.Workers {
		words = append(words, r.Worker+" "+r.Reason)
	}
	return strings.Join(words, "; ")
}

// modelWords say why this model; in a narrow view also which.
func modelWords(t *job.Task, a *job.Attempt, width int) string {
	words := fmt.Sprintf("attempt %d", a.Number)
	if width < wide {
		words += " on " + t.Model
	}
	if why := routing.Words(t.Reasons); why != "" {
		words += ": " + why
	}
	return words
}

// stepWords say what was done last, how long ago, and what was looked at: the
// step is cut before the rest is.
func (b *Board) stepWords(a *job.Attempt, now time.Time, width int) string {
	rest := ""
	if at, ok := b.steps[a.ID]; ok {
		rest = " (" + Lasting(now.Sub(at)) + " ago)"
	}
	if shown := shownLooks(a); len(shown) > 0 {
		rest += fmt.Sprintf("; %s, last %s", Count(len(shown), "picture", "pictures"), Flat(shown[len(shown)-1].Path, 0))
	}
	step := cmp.Or(Flat(a.LastStep, 0), "begun")
	return Fit(step, max(minTitle, width-Width(rest))) + rest
}

// maxStep is the longest name in a sentence.
const maxStep = 60

// shownLooks are the pictures of an attempt that reached a model, each once
// although it stays in every later request.
func shownLooks(a *job.Attempt) []job.Look {
	var out []job.Look
	seen := map[string]bool{}
	for _, l := range a.Looks {
		if key := l.Path + "\x00" + l.SHA256; l.How == job.HowPixels && !seen[key] {
			seen[key] = true
			out = append(out, l)
		}
	}
	return out
}

// Lasting writes a time as people say it, in at most two units.
func Lasting(d time.Duration) string {
	d = max(0, d)
	s := int(d.Seconds())
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %02d s", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%d h %02d min", s/3600, s/60%60)
	}
	return fmt.Sprintf("%d d %02d h", s/86400, s/3600%24)
}
