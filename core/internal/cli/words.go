package cli

import (
	"fmt"
	"math"
	"strings"

	"github.com/relo-dev/relo/core/internal/board"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// shortID is the length of an id as shown: the time in milliseconds that a
// version 7 id begins with, which tells a job from its own tasks.
const shortID = 13

// longID is the length of a whole id.
const longID = 36

func short(id string) string { return id[:min(len(id), shortID)] }

// jobWord is the state of a job as every view says it.
func jobWord(s job.Status) string { return board.JobWord(s, false) }

// jobState is the word with what it hides: whether the work was applied.
func jobState(s job.Status) string {
	switch s {
	case job.Ready:
		return "Done, not applied"
	case job.Applied:
		return "Done, applied"
	case job.Discarded:
		return "Cancelled, discarded"
	default:
		return jobWord(s)
	}
}

// idleState is the word for an active job that no process works on.
func idleState(s job.Status) string { return jobState(s) + ", but nobody works on it" }

const (
	goOnWords      = "relo daemon start goes on with it"
	firstJob       = `relo run "what should be done"`
	waitsForWorker = board.WordWorker
)

// taskWord is the state of a task of a running job.
func taskWord(s job.TaskState) string { return board.TaskWord(s, job.Running) }

// taskDocWord adds what only the whole task knows, and the state of its job.
func taskDocWord(t protocol.TaskDoc, in job.Status) string {
	if t.Status == job.TaskReady && t.Waiting != nil && in == job.Running {
		return waitsForWorker
	}
	if t.Question != "" && !t.Status.Terminal() {
		return board.WordYou
	}
	return board.TaskWord(t.Status, in)
}

// docState is the state of a whole job, with what its word hides.
func docState(doc protocol.JobDoc) string {
	if doc.Status == job.Paused {
		return board.JobWord(doc.Status, doc.Pausing)
	}
	return jobState(doc.Status)
}

func verdictWords(verdict string) string {
	switch verdict {
	case job.VerdictAccept:
		return "the review accepts it"
	case job.VerdictRework:
		return "the review asks for changes"
	case job.VerdictReject:
		return "the review rejects it"
	}
	return "the review says " + verdict
}

func lookWords(l job.Look) string {
	words := string(l.Role)
	switch {
	case l.How == job.HowDescribed:
		words += ", in words only"
	case l.How == job.HowDropped:
		words += ", left out"
	case l.AfterLastEdit:
		words += ", after the last edit"
	}
	return fmt.Sprintf("looked at %s (%s)", l.Path, words)
}

func checkWords(c job.CheckResult) string {
	if c.Exit == 0 {
		return fmt.Sprintf("check %q passed", flat(c.Command, lineRunes))
	}
	return fmt.Sprintf("check %q failed with exit code %d", flat(c.Command, lineRunes), c.Exit)
}

// lineRunes is the longest foreign text that is put into a line.
const lineRunes = 200

// reasonRunes is the longest reason in a line: those of a route are never cut in practice.
const reasonRunes = 500

// because adds a reason when there is one.
func because(words, reason string) string {
	reason = flat(reason, reasonRunes)
	last := words[strings.LastIndex(words, ": ")+1:]
	if reason == "" || strings.EqualFold(strings.TrimSpace(last), reason) { // "Paused: paused" says nothing more
		return words
	}
	return words + ": " + reason
}

func count(n int, one, many string) string { return board.Count(n, one, many) }

func usd(v float64) string { return board.USD(v) }

// tidy rounds a sum far below what anybody pays, so that adding leaves no
// trail of digits behind it.
func tidy(usd float64) float64 { return math.Round(usd*1e9) / 1e9 }

// maybe writes a sum that may be unknown.
func maybe(v *float64) string {
	if v == nil {
		return "unknown"
	}
	return usd(*v)
}

func number(n *int64) string {
	if n == nil {
		return "unknown"
	}
	return fmt.Sprint(*n)
}
