package job

import (
	"slices"
	"strings"
	"testing"
)

var taskStates = []TaskState{
	TaskWaiting, TaskReady, TaskDispatched, TaskRunning, TaskFinished, TaskReviewing, TaskRework, TaskBlocked, TaskHeld, TaskLost,
	TaskAccepted, TaskFailed, TaskCancelled, TaskSkipped,
}

var jobStates = []Status{
	Planning, AwaitingApproval, Running, Paused, StoppedAtBudget, WaitingForPerson, Integrating, Ready, Applied, Discarded, Failed, Cancelled,
}

// row is one move: from which states it leads where. What is not named must be refused.
type row struct{ move, from, to string }

var taskRows = []row{
	{"release", "waiting", "ready"},
	{"dispatch", "ready", "dispatched"},
	{"claim", "dispatched", "running"},
	{"finish", "running", "finished"},
	{"review", "finished", "reviewing"},
	{"accept", "finished reviewing", "accepted"},
	{"rework", "finished reviewing", "rework"},
	{"block", "finished", "blocked"},
	{"hold", "waiting ready dispatched finished reviewing rework lost", "held"},
	{"lose", "dispatched running", "lost"},
	{"again", "rework lost blocked held failed cancelled", "ready"},
	{"fail", "ready finished reviewing rework lost blocked", "failed"},
	{"cancel", "waiting ready dispatched running finished reviewing rework blocked held lost", "cancelled"},
	{"skip", "waiting ready held", "skipped"},
	{"reopen", "skipped cancelled held", "waiting"},
	{"restore", "cancelled", "finished"},
}

var jobRows = []row{
	{"plan", "planning", "running"},
	{"ask", "planning", "awaiting_approval"},
	{"approve", "awaiting_approval", "running"},
	{"pause", "planning running", "paused"},
	{"resume", "paused stopped_at_budget waiting_for_person", "running"},
	{"stop", "planning running", "stopped_at_budget"},
	{"wait", "running", "waiting_for_person"},
	{"integrate", "running", "integrating"},
	{"finish", "integrating", "ready"},
	{"apply", "ready", "applied"},
	{"undo", "applied", "ready"},
	{"discard", "ready failed cancelled stopped_at_budget waiting_for_person paused awaiting_approval", "discarded"},
	{"fail", "planning running integrating", "failed"},
	{"cancel", "planning awaiting_approval running paused stopped_at_budget waiting_for_person integrating", "cancelled"},
	{"reopen", "cancelled failed", "running"},
	{"replan", "failed stopped_at_budget paused cancelled awaiting_approval", "planning"},
}

// checkRows holds a table against its rows: every state with every move.
func checkRows[S ~string](t *testing.T, states []S, rows []row, size int, next func(S, string) (S, error)) {
	t.Helper()
	if len(rows) != size {
		t.Fatalf("%d rows for %d moves", len(rows), size)
	}
	for _, r := range rows {
		from := strings.Fields(r.from)
		for _, s := range states {
			got, err := next(s, r.move)
			switch may := slices.Contains(from, string(s)); {
			case may && (err != nil || string(got) != r.to):
				t.Errorf("%s from %s: %s, %v; want %s", r.move, s, got, err, r.to)
			case !may && err == nil:
				t.Errorf("%s from %s leads to %s, want a refusal", r.move, s, got)
			case !may && got != s:
				t.Errorf("a refused %s changed %s to %s", r.move, s, got)
			}
		}
	}
}

func TestEveryMoveOfATask(t *testing.T) {
	checkRows(t, taskStates, taskRows, len(taskMoves), func(s TaskState, m string) (TaskState, error) { return Next(s, TaskMove(m)) })
}

func TestEveryMoveOfAJob(t *testing.T) {
	checkRows(t, jobStates, jobRows, len(jobMoves), func(s Status, m string) (Status, error) { return NextStatus(s, JobMove(m)) })
}

