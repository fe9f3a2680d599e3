package board

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/routing"
	"github.com/relo-dev/relo/core/internal/vision"
)

// page is a task, whole: why it has its model, its attempts, the pictures that
// were looked at, and what it changes.
func (b *Board) page(t *job.Task, width int) []Line {
	about := About(taskWord(b.Job, t))
	p := &sheet{width: width}
	p.line(Flat(t.Title, 0), Bold)
	why := t.Reason
	if LaidAside(t.Status, why) {
		why = "" // the word says it
	}
	p.line(about.Icon+" "+join(": ", about.Word, Flat(why, 0)), about.Tone)
	p.line(needs(t), Dim)
	if t.Question != "" {
		p.line("asks: "+Flat(t.Question, 0), Warn)
	}
	p.heading("Why this model")
	p.item(join(": ", t.Model, routing.Words(t.Reasons)))
	if t.Sight != vision.Unknown || t.Source != "" {
		p.item(sight(t))
	}
	for _, e := range t.Escalated {
		p.item(join(": ", fmt.Sprintf("moved up from %s to %s", e.From, e.To), e.Why))
	}
	if len(t.Attempts) > 0 {
		p.heading("Attempts")
	}
	for _, a := range t.Attempts {
		p.item(attemptWords(a))
	}
	b.pictures(p, t)
	for i, v := range t.Verdicts {
		if i == 0 {
			p.heading("Reviews")
		}
		p.item(join(": ", v.Verdict, Flat(v.Summary, 0)))
		for _, f := range v.Findings {
			p.item("  " + Flat(f.File+" "+f.Text, 0))
		}
	}
	for i, said := range t.Said {
		if i == 0 {
			p.heading("You said")
		}
		p.item(Flat(said.Text, 0))
	}
	b.changes(p, t)
	return p.lines
}

func (b *Board) pictures(p *sheet, t *job.Task) {
	first := true
	for _, a := range t.Attempts {
		for _, l := range shownLooks(a) {
			if first {
				p.heading("Pictures that a model was shown")
			}
			first = false
			words := fmt.Sprintf("%s (%s, %dx%d) by %s, attempt %d", l.Path, l.Role, l.Sent.Width, l.Sent.Height, l.By, a.Number)
			if l.AfterLastEdit {
				words += ", after the last edit"
			}
			p.item(words)
		}
	}
}

func (b *Board) changes(p *sheet, t *job.Task) {
	diff, asked := b.diff[t.ID]
	p.heading("Changes")
	switch {
	case !asked:
		p.item("being fetched")
	case len(diff) == 0:
		p.item("none yet")
	}
	for _, l := range diff {
		tone := Plain
		switch {
		case strings.HasPrefix(l, "+"):
			tone = Good
		case strings.HasPrefix(l, "-"):
			tone = Bad
		case strings.HasPrefix(l, "@@"), strings.HasPrefix(l, "diff "):
			tone = Dim
		}
		p.lines = append(p.lines, Line{{Fit(strings.ReplaceAll(l, "\t", "    "), p.width), tone}})
	}
}

// needs are a task's kind, difficulty and eyes.
func needs(t *job.Task) string {
	words := []string{string(t.Kind())}
	if t.Difficulty != "" {
		words = append(words, string(t.Difficulty))
	}
	if t.Vision {
		words = append(words, "needs eyes")
	}
	return strings.Join(words, ", ")
}

func sight(t *job.Task) string {
	word := map[vision.Sight]string{vision.Sees: "images", vision.Blind: "text only"}[t.Sight]
	return join(": ", cmp.Or(word, "images: unknown"), t.Source.Words())
}

func attemptWords(a *job.Attempt) string {
	words := fmt.Sprintf("%d on %s", a.Number, a.Model)
	if a.Worker != "" {
		words += " (" + Flat(a.Worker, maxStep) + ")"
	}
	if a.End == nil {
		return join(": ", words, "under way, "+cmp.Or(Flat(a.LastStep, 0), "nothing told yet"))
	}
	return join(": ", words, string(a.End.Outcome), Flat(cmp.Or(a.End.Reason, a.End.Summary), 0))
}

