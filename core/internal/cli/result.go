package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/board"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/routing"
	"github.com/relo-dev/relo/core/internal/vision"
)

// result prints what a job came to, for a person. idle says that nobody works
// on it although it is active.
func (s *shell) result(doc protocol.JobDoc, costs bill, applied *protocol.ApplyDoc, idle bool) {
	s.head(doc)
	if idle {
		s.out.line("  %s: %s", idleState(doc.Status), goOnWords)
	}
	s.tasks(doc)
	s.evidence(doc)
	if len(doc.NeedsEyes) > 0 {
		s.out.line("\nOnly eyes can confirm:")
		for _, e := range doc.NeedsEyes {
			s.out.line("  %s", flat(e, lineRunes))
		}
	}
	s.out.line("")
	s.out.line("Cost    %s", costs.words())
	if doc.Branch != "" {
		s.out.line("Branch  %s", doc.Branch)
	}
	if applied != nil {
		s.applied(*applied)
	}
	s.next(doc, idle)
}

func (s *shell) head(doc protocol.JobDoc) {
	s.out.line("%s", because(flat(doc.Title, titleRunes)+": "+docState(doc), doc.Reason))
	if doc.Summary != "" {
		s.out.line("  %s", flat(doc.Summary, 2*lineRunes))
	}
}

// tasks lists every task with its model and why it has it.
func (s *shell) tasks(doc protocol.JobDoc) {
	if len(doc.Tasks) == 0 {
		return
	}
	s.out.line("\nTasks")
	var rows [][]string
	for _, t := range doc.Tasks {
		rows = append(rows, []string{
			"  " + flat(t.Title, titleRunes), stateOf(t, doc.Status), needs(t), t.Model, tries(t.Attempts),
			flat(routing.Words(t.Reasons), 0),
		})
	}
	s.out.table(rows)
	for _, t := range doc.Tasks {
		if t.Question != "" && !t.Status.Terminal() {
			s.out.line("  %s asks: %s", flat(t.Title, titleRunes), flat(t.Question, reasonRunes))
		}
		if t.Reason != "" && t.Status != job.TaskAccepted && !board.LaidAside(t.Status, t.Reason) {
			s.out.line("  %s", because(flat(t.Title, titleRunes)+": "+stateOf(t, doc.Status), t.Reason))
		}
	}
}

// stateOf is a task's word; one that was only laid aside waits for nobody.
func stateOf(t protocol.TaskDoc, in job.Status) string {
	if t.Question == "" && board.LaidAside(t.Status, t.Reason) {
		return board.HeldWord(t.Reason, in)
	}
	return taskDocWord(t, in)
}

// tries counts attempts as they are numbered: one that was interrupted and went
// on later is a single one.
func tries(attempts []protocol.AttemptDoc) string {
	used := 0
	for _, a := range attempts {
		used = max(used, a.Number)
	}
	words := count(used, "attempt", "attempts")
	if n := len(attempts) - used; n > 0 {
		words += " (" + count(n, "interruption", "interruptions") + ")"
	}
	return words
}

func needs(t protocol.TaskDoc) string {
	words := string(t.Difficulty)
	if t.Vision {
		words = strings.TrimPrefix(words+", needs eyes", ", ")
	}
	return words
}

// evidence lists looks, checks and verdicts, those of the last attempts only.
func (s *shell) evidence(doc protocol.JobDoc) {
	var looks, checks, moves, reviews []string
	for _, t := range doc.Tasks {
		title := flat(t.Title, titleRunes)
		for _, e := range t.Escalated {
			moves = append(moves, because(fmt.Sprintf("%s: moved up from %s to %s", title, e.From, e.To), e.Why))
		}
		for _, v := range t.Verdicts {
			reviews = append(reviews, because(title+": "+verdictWords(v.Verdict), v.Summary))
		}
		if len(t.Attempts) == 0 {
			continue
		}
		last := t.Attempts[len(t.Attempts)-1]
		for _, l := range last.Looks {
			looks = append(looks, fmt.Sprintf("%s: %s", title, lookWords(l)))
		}
		for _, c := range last.Checks {
			checks = append(checks, fmt.Sprintf("%s: %s", title, checkWords(c)))
		}
		if t.Vision && last.Result != nil && last.Result.Visual == job.VisualUnavailable {
			looks = append(looks, fmt.Sprintf("%s: visual verification was unavailable; %s is %s", title, last.Model, seesWords(t.Sight)))
		}
	}
	s.list("Looks", looks)
	s.list("Checks", checks)
	s.list("Moved up", moves)
	s.list("Reviews", reviews)
}

