package job

import (
	"fmt"
	"strings"
	"unicode"
)

// PlannedTask is a task as the Primary submits it; DependsOn holds the plan's own ids.
type PlannedTask struct {
	ID           string
	Title        string
	Instructions string
	Difficulty   Difficulty
	Vision       bool
	Images       []string
	DependsOn    []string
	Files        []string
	Checks       []string
}

// PlanRules is what a plan is held against.
type PlanRules struct {
	MaxTasks int
	// Image resolves a name to an attachment or a path at the base.
	Image func(name string) (Image, bool)
}

// CheckPlan names every fault of a plan; none means that it can run. Each is a
// sentence for the Primary.
func CheckPlan(tasks []PlannedTask, rules PlanRules) []string {
	var faults []string
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if len(tasks) == 0 {
		add("the plan has no tasks: submit at least one")
	}
	if len(tasks) > rules.MaxTasks {
		add("the plan has %d tasks; at most %d are allowed", len(tasks), rules.MaxTasks)
	}
	ids := map[string]bool{}
	for i, t := range tasks {
		switch {
		case strings.TrimSpace(t.ID) == "":
			add("task %d has no id", i+1)
		case strings.ContainsFunc(t.ID, strange) || len(t.ID) > maxKey:
			add("task id %q must be one short word without spaces or slashes (at most %d bytes)", t.ID, maxKey)
		case ids[t.ID]:
			add("task id %q is used twice", t.ID)
		}
		ids[t.ID] = true
	}
	for _, t := range tasks {
		faults = append(faults, checkTask(t, ids, rules)...)
	}
	if loop := cycle(tasks); loop != "" {
		add("the dependencies go round in a circle: %s", loop)
	}
	return faults
}

// maxKey bounds a plan's own id, in bytes: it stands in ids, branch trailers and tables.
const maxKey = 40

// strange reports what a plan's own id may not hold: JOB/KEY names a task, and a
// terminal or a trailer must show it as it is.
func strange(r rune) bool { return r == '/' || !unicode.IsGraphic(r) || unicode.IsSpace(r) }

func checkTask(t PlannedTask, ids map[string]bool, rules PlanRules) []string {
	var faults []string
	add := func(format string, args ...any) {
		faults = append(faults, fmt.Sprintf("task %q: "+format, append([]any{t.ID}, args...)...))
	}
	if strings.TrimSpace(t.Title) == "" {
		add("no title")
	}
	if strings.TrimSpace(t.Instructions) == "" {
		add("no instructions")
	}
	if !t.Difficulty.Known() {
		add("difficulty %q is not one of easy, normal, hard", t.Difficulty)
	}
	for _, d := range t.DependsOn {
		if d == t.ID {
			add("depends on itself")
		} else if !ids[d] {
			add("depends on %q, which is not in the plan", d)
		}
	}
	for _, name := range t.Images {
		if _, ok := rules.Image(name); !ok {
			add("image %q is neither an attachment nor a file of the repository at the base", name)
		}
	}
	return faults
}

// cycle walks the dependencies depth first and gives the first circle as
// "a → b → a", or nothing.
func cycle(tasks []PlannedTask) string {
	deps := map[string][]string{}
	for _, t := range tasks {
		deps[t.ID] = t.DependsOn
	}
	const fresh, open, closed = 0, 1, 2
	mark := map[string]int{}
	var trail []string
	var visit func(id string) string
	visit = func(id string) string {
		switch mark[id] {
		case closed:
			return ""
		case open:
			at := 0
			for trail[at] != id {
				at++
			}
			return strings.Join(append(append([]string{}, trail[at:]...), id), " → ")
		}
		mark[id] = open
		trail = append(trail, id)
		for _, d := range deps[id] {
			if d == id { // said as its own fault
				continue
			}
			if loop := visit(d); loop != "" {
				return loop
			}
		}
		trail = trail[:len(trail)-1]
		mark[id] = closed
		return ""
	}
	for _, t := range tasks {
		if loop := visit(t.ID); loop != "" {
			return loop
		}
	}
	return ""
}
