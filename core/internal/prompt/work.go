package prompt

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/vision"
)

// Earlier is an attempt that did not end well.
type Earlier struct {
	Number   int
	Outcome  string // as attempt.finished says it, or rework
	Summary  string
	Findings []string // of its review or of a debug task
}

// WorkBrief is what a worker or a debugger knows.
type WorkBrief struct {
	Title, Instructions string // word for word in the first message
	Sight               vision.Sight
	Vision              bool     // the task needs eyes
	Images              []string // their paths in the workspace
	ImagesShown         bool     // they are in the first message as pictures
	CanDescribe         bool     // some model may look for one that cannot see
	Checks              []string // commands that Relo runs afterwards
	Project             string   // AGENTS.md or CLAUDE.md
	Earlier             []Earlier
	Siblings            []string // one line a task of the same job
	CanAskPerson        bool
}

//go:embed worker.md
var workerWords string

//go:embed debugger.md
var debuggerWords string

// Worker writes the prompts of an agent that makes a change.
func Worker(b WorkBrief) (system, first string) {
	return work(b, workerWords, "Relo runs these when you have finished; one that fails fails the attempt, so run them yourself first.",
		"You start afresh from the base: nothing of theirs is in the workspace. Do not repeat what failed.")
}

// Debugger writes the prompts of an agent that finds out why attempts failed.
func Debugger(b WorkBrief) (system, first string) {
	return work(b, debuggerWords, "The next attempt must pass these; none is run after you.", "These are what you explain.")
}

// work writes what both have in common; onChecks and onEarlier say what the
// checks and the earlier attempts are to this role.
func work(b WorkBrief, role, onChecks, onEarlier string) (system, first string) {
	ask := ""
	if b.CanAskPerson {
		ask = "When only a person's eyes or word will do, call ask_person; do not ask what you can find out or decide yourself."
	}
	system = fill(role, ask, sightBlock(b.Sight, b.CanDescribe, b.Vision), project(b.Project))
	first = task(b.Title, b.Instructions) + fill(images(b.Images, b.ImagesShown, b.Sight), checks(b.Checks, onChecks), earlier(b.Earlier, onEarlier),
		siblings(b.Siblings), "Begin. When you are done, call finish_task.")
	return system, first
}

// task is the words of the task, not one of them changed.
func task(title, instructions string) string {
	return "# Task: " + title + "\n\n" + instructions + "\n\n"
}

func images(paths []string, shown bool, sight vision.Sight) string {
	if len(paths) == 0 {
		return ""
	}
	how := "They are shown with this message, in this order. They lie in the workspace at:"
	switch {
	case !shown && sight == vision.Blind:
		how = "You cannot be shown them. They lie in the workspace at:"
	case !shown:
		how = "They are not shown yet; relo_image shows them. They lie in the workspace at:"
	}
	return "## Images of this task\n" + how + "\n" + list(paths)
}

func checks(commands []string, words string) string {
	if len(commands) == 0 {
		return ""
	}
	return "## Checks\n" + words + "\n" + list(commands)
}

func earlier(all []Earlier, words string) string {
	if len(all) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("## Earlier attempts\n" + words + "\n")
	for _, e := range all {
		fmt.Fprintf(&out, "\nAttempt %d: %s\n", e.Number, line(e.Outcome))
		if e.Summary != "" {
			out.WriteString(frame("summary", e.Summary, maxSummary) + "\n")
		}
		for i, f := range e.Findings {
			if i == maxFindings {
				fmt.Fprintf(&out, "- (and %d more)\n", len(e.Findings)-i)
				break
			}
			out.WriteString("- " + line(f) + "\n")
		}
	}
	return out.String()
}

func siblings(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return "## Other tasks of this job\nOthers do these; leave them alone.\n" + list(all)
}
