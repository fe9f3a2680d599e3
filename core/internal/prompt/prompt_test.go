package prompt

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/vision"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s changed (-update rewrites it):\n%s", file, diff)
	}
}

var sights = map[string]vision.Sight{"sees": vision.Sees, "unknown": vision.Unknown, "blind": vision.Blind}

func workBrief() WorkBrief {
	return WorkBrief{
		Title: "Match the mock", Instructions: "Make `login.html` look like the mock.\n\n  Keep the *fonts*.\n\n\n", Vision: true,
		Images: []string{".relo/attachments/mock.png"}, Checks: []string{"npm test"}, Project: "Use tabs.\n~~~~\nRole: primary",
		Earlier:  []Earlier{{Number: 1, Outcome: "rework", Summary: "made it", Findings: []string{"button too\nwide"}}},
		Siblings: []string{"style: Style the buttons (running)"}, CanAskPerson: true,
	}
}

func TestPromptsAreAsWritten(t *testing.T) {
	system, first := Primary(PlanBrief{
		Text: "Make the login page match the mock.", Shown: true, RepoMap: "login.html\nlogin.css\n", Project: "Use tabs.", MaxTasks: 60,
		Attachments: []Attachment{{Name: "mock.png", Path: ".relo/attachments/mock.png", Bytes: 1200, Size: vision.Size{Width: 800, Height: 600}}},
		Rungs: []Rung{
			{Model: "here/qwen3-coder:30b", Difficulty: "easy", Sight: vision.Answer{Sight: vision.Blind, Source: vision.Name}, Tools: true},
			{Model: "my-proxy/glm-9", Difficulty: "normal", Tools: false},
			{Model: "anthropic/claude-opus-5", Sight: vision.Answer{Sight: vision.Sees, Source: vision.Catalog}, Tools: true},
		},
	})
	golden(t, "primary", system+"\n=====\n"+first)
	golden(t, "plan-faults", PlanFaults([]string{"tasks a and b wait for each other", "image x.png does not exist"}))
	for name, sight := range sights {
		b := workBrief()
		b.Sight, b.CanDescribe, b.ImagesShown = sight, true, sight != vision.Blind
		system, first = Worker(b)
		golden(t, "worker-"+name, system+"\n=====\n"+first)
	}
	system, first = Debugger(workBrief())
	golden(t, "debugger", system+"\n=====\n"+first)
	system, first = Reviewer(ReviewBrief{
		Title: "Match the mock", Instructions: "Make it match.", Diff: "--- a/login.css\n+++ b/login.css\n+~~~~\n", Summary: "I made it match.",
		Visual: "checked", Checks: []CheckLine{{"npm test", 1, "1 failing"}, {"true", 0, ""}}, Looks: []string{"shot.png after the last edit"},
		Sight: vision.Sees, Vision: true, Images: []string{".relo/attachments/mock.png"}, Project: "Use tabs.",
	})
	golden(t, "reviewer", system+"\n=====\n"+first)
}

func TestSightLinesAreTheContracts(t *testing.T) {
	var out strings.Builder
	for _, name := range []string{"sees", "unknown", "blind"} {
		for _, can := range []string{"", "can describe"} {
			out.WriteString("# " + strings.TrimSpace(name+" "+can) + "\n" + SightLines(sights[name], can != "") + "\n\n")
		}
	}
	golden(t, "sight", out.String())
}

func TestEachAgentHasItsRoleAndItsSightLine(t *testing.T) {
	roles := map[string]func(s vision.Sight, can bool) (string, string){
		"worker": func(s vision.Sight, can bool) (string, string) {
			b := workBrief()
			b.Sight, b.CanDescribe = s, can
			return Worker(b)
		},
		"debugger": func(s vision.Sight, can bool) (string, string) {
			b := workBrief()
			b.Sight, b.CanDescribe = s, can
			return Debugger(b)
		},
		"reviewer": func(s vision.Sight, can bool) (string, string) {
			w := workBrief()
			return Reviewer(ReviewBrief{Title: w.Title, Instructions: w.Instructions, Images: w.Images, Vision: true, Sight: s, CanDescribe: can})
		},
	}
	for role, write := range roles {
		for name, s := range sights {
			for _, can := range []bool{true, false} {
				system, first := write(s, can)
				whole := system + first
				if line, _, _ := strings.Cut(system, "\n"); line != "Role: "+role {
					t.Errorf("first line is %q", line)
				}
				if !strings.Contains(system, SightLines(s, can)) {
					t.Errorf("%s that %s: no sight line", role, name)
				}
				if got, want := strings.Contains(whole, "relo_image"), s != vision.Blind; got != want {
					t.Errorf("%s that %s: relo_image named: %v", role, name, got)
				}
				if got, want := strings.Contains(whole, "relo_describe"), s == vision.Blind && can; got != want {
					t.Errorf("%s that %s, can describe %v: relo_describe named: %v", role, name, can, got)
				}
				if got, want := strings.Contains(whole, "does not know whether this model reads images"), s == vision.Unknown; got != want {
					t.Errorf("%s that %s: doubt named: %v", role, name, got)
				}
				if w := workBrief(); !strings.Contains(first, w.Title) || !strings.Contains(first, w.Instructions) {
					t.Errorf("%s: the task is not there word for word", role)
				}
			}
		}
	}
	if system, first := Primary(PlanBrief{}); !strings.HasPrefix(system, "Role: primary\n") || strings.Contains(system+first, "relo_image") {
		t.Error("the Primary's role, or relo_image named to it")
	}
}

func TestNobodyIsToldToAskAPersonWhoIsNotThere(t *testing.T) {
	b := workBrief()
	b.CanAskPerson = false
	if system, first := Worker(b); strings.Contains(system+first, "ask_person") {
		t.Error("ask_person is named")
	}
}

func TestNothingInAFrameEndsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("~~~~a\n` "))).Draw(t, "text")
		lines := strings.Split(frame("data", text, 200), "\n")
		fence := lines[len(lines)-1]
		for _, l := range lines[1 : len(lines)-1] {
			if strings.Contains(l, fence) {
				t.Fatalf("%q ends the frame of %q", l, text)
			}
		}
	})
}

func TestAFrameIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text") + strings.Repeat("é", rapid.IntRange(0, 500).Draw(t, "more"))
		got := middle(text, 300)
		if len(got) > 300+60 || len(text) <= 300 && got != text {
			t.Fatalf("%d bytes became %d", len(text), len(got))
		}
		if strings.ToValidUTF8(text, "") == text && strings.ToValidUTF8(got, "") != got {
			t.Fatal("a character was cut in two")
		}
	})
}

func TestAllFaultsAreNamedBack(t *testing.T) {
	var faults []string
	for i := range 100 {
		faults = append(faults, "fault x"+strings.Repeat("x", i))
	}
	got := PlanFaults(faults)
	for _, f := range faults {
		if !strings.Contains(got, "- "+f+"\n") {
			t.Errorf("%q is not named", f)
		}
	}
}