func seesWords(v vision.Sight) string {
	if v == vision.Unknown {
		return "not known to see images"
	}
	return v.Words()
}

// list prints lines under a heading, equal ones once.
func (s *shell) list(heading string, lines []string) {
	if len(lines) == 0 {
		return
	}
	s.out.line("\n%s", heading)
	said := map[string]bool{}
	for _, l := range lines {
		if !said[l] {
			s.out.line("  %s", flat(l, 0))
		}
		said[l] = true
	}
}

func (s *shell) applied(doc protocol.ApplyDoc) {
	if doc.Already {
		s.out.line("already applied; nothing was changed now")
		return
	}
	s.out.line("Applied %s to your files:", count(len(doc.Files), "file", "files"))
	for _, f := range doc.Files {
		s.out.line("  %s", flat(f, 0))
	}
	if doc.BackupRef != "" {
		s.out.line("Before  %s keeps your files as they were", doc.BackupRef)
	}
}

// next says what a person can do now.
func (s *shell) next(doc protocol.JobDoc, idle bool) {
	var rows [][]string
	add := func(verb, what string) { rows = append(rows, []string{"  " + s.hint(verb, doc.ID), what}) }
	switch doc.Status {
	case job.Ready:
		add("diff", "shows what changed")
		add("apply", "brings it to your files")
	case job.Applied:
		add("diff", "shows what changed")
		rows = append(rows, []string{"  " + s.hint("apply", doc.ID) + " --undo", "takes it back"})
	case job.AwaitingApproval:
		add("approve", "shows the plan and asks")
		add("cancel", "ends it")
	case job.WaitingForPerson:
		add("why", "says what it waits for")
		if asked(doc) {
			rows = append(rows, []string{"  " + s.hint("say", doc.ID) + ` "…"`, "answers the question"})
		}
		add("retry", "gives it another attempt")
		add("cancel", "ends it")
	case job.Paused:
		add("resume", "lets it go on")
		add("cancel", "ends it")
	case job.StoppedAtBudget:
		add("costs", "shows what it was spent on")
		rows = append(rows, []string{"  " + s.hint("resume", doc.ID) + " --budget N", "goes on, with N USD in all"})
		add("cancel", "ends it")
	case job.Failed:
		add("why", "says what happened")
		add("logs", "shows what the agents did")
		add("retry", "gives it another attempt")
	case job.Cancelled:
		add("why", "says what happened")
		add("retry", "opens it again")
		add("discard", "removes what it left")
	case job.Discarded:
		add("why", "says what happened")
	default:
		if idle {
			rows = append(rows, []string{"  relo daemon start", "goes on with it"})
		} else {
			add("watch", "follows it")
		}
		add("cancel", "ends it")
	}
	s.out.line("\nNext")
	s.out.table(rows)
}

// asked reports whether an agent asked the person something.
func asked(doc protocol.JobDoc) bool {
	return slices.ContainsFunc(doc.Tasks, func(t protocol.TaskDoc) bool { return t.Question != "" && !t.Status.Terminal() })
}

// hint is a command for a person to type; that of a demo names its own home and
// the program that ran it.
func (s *shell) hint(verb, id string) string { return s.command(verb, short(id)) }

// command is a hint with an id as it is: tasks that were planned together can
// only be told apart by their whole ids.
func (s *shell) command(verb, id string) string {
	words := quoted(cmp.Or(s.program, "relo")) + " " + verb + " " + id
	if s.home != "" {
		words = "RELO_HOME=" + quoted(s.home) + " " + words
	}
	return words
}

// quoted is a path as a shell takes it for one word.
func quoted(path string) string {
	if !strings.ContainsAny(path, " \t'\"\\$`&;()<>|*?[]#~!{}") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
