package job

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func planned(id string, after ...string) PlannedTask {
	return PlannedTask{ID: id, Title: "t", Instructions: "i", Difficulty: Easy, DependsOn: after}
}

var rules = PlanRules{MaxTasks: 5, Image: func(name string) (Image, bool) { return Image{Path: name}, name == "there.png" }}

func TestCheckPlan(t *testing.T) {
	with := func(change func(*PlannedTask)) []PlannedTask {
		p := planned("a")
		change(&p)
		return []PlannedTask{p}
	}
	tests := []struct {
		tasks []PlannedTask
		fault string // empty: none
		why   string
	}{
		{[]PlannedTask{planned("a"), planned("b", "a"), planned("c", "a", "b")}, "", "a plan that can run"},
		{with(func(p *PlannedTask) { p.Images = []string{"there.png"} }), "", "an image that is there"},
		{nil, "no tasks", "no tasks"},
		{slices.Repeat([]PlannedTask{planned("a")}, 1), "", "one task"},
		{[]PlannedTask{planned("a"), planned("b"), planned("c"), planned("d"), planned("e"), planned("f")}, "6 tasks; at most 5", "too many tasks"},
		{[]PlannedTask{planned("a"), planned("a")}, `"a" is used twice`, "an id twice"},
		{with(func(p *PlannedTask) { p.ID = "" }), "task 1 has no id", "no id"},
		{with(func(p *PlannedTask) { p.ID = "a b" }), "one short word", "a space in the id"},
		{with(func(p *PlannedTask) { p.ID = "a/b" }), "one short word", "a slash in the id"},
		{with(func(p *PlannedTask) { p.ID = "a\x1b[2J" }), "one short word", "an escape in the id"},
		{with(func(p *PlannedTask) { p.ID = "a\u202eb" }), "one short word", "a turn of direction in the id"},
		{with(func(p *PlannedTask) { p.ID = strings.Repeat("a", maxKey) }), "", "an id of just the length"},
		{with(func(p *PlannedTask) { p.ID = strings.Repeat("a", maxKey+1) }), "one short word", "an id too long"},
		{with(func(p *PlannedTask) { p.Title = " " }), "no title", "no title"},
		{with(func(p *PlannedTask) { p.Instructions = "\n" }), "no instructions", "no instructions"},
		{with(func(p *PlannedTask) { p.Difficulty = "medium" }), `difficulty "medium"`, "a difficulty that is none"},
		{with(func(p *PlannedTask) { p.DependsOn = []string{"z"} }), `depends on "z", which is not in the plan`, "an unknown dependency"},
		{with(func(p *PlannedTask) { p.DependsOn = []string{"a"} }), "depends on itself", "itself"},
		{with(func(p *PlannedTask) { p.Images = []string{"gone.png"} }), `image "gone.png"`, "an unknown image"},
		{[]PlannedTask{planned("a", "b"), planned("b", "a")}, "a → b → a", "two in a circle"},
		{[]PlannedTask{planned("x", "a"), planned("a", "b"), planned("b", "c"), planned("c", "a")}, "circle: a → b → c → a", "a circle without the one that leads into it"},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			faults := CheckPlan(c.tasks, rules)
			switch {
			case c.fault == "" && len(faults) > 0:
				t.Errorf("found %q", faults)
			case c.fault != "" && (len(faults) != 1 || !strings.Contains(faults[0], c.fault)):
				t.Errorf("found %q, want one with %q", faults, c.fault)
			}
		})
	}
}

func TestEveryFaultOfAPlanIsNamedAtOnce(t *testing.T) {
	bad := PlannedTask{ID: "bad one", Difficulty: "?", DependsOn: []string{"bad one", "nobody"}, Images: []string{"gone.png"}}
	faults := CheckPlan([]PlannedTask{bad, planned("a", "b"), planned("b", "a"), planned("a"), {}}, rules)
	for _, want := range []string{
		"one short word", "used twice", "task 5 has no id", `"bad one": no title`, `"bad one": no instructions`, `difficulty "?"`, "depends on itself",
		`"nobody"`, "gone.png", `"": no title`,
	} {
		if !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, want) }) {
			t.Errorf("nobody says %q in %q", want, faults)
		}
	}
}

// A plan is said to go in a circle exactly when its tasks cannot be put in order.
func TestACircleIsFoundWhenThereIsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "tasks")
		var tasks []PlannedTask
		for i := range n {
			var after []string
			for k := range n {
				if k != i && rapid.IntRange(0, 4).Draw(t, "edge") == 0 {
					after = append(after, fmt.Sprint(k))
				}
			}
			tasks = append(tasks, planned(fmt.Sprint(i), after...))
		}
		loop := cycle(tasks)
		if (loop == "") != sortable(tasks) {
			t.Fatalf("circle %q, sortable %v", loop, sortable(tasks))
		}
		if loop == "" {
			return
		}
		trail := strings.Split(loop, " → ")
		for i := range len(trail) - 1 {
			at := slices.IndexFunc(tasks, func(p PlannedTask) bool { return p.ID == trail[i] })
			if !slices.Contains(tasks[at].DependsOn, trail[i+1]) {
				t.Fatalf("%s does not depend on %s in %q", trail[i], trail[i+1], loop)
			}
		}
		if len(trail) < 3 || trail[0] != trail[len(trail)-1] {
			t.Fatalf("%q is no circle", loop)
		}
	})
}

// sortable takes away what depends on nothing that is left, until it stops.
func sortable(tasks []PlannedTask) bool {
	left := map[string][]string{}
	for _, p := range tasks {
		left[p.ID] = p.DependsOn
	}
	for range tasks {
		for id, deps := range left {
			if !slices.ContainsFunc(deps, func(d string) bool { _, ok := left[d]; return ok }) {
				delete(left, id)
			}
		}
	}
	return len(left) == 0
}

func TestPicturesThatDrawNothing(t *testing.T) {
	for name, want := range map[string]bool{"a.md": false, "A.MD": false, "x/y.csv": false, "a.md.go": true, "Makefile": true, "style.css": true} {
		if got := MakesPicture([]FileChange{{Path: name}}); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
