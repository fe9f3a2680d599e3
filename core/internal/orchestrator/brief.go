package orchestrator

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/vision"
)

// offered names the tools of an agent: its role's, and relo_image when pictures
// may reach its model, else relo_describe when another may look for it.
func offered(kind job.TaskKind, eyes vision.Sight, lookers bool) []string {
	names := []string{"read", "write", "edit", "ls", "glob", "grep", "bash"}
	if kind == job.Review {
		names = []string{"read", "ls", "glob", "grep", "bash"}
	}
	switch {
	case eyes != vision.Blind:
		names = append(names, prompt.Image().Name)
	case lookers:
		names = append(names, prompt.Describe().Name)
	}
	if kind == job.Review {
		return append(names, prompt.SubmitReview().Name)
	}
	return append(names, prompt.AskPerson().Name, prompt.FinishTask().Name)
}

// projectBytes bounds how much of AGENTS.md an agent is told.
const projectBytes = 16 << 10

// brief words the agent's prompt and its first message for its role.
func (k *work) brief() (system, first string) {
	a := k.a
	var earlier []prompt.Earlier
	for _, e := range a.Earlier {
		earlier = append(earlier, prompt.Earlier{Number: e.Number, Outcome: e.Outcome, Summary: e.Summary, Findings: e.Findings})
	}
	if a.Kind == job.Review {
		return prompt.Reviewer(k.reviewBrief())
	}
	b := prompt.WorkBrief{
		Title: a.Title, Instructions: a.Instructions, Sight: a.Eyes, Vision: a.Vision, Images: k.imagePaths(), ImagesShown: a.Eyes != vision.Blind, CanDescribe: a.Lookers,
		Checks: a.Checks, Project: k.project(), Earlier: earlier, Siblings: a.Siblings,
	}
	if a.Kind == job.Debug {
		return prompt.Debugger(b)
	}
	return prompt.Worker(b)
}

func (k *work) reviewBrief() prompt.ReviewBrief {
	a := k.a
	b := prompt.ReviewBrief{
		Title: a.Title, Instructions: a.Instructions, Sight: a.Eyes, Vision: a.Vision, Images: k.imagePaths(), Project: k.project(), CanDescribe: a.Lookers,
	}
	if r := a.Review; r != nil {
		b.Diff, b.Summary, b.Visual = r.Diff, r.Summary, r.Visual
		for _, c := range r.Checks {
			b.Checks = append(b.Checks, prompt.CheckLine{Command: c.Command, Exit: c.Exit, Output: c.Output})
		}
		for _, l := range r.Looks {
			when := "before the last edit"
			if l.AfterLastEdit {
				when = "after the last edit"
			}
			b.Looks = append(b.Looks, fmt.Sprintf("%s (%s, %s, %s)", l.Path, l.Role, l.How, when))
		}
	}
	return b
}

// project reads the repository's own word to agents.
func (k *work) project() string {
	root, err := os.OpenRoot(k.dir)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }()
	for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
		text, err := root.ReadFile(filepath.FromSlash(name))
		if err == nil {
			return string(text[:min(len(text), projectBytes)])
		}
	}
	return ""
}
