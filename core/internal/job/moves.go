package job

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/looplab/fsm"
)

// TaskState is where a task stands.
type TaskState string

// The states of a task. Accepted, Failed, Cancelled and Skipped are terminal.
const (
	TaskWaiting    TaskState = "waiting"    // for its dependencies
	TaskReady      TaskState = "ready"      // for a worker
	TaskDispatched TaskState = "dispatched" // in a worker's mailbox, under a lease
	TaskRunning    TaskState = "running"    // claimed by the worker
	TaskFinished   TaskState = "finished"   // the attempt reported its end
	TaskReviewing  TaskState = "reviewing"  // its review is queued or runs, or its commit is being merged
	TaskRework     TaskState = "rework"     // another attempt is due
	TaskBlocked    TaskState = "blocked"    // the agent says that it cannot go on
	TaskHeld       TaskState = "held"       // by a pause, the budget, or a person's decision
	TaskLost       TaskState = "lost"       // the lease ended without a result
	TaskAccepted   TaskState = "accepted"
	TaskFailed     TaskState = "failed"
	TaskCancelled  TaskState = "cancelled"
	TaskSkipped    TaskState = "skipped"
)

// Terminal reports whether nothing more happens to the task.
func (s TaskState) Terminal() bool {
	return s == TaskAccepted || s == TaskFailed || s == TaskCancelled || s == TaskSkipped
}

// Live reports whether a worker holds the task or is about to.
func (s TaskState) Live() bool { return s == TaskDispatched || s == TaskRunning }

// TaskMove is a step between task states.
type TaskMove string

// The moves of a task.
const (
	MoveRelease  TaskMove = "release"
	MoveDispatch TaskMove = "dispatch"
	MoveClaim    TaskMove = "claim"
	MoveFinish   TaskMove = "finish"
	MoveReview   TaskMove = "review"
	MoveAccept   TaskMove = "accept"
	MoveRework   TaskMove = "rework"
	MoveBlock    TaskMove = "block"
	MoveHold     TaskMove = "hold"
	MoveLose     TaskMove = "lose"
	MoveAgain    TaskMove = "again"
	MoveFail     TaskMove = "fail"
	MoveCancel   TaskMove = "cancel"
	MoveSkip     TaskMove = "skip"
	MoveReopen   TaskMove = "reopen"
	MoveRestore  TaskMove = "restore"
)

func names[S ~string](states ...S) []string {
	out := make([]string, len(states))
	for i, s := range states {
		out[i] = string(s)
	}
	return out
}

var taskMoves = fsm.Events{
	{Name: string(MoveRelease), Src: names(TaskWaiting), Dst: string(TaskReady)},
	{Name: string(MoveDispatch), Src: names(TaskReady), Dst: string(TaskDispatched)},
	{Name: string(MoveClaim), Src: names(TaskDispatched), Dst: string(TaskRunning)},
	{Name: string(MoveFinish), Src: names(TaskRunning), Dst: string(TaskFinished)},
	{Name: string(MoveReview), Src: names(TaskFinished), Dst: string(TaskReviewing)},
	{Name: string(MoveAccept), Src: names(TaskFinished, TaskReviewing), Dst: string(TaskAccepted)},
	{Name: string(MoveRework), Src: names(TaskFinished, TaskReviewing), Dst: string(TaskRework)},
	{Name: string(MoveBlock), Src: names(TaskFinished), Dst: string(TaskBlocked)},
	{Name: string(MoveHold), Src: names(TaskWaiting, TaskReady, TaskDispatched, TaskFinished, TaskReviewing, TaskRework, TaskLost), Dst: string(TaskHeld)},
	{Name: string(MoveLose), Src: names(TaskDispatched, TaskRunning), Dst: string(TaskLost)},
	{Name: string(MoveAgain), Src: names(TaskRework, TaskLost, TaskBlocked, TaskHeld, TaskFailed, TaskCancelled), Dst: string(TaskReady)},
	{Name: string(MoveFail), Src: names(TaskReady, TaskFinished, TaskReviewing, TaskRework, TaskLost, TaskBlocked), Dst: string(TaskFailed)},
	{Name: string(MoveCancel), Src: names(TaskWaiting, TaskReady, TaskDispatched, TaskRunning, TaskFinished, TaskReviewing,
		TaskRework, TaskBlocked, TaskHeld, TaskLost), Dst: string(TaskCancelled)},
	{Name: string(MoveReopen), Src: names(TaskSkipped, TaskCancelled, TaskHeld), Dst: string(TaskWaiting)},
	{Name: string(MoveRestore), Src: names(TaskCancelled), Dst: string(TaskFinished)},
	{Name: string(MoveSkip), Src: names(TaskWaiting, TaskReady, TaskHeld), Dst: string(TaskSkipped)},
}

