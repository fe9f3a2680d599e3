package cli

import (
	"fmt"
	"math"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/vision"
)

// shortID is the length of an id as shown: the time in milliseconds that a
// version 7 id begins with, which tells a job from its own tasks.
const shortID = 13

// longID is the length of a whole id.
const longID = 36

func short(id string) string { return id[:min(len(id), shortID)] }

// jobWord is the state of a job as every view says it.
func jobWord(s job.Status) string {
	switch s {
	case job.Planning:
		return "Planning"
	case job.AwaitingApproval, job.WaitingForPerson:
		return "Waiting for you"
	case job.Running, job.Integrating:
		return "Running"
	case job.Paused:
		return "Paused"
	case job.StoppedAtBudget:
		return "Stopped at budget"
	case job.Ready, job.Applied:
		return "Done"
	case job.Failed:
		return "Failed"
	case job.Cancelled, job.Discarded:
		return "Cancelled"
	default:
		return string(s)
	}
}

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
	goOnWords      = "relo serve goes on with it"
	firstJob       = `relo run "what should be done"`
	waitsForWorker = "Waiting for a worker"
)

// taskWord is the state of a task as every view says it.
func taskWord(s job.TaskState) string {
	switch s {
	case job.TaskWaiting, job.TaskReady, job.TaskDispatched:
		return "Queued"
	case job.TaskRunning, job.TaskFinished:
		return "Running"
	case job.TaskReviewing:
		return "Reviewing"
	case job.TaskRework:
		return "Changes requested"
	case job.TaskBlocked, job.TaskHeld:
		return "Waiting for you"
	case job.TaskLost:
		return "Lost contact"
	case job.TaskAccepted:
		return "Done"
	case job.TaskFailed:
		return "Failed"
	case job.TaskCancelled, job.TaskSkipped:
		return "Cancelled"
	default:
		return string(s)
	}
}

// taskDocWord adds what only the whole task knows.
func taskDocWord(t protocol.TaskDoc) string {
	if t.Status == job.TaskReady && t.Waiting != nil {
		return waitsForWorker
	}
	return taskWord(t.Status)
}

// sightWord says what a model reads.
func sightWord(s vision.Sight) string {
	switch s {
	case vision.Sees:
		return "images"
	case vision.Blind:
		return "text only"
	case vision.Unknown:
	}
	return "unknown"
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
	if reason = flat(reason, reasonRunes); reason != "" {
		return words + ": " + reason
	}
	return words
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// usd writes a sum: to the cent, or finer when there are parts of cents.
func usd(v float64) string {
	if cents := v * 100; math.Abs(cents-math.Round(cents)) < 1e-6 {
		return fmt.Sprintf("%.2f", v)
	}
	if v < 0.0001 {
		return "under 0.0001"
	}
	return fmt.Sprintf("%.4f", v)
}

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
