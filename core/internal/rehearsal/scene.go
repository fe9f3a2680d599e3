package rehearsal

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/vision"
)

// act is one tool call that was made earlier, with its result.
type act struct {
	id, name string
	args     json.RawMessage
	text     string // of the result
	failed   bool
	pictures []double.Picture // that arrived with the result
}

// scene is what a turn's transcript says.
type scene struct {
	turn  double.Turn
	first string  // the first message of the user
	steps [][]act // the calls of each answer that made any, in order
}

func newScene(t double.Turn) scene {
	s := scene{turn: t}
	for _, e := range t.Entries {
		switch e.Role {
		case "user":
			if s.first == "" {
				s.first = e.Text
			}
			s.arrived(e.Pictures) // on the chat wire pictures follow the results
		case "assistant":
			if len(e.Calls) == 0 {
				continue
			}
			var step []act
			for _, c := range e.Calls {
				step = append(step, act{id: c.ID, name: c.Name, args: json.RawMessage(c.Args)})
			}
			s.steps = append(s.steps, step)
		case "tool":
			s.result(e)
			s.arrived(e.Pictures)
		}
	}
	return s
}

// last is the calls of the newest answer that made any.
func (s *scene) last() []act {
	if len(s.steps) == 0 {
		return nil
	}
	return s.steps[len(s.steps)-1]
}

func (s *scene) result(e double.Entry) {
	for i, a := range s.last() {
		if a.id == e.ResultID {
			s.last()[i].text, s.last()[i].failed = e.Text, e.IsError
		}
	}
}

// arrived gives pictures to the call of the newest answer that asked for some.
func (s *scene) arrived(pictures []double.Picture) {
	for i, a := range s.last() {
		if a.name == imageTool {
			s.last()[i].pictures = append(s.last()[i].pictures, pictures...)
			return
		}
	}
}

var numbered = regexp.MustCompile(`(?m)^ *\d+\t`)

// file is the text of a file that was read, without line numbers.
func (s *scene) file(name string) string {
	for _, step := range slices.Backward(s.steps) {
		for _, a := range step {
			var args struct{ Path string }
			if a.name == "read" && json.Unmarshal(a.args, &args) == nil && args.Path == name {
				return numbered.ReplaceAllString(a.text, "")
			}
		}
	}
	return ""
}

// output is what the newest answer's command printed, without its exit code.
func (s *scene) output() string {
	for _, a := range s.last() {
		if a.name == "bash" {
			text, _, _ := strings.Cut(a.text, "\n[exit code ")
			return tail(text)
		}
	}
	return ""
}

// picture is the picture of a file as the newest answer asked for it. The error
// says that it did not arrive: the words of a tool are no picture.
func (s *scene) picture(name string) (double.Picture, error) {
	for _, a := range s.last() {
		if a.name != imageTool {
			continue
		}
		var told struct {
			Images []struct {
				vision.Meta
				Error struct{ Message string }
			}
		}
		if err := json.Unmarshal([]byte(a.text), &told); err != nil {
			return double.Picture{}, fmt.Errorf("what relo_image said of %s cannot be read: %w", name, err)
		}
		next := 0
		for _, m := range told.Images {
			at := slices.IndexFunc(a.pictures[next:], func(p double.Picture) bool { return m.SHA256 != "" && p.SHA256 == m.SHA256 })
			if at >= 0 {
				next += at + 1
			}
			switch {
			case m.Path != name:
			case m.Error.Message != "":
				return double.Picture{}, fmt.Errorf("the picture %s could not be shown: %s", name, m.Error.Message)
			case at < 0:
				return double.Picture{}, fmt.Errorf("the picture %s did not arrive: relo_image speaks of it, and the request that reached the model held no such pixels", name)
			case m.Sent != m.Source || m.Crop != nil:
				return double.Picture{}, fmt.Errorf("the picture %s arrived scaled or cut, so nothing can be measured on it", name)
			default:
				return a.pictures[next-1], nil
			}
		}
	}
	return double.Picture{}, fmt.Errorf("the picture %s was not shown", name)
}

// failure says which call of the newest answer failed, and how; empty: none did.
func (s *scene) failure() string {
	for _, a := range s.last() {
		if a.failed {
			return fmt.Sprintf("%s failed: %s", a.name, tail(a.text))
		}
	}
	return ""
}

// finished counts how often the work was reported as ended: more than none means
// that the report was not taken.
func (s *scene) finished() int {
	n := 0
	for _, step := range s.steps {
		for _, a := range step {
			if a.name == finishTool || a.name == reviewTool {
				n++
			}
		}
	}
	return n
}

// task is the plan's task that the first message holds word for word.
func (s *scene) task() (prompt.PlanTask, bool) {
	for _, t := range plan().Tasks {
		if strings.Contains(s.first, "# Task: "+t.Title+"\n\n"+t.Instructions) {
			return t, true
		}
	}
	return prompt.PlanTask{}, false
}

func tail(text string) string {
	text = strings.TrimSpace(text)
	if len(text) <= maxTail {
		return text
	}
	return "… " + strings.ToValidUTF8(text[len(text)-maxTail:], "")
}
