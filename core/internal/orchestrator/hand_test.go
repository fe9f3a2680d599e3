package orchestrator

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/vision"
)

// hand plays a worker by hand: it beats, claims and reports when it is told to.
type hand struct {
	s     *stage
	id    string
	boot  string
	slots int
	holds []protocol.Hold
}

func (s *stage) hand(id string, slots int) *hand {
	return &hand{s: s, id: id, boot: "first", slots: slots}
}

// beat says hello with what the hand holds.
func (h *hand) beat() protocol.Welcome {
	h.s.t.Helper()
	w, err := h.s.Hello(h.s.t.Context(), protocol.Hello{Worker: h.id, PID: 1, Boot: h.boot, Slots: h.slots, Version: protocol.Version, Running: h.holds})
	if err != nil {
		h.s.t.Fatal(err)
	}
	for _, attempt := range w.Stop {
		h.drop(attempt)
	}
	return w
}

func (h *hand) drop(attempt string) {
	for i, x := range h.holds {
		if x.Attempt == attempt {
			h.holds = append(h.holds[:i:i], h.holds[i+1:]...)
			return
		}
	}
}

// claim takes the next task of the mailbox; false: there is none, or it is stale.
func (h *hand) claim() (protocol.Assignment, bool) {
	h.s.t.Helper()
	for {
		hold, ok := h.s.lanes.take(h.id)
		if !ok {
			return protocol.Assignment{}, false
		}
		a, err := h.s.Claim(h.s.t.Context(), hold)
		if codeOf(err) == protocol.CodeStale {
			continue
		}
		if err != nil {
			h.s.t.Fatal(err)
		}
		h.holds = append(h.holds, a.Hold)
		return a, true
	}
}

// finish reports the end of an attempt.
func (h *hand) finish(f protocol.Finish) protocol.Received {
	h.s.t.Helper()
	got, err := h.s.Finish(h.s.t.Context(), f)
	if err != nil {
		h.s.t.Fatal(err)
	}
	h.drop(f.Attempt)
	return got
}

// commitName is what an attempt's commit is called here: work-a-1.
func commitName(a protocol.Assignment) string {
	return fmt.Sprintf("%s-%s-%d", a.Kind, strings.TrimPrefix(a.Title, "Do "), a.Number)
}

// done is the result of an attempt that changed files.
func done(a protocol.Assignment, files ...string) protocol.Finish {
	f := protocol.Finish{Hold: a.Hold, End: job.AttemptEnd{Outcome: job.Done, Summary: "done", Base: a.Base, Commit: commitName(a), Tree: "tree-now"}}
	for _, name := range files {
		f.End.Files = append(f.End.Files, job.FileChange{Path: name, Status: "modified"})
	}
	if a.Kind == job.Review {
		f.Verdict = &job.Verdict{Verdict: job.VerdictAccept, Summary: "fine"}
	}
	return f
}

// ended is the result of an attempt that came to nothing.
func ended(a protocol.Assignment, outcome job.Outcome, why string) protocol.Finish {
	return protocol.Finish{Hold: a.Hold, End: job.AttemptEnd{Outcome: outcome, Reason: why, Summary: "tried"}}
}

// act plays one line of a script: steps, separated by semicolons, of which the
// last says how the attempt ends. False: the hand falls silent.
func (h *hand) act(a protocol.Assignment, line string) bool {
	h.s.t.Helper()
	for step := range strings.SplitSeq(line, ";") {
		word, rest, _ := strings.Cut(strings.TrimSpace(step), " ")
		switch word {
		case "look":
			if err := h.look(a, rest); err != nil {
				h.s.t.Fatal(err)
			}
		case "check":
			exit, command, _ := strings.Cut(rest, " ")
			n, err := strconv.Atoi(exit)
			if err != nil {
				h.s.t.Fatal(err)
			}
			h.report(protocol.Report{Hold: a.Hold, Checks: []job.CheckResult{{Command: command, Exit: n, Output: "output"}}})
		case "you":
			h.s.you(a.Job, rest)
		case "silent":
			h.drop(a.Attempt)
			return false
		default:
			h.finish(h.result(a, word, rest))
		}
	}
	return true
}

func (h *hand) report(r protocol.Report) {
	h.s.t.Helper()
	if err := h.s.Report(h.s.t.Context(), r); err != nil {
		h.s.t.Fatal(err)
	}
}

// look plays a picture that reached the model: "result shot.png", and with
// "before" one that shows the work before its last edit.
func (h *hand) look(a protocol.Assignment, words string) error {
	part := strings.Fields(words)
	tree := "tree-now"
	if len(part) > 2 {
		tree = "tree-" + part[2]
	}
	row := ledger.Row{ID: job.NewID(), Job: a.Job, Task: a.Task, Attempt: a.Attempt, Traffic: job.TrafficConversation, Time: time.Now()}
	h.s.mem.open(row)
	row.Outcome = ledger.OutcomeOK
	look := job.Look{ID: job.NewID(), Path: part[1], Role: vision.Role(part[0]), How: job.HowPixels, Tree: tree, Fresh: true}
	return h.s.Settle(h.s.t.Context(), row, []job.Look{look})
}

func (h *hand) result(a protocol.Assignment, word, rest string) protocol.Finish {
	h.s.t.Helper()
	f := ended(a, job.OutFailed, rest)
	f.End.Base, f.End.Commit, f.End.Tree = a.Base, commitName(a), "tree-now"
	switch word {
	case "done":
		return done(a, strings.Fields(rest)...)
	case "found":
		f = done(a)
		f.End.Notes = rest
	case "accept", "rework", "reject":
		f = done(a)
		f.Verdict = &job.Verdict{Verdict: word, Summary: rest, Findings: []job.Finding{{Severity: "high", File: "a.go", Line: 3, Text: rest}}}
	case "blocked":
		f.End.Outcome, f.End.Reason = job.OutBlocked, "blocked: "+rest
	case "paused":
		f.End.Outcome, f.End.Reason, f.End.Trace = job.OutPaused, "laid aside at a safe point", "trace-"+commitName(a)
	case "asks":
		f.End.Outcome, f.End.Reason, f.End.Trace, f.End.Question = job.OutPaused, asksYou+rest, "trace-"+commitName(a), rest
	case "stopped":
		f.End.Outcome, f.End.Reason, f.End.Trace = job.OutCancelled, "the attempt was stopped", "trace-"+commitName(a)
	case "budget":
		f.End.Outcome, f.End.Reason = job.OutBudget, "the job's budget is reached"
	case "key":
		f.End.Code = job.CodeKey
	case "unready":
		f.End.Code = job.CodeWorkspace
	case "failed":
	default:
		h.s.t.Fatalf("script: %q is not known", word)
	}
	return f
}