var taskMakers = map[TaskMove]string{
	MoveRelease: "Relo, when every dependency is merged", MoveDispatch: "Relo, with a lease of the record",
	MoveClaim: "the worker, with the lease's epoch", MoveFinish: "the worker", MoveReview: "Relo",
	MoveAccept: "a reviewer's verdict, after the merge", MoveRework: "a verdict, or a failed attempt", MoveBlock: "the agent",
	MoveHold: "the person, the budget or a merge conflict", MoveLose: "Relo, when the lease ends", MoveAgain: "Relo, or the person's retry",
	MoveFail: "Relo, when attempts are spent", MoveCancel: "the person", MoveSkip: "Relo, when a dependency failed",
	MoveReopen: "the person's retry of the dependency, or of the job", MoveRestore: "the person's retry of the job, when the attempt was done",
}

// Status is where a job stands.
type Status string

// The states of a job.
const (
	Planning         Status = "planning"
	AwaitingApproval Status = "awaiting_approval"
	Running          Status = "running"
	Paused           Status = "paused"
	StoppedAtBudget  Status = "stopped_at_budget"
	WaitingForPerson Status = "waiting_for_person"
	Integrating      Status = "integrating"
	Ready            Status = "ready"
	Applied          Status = "applied"
	Discarded        Status = "discarded"
	Failed           Status = "failed"
	Cancelled        Status = "cancelled"
)

// Terminal reports whether `relo run` has nothing more to wait for.
func (s Status) Terminal() bool {
	return s == Ready || s == Applied || s == Discarded || s == Failed || s == Cancelled || s == StoppedAtBudget || s == WaitingForPerson
}

// ActiveStates are those in which Relo has something to do for the job by itself.
func ActiveStates() []Status { return []Status{Planning, Running, Integrating} }

// Active reports whether Relo still has something to do for the job by itself.
func (s Status) Active() bool { return slices.Contains(ActiveStates(), s) }

// JobMove is a step between job states.
type JobMove string

// The moves of a job.
const (
	JobPlan      JobMove = "plan"
	JobAsk       JobMove = "ask"
	JobApprove   JobMove = "approve"
	JobPause     JobMove = "pause"
	JobResume    JobMove = "resume"
	JobStop      JobMove = "stop"
	JobWait      JobMove = "wait"
	JobIntegrate JobMove = "integrate"
	JobReady     JobMove = "finish"
	JobApply     JobMove = "apply"
	JobDiscard   JobMove = "discard"
	JobFail      JobMove = "fail"
	JobCancel    JobMove = "cancel"
	JobReopen    JobMove = "reopen"
	JobReplan    JobMove = "replan"
	JobUndo      JobMove = "undo"
)

