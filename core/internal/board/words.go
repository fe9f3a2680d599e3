package board

import (
	"fmt"
	"math"

	"github.com/relo-dev/relo/core/internal/job"
)

// The words for states. Every view says them, and no other word means the same.
const (
	WordPlanning  = "Planning"
	WordYou       = "Waiting for you"
	WordQueued    = "Queued"
	WordWorker    = "Waiting for a worker"
	WordRunning   = "Running"
	WordPausing   = "Pausing"
	WordPaused    = "Paused"
	WordReviewing = "Reviewing"
	WordChanges   = "Changes requested"
	WordDone      = "Done"
	WordFailed    = "Failed"
	WordCancelled = "Cancelled"
	WordBudget    = "Stopped at budget"
	WordLost      = "Lost contact"
)

// Meaning is a state's word with its icon, how it is shown and what it says.
type Meaning struct {
	Word, Icon string
	Tone       Tone
	Means      string
}

// Meanings lists every word for a state, in the order of a job's life.
func Meanings() []Meaning {
	return []Meaning{
		{WordPlanning, "o", Active, "the job is being cut into tasks"},
		{WordYou, "!", Warn, "a question, a plan or a decision that only you can answer"},
		{WordQueued, ".", Dim, "waits for other tasks, or for its turn"},
		{WordWorker, ".", Dim, "could begin, but nobody who may take it is free"},
		{WordRunning, "o", Active, "an agent works on it"},
		{WordPausing, "=", Warn, "paused by you; running steps still end"},
		{WordPaused, "=", Warn, "paused by you; nothing runs"},
		{WordReviewing, "o", Active, "its work is being reviewed or merged"},
		{WordChanges, "~", Warn, "the review wants more; another attempt follows"},
		{WordDone, "v", Good, "ready; of a job also whether its work was applied to your files"},
		{WordFailed, "x", Bad, "came to nothing, and no attempt is left"},
		{WordCancelled, "-", Dim, "ended by you, or skipped because what it needs failed"},
		{WordBudget, "$", Warn, "the budget is used up; nothing more is sent"},
		{WordLost, "?", Bad, "its worker fell silent; it is given to another"},
	}
}

// About finds what a state's word means; an unknown word has no icon.
func About(word string) Meaning {
	for _, m := range Meanings() {
		if m.Word == word {
			return m
		}
	}
	return Meaning{Word: word, Icon: " "}
}

// JobWord is the state of a job; pausing says that agents still finish a step.
func JobWord(s job.Status, pausing bool) string {
	switch s {
	case job.Planning:
		return WordPlanning
	case job.AwaitingApproval, job.WaitingForPerson:
		return WordYou
	case job.Running, job.Integrating:
		return WordRunning
	case job.Paused:
		if pausing {
			return WordPausing
		}
		return WordPaused
	case job.StoppedAtBudget:
		return WordBudget
	case job.Ready, job.Applied:
		return WordDone
	case job.Failed:
		return WordFailed
	case job.Cancelled, job.Discarded:
		return WordCancelled
	default:
		return string(s)
	}
}

// TaskWord is the state of a task. in is the state of its job: a task that is
// held waits for what the job waits for.
func TaskWord(s job.TaskState, in job.Status) string {
	switch s {
	case job.TaskWaiting, job.TaskReady, job.TaskDispatched:
		return WordQueued
	case job.TaskRunning, job.TaskFinished:
		return liveWord(s, in)
	case job.TaskReviewing:
		return WordReviewing
	case job.TaskRework:
		return WordChanges
	case job.TaskHeld:
		return HeldWord("", in)
	case job.TaskBlocked:
		return WordYou
	case job.TaskLost:
		return WordLost
	case job.TaskAccepted:
		return WordDone
	case job.TaskFailed:
		return WordFailed
	case job.TaskCancelled, job.TaskSkipped:
		return WordCancelled
	default:
		return string(s)
	}
}

// liveWord is the word for a task whose attempt runs, or has just ended.
func liveWord(s job.TaskState, in job.Status) string {
	switch {
	case in != job.Paused:
		return WordRunning
	case s.Live():
		return WordPausing
	}
	return WordPaused
}

// LaidAside reports whether a task is held only because its agent was stopped at
// a safe point: it goes on by itself with its job, and waits for nobody.
func LaidAside(s job.TaskState, reason string) bool { return s == job.TaskHeld && reason == laidAside }

// laidAside is the reason that the orchestrator holds such a task with.
const laidAside = "paused"

// HeldWord is the word for a task that is held for a reason.
func HeldWord(reason string, in job.Status) string {
	switch in { //nolint:exhaustive // in every other state of the job it is the person who holds it up
	case job.Paused:
		return WordPaused
	case job.StoppedAtBudget:
		return WordBudget
	}
	if reason == laidAside {
		return WordPaused
	}
	return WordYou
}

// Pausing reports whether agents of a paused job still finish a step.
func Pausing(j *job.Job) bool {
	if j.Status != job.Paused {
		return false
	}
	for _, t := range j.Tasks {
		if t.Status.Live() {
			return true
		}
	}
	return false
}

// taskWord is the word for a task of a folded job, which knows more than its state.
func taskWord(j *job.Job, t *job.Task) string {
	switch {
	case t.Status == job.TaskReady && t.Waiting != nil && j.Status == job.Running:
		return WordWorker
	case t.Status == job.TaskRework && (len(t.Verdicts) == 0 || t.Verdicts[len(t.Verdicts)-1].Verdict != job.VerdictRework):
		return WordQueued // nobody asked for changes: the attempt itself came to nothing
	case t.Question != "" && !t.Status.Terminal():
		return WordYou
	case t.Status == job.TaskHeld:
		return HeldWord(t.Reason, j.Status)
	}
	return TaskWord(t.Status, j.Status)
}

// USD writes a sum: to the cent, or finer when there are parts of cents.
func USD(v float64) string {
	if cents := v * 100; math.Abs(cents-math.Round(cents)) < 1e-6 {
		return fmt.Sprintf("%.2f", v)
	}
	if v < 0.0001 {
		return "under 0.0001"
	}
	return fmt.Sprintf("%.4f", v)
}

// Sum is a sum of requests. Local ones cost nothing that Relo could count.
type Sum struct {
	USD                      float64
	Requests, Unknown, Local int
}

// Add counts requests that cost together what is given; nil is not known.
func (s *Sum) Add(requests int, cost *float64, local bool) {
	s.Requests += requests
	switch {
	case local && (cost == nil || *cost == 0):
		s.Local += requests
	case cost == nil:
		s.Unknown += requests
	default:
		s.USD += *cost
	}
}

// Words is the sum as a person reads it: what is not known is never 0.
func (s Sum) Words() string {
	switch {
	case s.Requests == 0:
		return "0.00"
	case s.Unknown > 0 && s.USD > 0:
		return "unknown, at least " + USD(s.USD)
	case s.Unknown > 0:
		return "unknown"
	case s.Local == s.Requests:
		return "local"
	case s.Local > 0:
		return USD(s.USD) + " and local"
	}
	return USD(s.USD)
}

// Count is a number with its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
