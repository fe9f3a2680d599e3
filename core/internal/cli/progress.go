package cli

import (
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/board"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/routing"
)

// lines puts one event into words; most steps have none. The event is folded
// already.
func (v *view) lines(e job.Event) []string {
	if e.Task != "" {
		var lines []string
		if t := v.state.Tasks[e.Task]; t != nil && e.Kind != job.KindTaskAdded {
			lines = v.taskLines(e, t)
		}
		if v.words[""] == board.WordPausing && !board.Pausing(v.state) && v.state.Status == job.Paused {
			v.words[""] = board.WordPaused
			lines = append(lines, fmt.Sprintf("job %s: %s", short(e.Job), board.WordPaused))
		}
		return lines
	}
	switch b := e.Body.(type) {
	case *job.Submitted:
		from := "from commit " + b.Base[:min(len(b.Base), shortCommit)]
		if b.Head == "" { // no commit of the person's is there
			from = "from the files as they are"
		} else if b.Dirty > 0 {
			from += ", which holds your " + count(b.Dirty, "uncommitted change", "uncommitted changes")
		}
		return []string{fmt.Sprintf("job %s: Planning, %s", short(e.Job), from)}
	case *job.Planned:
		switch {
		case b.Edited && b.Tasks == 0:
			return nil // another plan was asked for: only the old one goes
		case b.Edited:
			return []string{because("your plan has "+count(b.Tasks, "task", "tasks"), b.Summary)}
		}
		return []string{because("planned "+count(b.Tasks, "task", "tasks"), b.Summary)}
	case *job.StatusChange:
		word := jobState(job.Status(b.To))
		if board.Pausing(v.state) {
			word = board.WordPausing
		}
		if v.words[""] == word {
			return nil
		}
		v.words[""] = word
		if b.To == string(job.AwaitingApproval) && !v.plan {
			return []string{fmt.Sprintf("job %s: %s; %s", short(e.Job), word, v.sh.planHint(e.Job))}
		}
		return []string{because(fmt.Sprintf("job %s: %s", short(e.Job), word), b.Reason)}
	case *job.AppliedBody:
		return []string{fmt.Sprintf("applied %s; as it was before: %s", count(len(b.Files), "file", "files"), b.BackupRef)}
	case *job.Blinded:
		return []string{noticeWords(job.Notice{Level: "warn", Words: b.Words})}
	case *job.Notice:
		return []string{noticeWords(*b)}
	case *job.Said:
		return []string{"you said: " + flat(b.Text, lineRunes)}
	case *job.NewBudget:
		return []string{"the budget is now " + maybe(b.Budget) + " USD"}
	}
	return nil
}

// shortCommit is the length of a commit's id as shown.
const shortCommit = 10

func (v *view) taskLines(e job.Event, t *job.Task) []string {
	say := func(words string) []string { return []string{flat(t.Title, titleRunes) + ": " + words} }
	switch b := e.Body.(type) {
	case *job.StatusChange:
		if words := v.stateWords(t, job.TaskState(b.To), b); words != "" {
			return say(words)
		}
	case *job.WaitingBody:
		v.words[t.ID] = waitsForWorker
		return say(waitingWords(*b))
	case *job.Escalated:
		return say(because(fmt.Sprintf("moved up from %s to %s", b.From, b.To), b.Why))
	case *job.Look:
		if told := e.Attempt + lookWords(*b); !v.looks[told] {
			v.looks[told] = true
			return say(lookWords(*b))
		}
	case *job.CheckResult:
		return say(checkWords(*b))
	case *job.AttemptEnd:
		return endLines(say, t.Attempt(e.Attempt), b)
	case *job.Verdict:
		lines := say(because(verdictWords(b.Verdict), b.Summary))
		for _, f := range b.Findings {
			lines = append(lines, "  "+findingWords(f))
		}
		return lines
	case *job.Blinded:
		return say(noticeWords(job.Notice{Level: "warn", Words: b.Words}))
	case *job.Notice:
		return say(noticeWords(*b))
	case *job.Said:
		return say("you said: " + flat(b.Text, lineRunes))
	case *job.ChosenBody:
		return say("the next attempts are on " + b.Chosen)
	}
	return nil
}

// titleRunes is the longest title in a line.
const titleRunes = 60

// stateWords says a task's new state; a state whose word was told already, as
// when it waits first for others and then for a worker, is no news.
func (v *view) stateWords(t *job.Task, to job.TaskState, b *job.StatusChange) string {
	word, reason := board.TaskWord(to, v.state.Status), b.Reason
	if board.LaidAside(to, reason) {
		word, reason = board.HeldWord(reason, v.state.Status), ""
	}
	if to == job.TaskRework && b.From != string(job.TaskReviewing) {
		word = "Queued" // nobody asked for changes: the attempt itself came to nothing
	}
	if v.words[t.ID] == word || to == job.TaskFinished || (to == job.TaskDispatched && v.words[t.ID] != "") {
		return ""
	}
	v.words[t.ID] = word
	if to != job.TaskRunning || word != board.WordRunning {
		return because(word, reason)
	}
	words := fmt.Sprintf("%s, attempt %d on %s", word, t.Tried()+1, t.Model)
	return words + because("", routing.Words(t.Reasons))
}

func endLines(say func(string) []string, a *job.Attempt, b *job.AttemptEnd) []string {
	number := 1
	if a != nil {
		number = a.Number
	}
	if b.Question != "" {
		return say("asks: " + flat(b.Question, reasonRunes))
	}
	if b.Outcome != job.Done {
		return say(because(fmt.Sprintf("attempt %d ended: %s", number, b.Outcome), b.Reason))
	}
	if b.Visual == job.VisualUnavailable {
		return say("done, but nobody could look at the result")
	}
	return nil
}

func waitingWords(b job.WaitingBody) string {
	words := []string{because(waitsForWorker, b.For)}
	for _, w := range b.Workers {
		words = append(words, flat(w.Worker, titleRunes)+" "+flat(w.Reason, titleRunes))
	}
	return strings.Join(words, "; ")
}

func findingWords(f job.Finding) string {
	at := f.Severity
	if f.File != "" {
		at += " " + f.File
		if f.Line > 0 {
			at += fmt.Sprintf(":%d", f.Line)
		}
	}
	return because(flat(at, lineRunes), f.Text)
}

func noticeWords(n job.Notice) string {
	level := n.Level
	switch level {
	case "info", "":
		level = "note"
	case "warn":
		level = "warning"
	}
	return level + ": " + flat(n.Words, 2*lineRunes)
}

// stillWords says what is under way.
func (v *view) stillWords() string {
	running, queued := []string{}, 0
	for _, t := range v.state.List() {
		switch {
		case t.Status == job.TaskRunning:
			words := flat(t.Title, titleRunes)
			if a := t.Attempt(t.Current); a != nil && a.LastStep != "" {
				words += " (" + flat(a.LastStep, titleRunes) + ")"
			}
			running = append(running, words)
		case !t.Status.Terminal():
			queued++
		}
	}
	words := "still " + strings.ToLower(jobWord(v.state.Status))
	if len(running) > 0 {
		words += ": " + strings.Join(running, ", ")
	}
	if queued > 0 {
		words += fmt.Sprintf("; %d more to come", queued)
	}
	return words
}