// join puts words together and leaves empty ones out.
func join(by string, words ...string) string {
	var out []string
	for _, w := range words {
		if w != "" {
			out = append(out, w)
		}
	}
	return strings.Join(out, by)
}

func splitLines(text string) []string { return strings.Split(strings.TrimRight(text, "\n"), "\n") }

// sheet collects lines of one width.
type sheet struct {
	width int
	lines []Line
}

func (s *sheet) line(words string, tone Tone) {
	for _, l := range Wrap(words, s.width) {
		s.lines = append(s.lines, Line{{Fit(l, s.width), tone}})
	}
}

func (s *sheet) heading(words string) {
	s.lines = append(s.lines, nil, Line{{Fit(words, s.width), Bold}})
}

func (s *sheet) item(words string) {
	for _, l := range Wrap(Calm(words), s.width-2) {
		s.lines = append(s.lines, Line{{Fit("  "+l, s.width), Plain}})
	}
}

// foot is the answer to the last order, or what is being typed, and the keys.
func (b *Board) foot(width int) []Line {
	if b.typing {
		to := "the job"
		if t := b.Job.Tasks[b.selected]; t != nil {
			to = Flat(t.Title, maxStep)
		}
		prompt := Fit("say to "+to, width/2) + ": "
		return []Line{
			{{prompt, Bold}, {tail(string(b.typed), width-Width(prompt)-1) + "_", Plain}},
			{{Fit("Enter sends it, Esc leaves it", width), Dim}},
		}
	}
	return []Line{{{Fit(b.words, width), Warn}}, {{Fit(b.keyWords(width), width), Dim}}}
}

// tail is the end of a text that fits.
func tail(text string, width int) string {
	r := []rune(text)
	for Width(string(r)) > max(0, width) && len(r) > 0 {
		r = r[1:]
	}
	return string(r)
}

func (b *Board) keyWords(width int) string {
	pause := "p pause"
	if b.Job.Status == job.Paused || b.Job.Status == job.StoppedAtBudget {
		pause = "p resume"
	}
	open := "o open"
	if b.open {
		open = "o close"
	}
	if width < wide {
		return join("  ", pause, "s say", open, "? help")
	}
	return join("  ", pause, "s say", open, "up/down choose", "q quit", "? help")
}

func (b *Board) helpLines(width int) []Line {
	p := &sheet{width: width}
	p.line("Keys", Bold)
	leave := "leave the view; the job goes on"
	quit := leave
	if b.Here {
		quit, leave = "leave the view; lines tell how the job goes on", "cancel the job: it runs in this process"
	}
	for _, k := range [][2]string{
		{"up, down", "choose a task; Esc chooses none"},
		{"o, Enter", "open the task: why its model, pictures, changes"},
		{"s", "say something to the chosen task, or to the job"},
		{"p", "pause; running steps still end. Again: go on"},
		{"q", quit},
		{"Ctrl-C", leave},
		{"?", "this help"},
	} {
		key, indent := Pad(k[0], len("up, down"))+"  ", strings.Repeat(" ", len("up, down  "))
		for _, l := range Wrap(k[1], max(1, width-len(indent))) {
			p.lines = append(p.lines, Line{{Fit(key+l, width), Plain}})
			key = indent
		}
	}
	p.lines = append(p.lines, nil)
	p.line("States", Bold)
	for _, m := range Meanings() {
		for i, l := range Wrap(m.Icon+" "+m.Word+": "+m.Means, width) {
			if tone := m.Tone; i == 0 {
				p.lines = append(p.lines, Line{{Fit(l, width), tone}})
			} else {
				p.lines = append(p.lines, Line{{Fit(l, width), Plain}})
			}
		}
	}
	return p.lines
}