func TestAMoveThatDoesNotExistIsRefused(t *testing.T) {
	if s, err := Next(TaskReady, "jump"); err == nil || s != TaskReady {
		t.Errorf("jump led to %s", s)
	}
	if s, err := NextStatus(Running, "jump"); err == nil || s != Running {
		t.Errorf("jump led to %s", s)
	}
}

func TestEveryMoveHasAMaker(t *testing.T) {
	for _, e := range taskMoves {
		if taskMakers[TaskMove(e.Name)] == "" {
			t.Errorf("nobody makes the task's move %s", e.Name)
		}
	}
	for _, e := range jobMoves {
		if jobMakers[JobMove(e.Name)] == "" {
			t.Errorf("nobody makes the job's move %s", e.Name)
		}
	}
}

// Only a person's word leads on from an end, and never from an accepted task, nor
// from a discarded job.
func TestAnEndIsLeftOnlyByAPersonsWord(t *testing.T) {
	ways := map[TaskState]string{TaskFailed: "again", TaskSkipped: "reopen", TaskCancelled: "again reopen restore"}
	for _, s := range taskStates {
		for _, r := range taskRows {
			if _, err := Next(s, TaskMove(r.move)); s.Terminal() && err == nil && !slices.Contains(strings.Fields(ways[s]), r.move) {
				t.Errorf("%s is an end and %s leads on", s, r.move)
			}
		}
	}
	jobWays := map[Status]string{
		Ready: "apply discard", Failed: "discard reopen replan", Cancelled: "discard reopen replan", Applied: "undo",
		StoppedAtBudget: "resume discard cancel replan", WaitingForPerson: "resume discard cancel",
	}
	for _, s := range jobStates {
		for _, r := range jobRows {
			if _, err := NextStatus(s, JobMove(r.move)); s.Terminal() && err == nil && !slices.Contains(strings.Fields(jobWays[s]), r.move) {
				t.Errorf("%s is an end for who waits, and %s leads on", s, r.move)
			}
		}
	}
}

// Every task that has not ended can be cancelled, and every state can be reached.
func TestNoStateIsATrapNorOutOfReach(t *testing.T) {
	for _, s := range taskStates {
		if _, err := Next(s, MoveCancel); (err == nil) == s.Terminal() {
			t.Errorf("cancel from %s: %v", s, err)
		}
	}
	for _, s := range jobStates {
		if s.Active() {
			if _, err := NextStatus(s, JobCancel); err != nil {
				t.Errorf("cancel from %s: %v", s, err)
			}
			if s.Terminal() {
				t.Errorf("%s is both active and at an end", s)
			}
		}
	}
	for _, c := range []struct {
		start string
		rows  []row
		size  int
	}{{string(TaskWaiting), taskRows, len(taskStates)}, {string(Planning), jobRows, len(jobStates)}} {
		reached := []string{c.start}
		for i := 0; i < len(reached); i++ {
			for _, r := range c.rows {
				if slices.Contains(strings.Fields(r.from), reached[i]) && !slices.Contains(reached, r.to) {
					reached = append(reached, r.to)
				}
			}
		}
		if len(reached) != c.size {
			t.Errorf("from %s only %v are in reach", c.start, reached)
		}
	}
}

func TestLiveMeansThatAWorkerHoldsIt(t *testing.T) {
	for _, s := range taskStates {
		if _, err := Next(s, MoveLose); (err == nil) != s.Live() {
			t.Errorf("%s: live is %v, but losing it gives %v", s, s.Live(), err)
		}
	}
}

func TestTheDiagramShowsEveryMove(t *testing.T) {
	page := Diagram()
	for _, r := range slices.Concat(taskRows, jobRows) {
		for from := range strings.FieldsSeq(r.from) {
			if line := "    " + from + " --> " + r.to + ": " + r.move + "\n"; !strings.Contains(page, line) {
				t.Errorf("the page lacks %q", line)
			}
		}
	}
	if page != Diagram() {
		t.Error("drawn twice, drawn differently")
	}
}