var jobMoves = fsm.Events{
	{Name: string(JobPlan), Src: names(Planning), Dst: string(Running)},
	{Name: string(JobAsk), Src: names(Planning), Dst: string(AwaitingApproval)},
	{Name: string(JobApprove), Src: names(AwaitingApproval), Dst: string(Running)},
	{Name: string(JobPause), Src: names(Planning, Running), Dst: string(Paused)},
	{Name: string(JobResume), Src: names(Paused, StoppedAtBudget, WaitingForPerson), Dst: string(Running)},
	{Name: string(JobStop), Src: names(Planning, Running), Dst: string(StoppedAtBudget)},
	{Name: string(JobWait), Src: names(Running), Dst: string(WaitingForPerson)},
	{Name: string(JobIntegrate), Src: names(Running), Dst: string(Integrating)},
	{Name: string(JobReady), Src: names(Integrating), Dst: string(Ready)},
	{Name: string(JobApply), Src: names(Ready), Dst: string(Applied)},
	{Name: string(JobUndo), Src: names(Applied), Dst: string(Ready)},
	{Name: string(JobDiscard), Src: names(Ready, Failed, Cancelled, StoppedAtBudget, WaitingForPerson, Paused, AwaitingApproval), Dst: string(Discarded)},
	{Name: string(JobFail), Src: names(Planning, Running, Integrating), Dst: string(Failed)},
	{Name: string(JobCancel), Src: names(Planning, AwaitingApproval, Running, Paused, StoppedAtBudget, WaitingForPerson, Integrating), Dst: string(Cancelled)},
	{Name: string(JobReplan), Src: names(Failed, StoppedAtBudget, Paused, Cancelled, AwaitingApproval), Dst: string(Planning)},
	{Name: string(JobReopen), Src: names(Cancelled, Failed), Dst: string(Running)},
}

var jobMakers = map[JobMove]string{
	JobPlan: "the Primary's plan", JobAsk: "Relo, when the person wants to see the plan", JobApprove: "the person", JobPause: "the person",
	JobResume: "the person", JobStop: "the budget", JobWait: "Relo, when only a person can go on", JobIntegrate: "Relo, when every task has ended",
	JobReady: "Relo", JobApply: "the person", JobDiscard: "the person", JobFail: "Relo", JobCancel: "the person", JobReopen: "the person's retry", JobReplan: "the person's retry of a job that has no plan, or who asks for another one", JobUndo: "the person",
}

func next(table fsm.Events, from, move string) (string, error) {
	m := fsm.NewFSM(from, table, nil)
	if err := m.Event(context.Background(), move); err != nil {
		return from, fmt.Errorf("move %s from %s: %w", move, from, err)
	}
	return m.Current(), nil
}

// leads reports whether a move of the table leads from one state to another.
func leads(table fsm.Events, from, to string) bool {
	return slices.ContainsFunc(table, func(e fsm.EventDesc) bool { return e.Dst == to && slices.Contains(e.Src, from) })
}

// Next returns where move leads a task from s, or an error when the table has
// no such move. It keeps no state: the record does.
func Next(s TaskState, move TaskMove) (TaskState, error) {
	to, err := next(taskMoves, string(s), string(move))
	return TaskState(to), err
}

// NextStatus returns where move leads a job from s.
func NextStatus(s Status, move JobMove) (Status, error) {
	to, err := next(jobMoves, string(s), string(move))
	return Status(to), err
}

// Diagram draws both tables as a Markdown page: two state diagrams, and who
// makes each move.
func Diagram() string {
	var b strings.Builder
	b.WriteString("# Task and job states\n\nDrawn from the tables in `core/internal/job/moves.go` by `make generate`; do not edit.\n\n")
	draw(&b, "Tasks", string(TaskWaiting), taskMoves, func(m string) string { return taskMakers[TaskMove(m)] })
	draw(&b, "Jobs", string(Planning), jobMoves, func(m string) string { return jobMakers[JobMove(m)] })
	return b.String()
}

func draw(b *strings.Builder, title, start string, table fsm.Events, maker func(string) string) {
	fmt.Fprintf(b, "## %s\n\n```mermaid\nstateDiagram-v2\n    [*] --> %s\n", title, start)
	sorted := slices.Clone(table)
	slices.SortFunc(sorted, func(x, y fsm.EventDesc) int { return cmp.Compare(x.Name, y.Name) })
	for _, e := range sorted {
		for _, src := range e.Src {
			fmt.Fprintf(b, "    %s --> %s: %s\n", src, e.Dst, e.Name)
		}
	}
	b.WriteString("```\n\n| move | from | to | made by |\n|---|---|---|---|\n")
	for _, e := range sorted {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", e.Name, strings.Join(e.Src, ", "), e.Dst, maker(e.Name))
	}
	b.WriteString("\n")
}
