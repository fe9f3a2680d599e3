package rehearsal

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

// The tools that the scripts use beside the toolbox's own.
var (
	planTool   = prompt.SubmitPlan().Name
	finishTool = prompt.FinishTask().Name
	reviewTool = prompt.SubmitReview().Name
	imageTool  = prompt.Image().Name
)

// stranger is what a model of the rehearsal says to anything but its own job.
const stranger = "This is a rehearsal: its models know the answers to one job only, the one that `relo demo` starts, and this is not it. " +
	"Add a provider to do real work (relo providers add)."

// step is one answer of a script; it is told the transcript and nothing else.
type step func(s *scene) double.Reply

// answer plays one turn. It keeps nothing: what comes next follows from the
// transcript.
func answer(t double.Turn) double.Reply {
	s := newScene(t)
	switch t.Role {
	case "primary":
		return s.offered(s.primary())
	case "worker":
		return s.offered(s.worker())
	case "reviewer":
		return s.offered(s.reviewer())
	case "debugger":
		return s.offered(blocked("the rehearsal has no script for finding out why an attempt failed; read the attempt's own words."))
	}
	return double.Reply{Text: stranger + seen(t.Pictures)}
}

// seen says what arrived with a question, which is all that is known of it here.
func seen(pictures []double.Picture) string {
	var words strings.Builder
	for _, p := range pictures {
		fmt.Fprintf(&words, "\nA picture arrived: %s, %d×%d pixels.", p.MediaType, p.Width, p.Height)
	}
	return words.String()
}

// primary plans the one job. Another one is refused the way providers refuse, so
// that the person reads why instead of the faults of a plan that was never made.
func (s *scene) primary() double.Reply {
	if !strings.HasPrefix(s.first, "# Job\n\n"+Job()+"\n") {
		return refuse(stranger)
	}
	if len(s.steps) > 0 {
		return refuse("The rehearsal has one plan, and it was not taken: " + s.failure())
	}
	return do("Four tasks. "+Words, use(planTool, plan()))
}

// refuse is a body that clients of both wires read.
func refuse(words string) double.Reply {
	body, err := json.Marshal(map[string]any{
		"type": "error", "error": map[string]any{"type": "invalid_request_error", "message": words},
	})
	if err != nil {
		return double.Reply{Text: words} // strings can always be marshalled
	}
	return double.Reply{Status: http.StatusBadRequest, ErrorBody: string(body)}
}

func (s *scene) worker() double.Reply {
	task, known := s.task()
	switch why := s.failure(); {
	case !known:
		return blocked(stranger)
	case s.finished() > 1:
		return double.Reply{Text: "The report was not taken: " + why}
	case why != "":
		return blocked(why)
	}
	return s.next(s.script(task), blocked)
}

// script is how a worker does a task. A small model that was not told of an
// earlier failure does not run the checks; that is the demo's one mistake.
func (s *scene) script(task prompt.PlanTask) []step {
	switch task.ID {
	case cardTask:
		return matchCard
	case usageTask:
		if s.turn.Model == Small && !strings.Contains(s.first, "## Earlier attempts") {
			return usageInHaste
		}
		return usageWithCare
	case fitsTask:
		return fitsTest
	default:
		return changelog
	}
}

func (s *scene) reviewer() double.Reply {
	task, known := s.task()
	switch why := s.failure(); {
	case !known:
		return verdict("reject", stranger, stranger)
	case s.finished() > 1:
		return double.Reply{Text: "The verdict was not taken: " + why}
	case why != "":
		return verdict("rework", "It could not be confirmed.", why)
	}
	script := reviewText
	if task.Vision {
		script = reviewCard
	}
	return s.next(script, unconfirmed)
}

// next plays the step that is due.
func (s *scene) next(script []step, otherwise func(string) double.Reply) double.Reply {
	if len(s.steps) >= len(script) {
		return otherwise("the script of the rehearsal is at its end, but the task is not.")
	}
	return script[len(s.steps)](s)
}

// offered holds a reply against the tools of the request: a model cannot call
// what it was not given, such as relo_image when it is text only.
func (s *scene) offered(r double.Reply) double.Reply {
	for _, c := range r.Calls {
		if slices.Contains(s.turn.Tools, c.Name) {
			continue
		}
		why := fmt.Sprintf("this needs the tool %s, which %s was not offered.", c.Name, s.turn.Model)
		if c.Name == imageTool {
			why += " So visual verification was unavailable: a person, or a model that sees, should compare " + Result + " with " + Reference + "."
		}
		switch {
		case c.Name != finishTool && slices.Contains(s.turn.Tools, finishTool):
			return blocked(why)
		case c.Name != reviewTool && slices.Contains(s.turn.Tools, reviewTool):
			return unconfirmed(why)
		default:
			return double.Reply{Text: strings.TrimSpace(r.Text + "\n" + why)}
		}
	}
	return r
}

func do(text string, calls ...double.Call) double.Reply {
	return double.Reply{Text: text, Calls: calls}
}

func use(name string, args any) double.Call { return double.Call{Name: name, Args: args} }

func read(path string) double.Call { return use("read", map[string]any{"path": path}) }

func bash(command string) double.Call { return use("bash", map[string]any{"command": command}) }

func write(path, content string) double.Call {
	return use("write", map[string]any{"path": path, "content": content})
}

func edit(path, before, after string) double.Call {
	return use("edit", map[string]any{"path": path, "old": before, "new": after})
}

func look(paths ...string) double.Call { return use(imageTool, map[string]any{"paths": paths}) }

// done reports a task as done.
func done(summary string, visual ...prompt.Seen) double.Reply {
	if visual == nil {
		visual = []prompt.Seen{}
	}
	return do("", use(finishTool, prompt.Finish{Outcome: "done", Summary: summary + " " + Words, Visual: visual}))
}

// blocked reports what is in the way.
func blocked(why string) double.Reply {
	return do(why, use(finishTool, prompt.Finish{Outcome: "blocked", Summary: why + " " + Words, Visual: []prompt.Seen{}}))
}

// verdict ends a review.
func verdict(word, summary string, findings ...string) double.Reply {
	all := []prompt.Finding{}
	for _, f := range findings {
		all = append(all, prompt.Finding{Severity: "high", Text: f})
	}
	return do("", use(reviewTool, prompt.Review{Verdict: word, Summary: summary + " " + Words, Findings: all}))
}

// unconfirmed is the verdict of a reviewer who could not find out.
func unconfirmed(why string) double.Reply {
	return verdict("rework", "It could not be confirmed.", why)
}
