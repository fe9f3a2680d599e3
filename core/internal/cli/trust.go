package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// trustDoors lead to what the person approved of projects; tests open others.
type trustDoors struct {
	lookTrust  func(app.Env, string) (app.Trust, error)
	approve    func(app.Env, app.Trust) error
	revoke     func(app.Env, string) (bool, error)
	approveMCP func(app.Env, string) (string, error)
}

func realTrust() trustDoors {
	return trustDoors{app.LookTrust, app.Approve, app.Revoke, app.ApproveServer}
}

// trustFlags are the flags of trust.
type trustFlags struct {
	revoke, show, yes, noInput bool
	mcp                        string
}

func (s *shell) trustCmd() *cobra.Command {
	var f trustFlags
	c := &cobra.Command{
		Use: "trust [DIR]", Short: "Approve the commands and files that a project's .relo/relo.json asks for",
		Long: "Approve what a project's .relo/relo.json asks for that could run a program or copy a file: previews and worktree.\n" +
			"The word holds for just this content: when the file changes, it waits again.",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return exactly("DIR")(c, args)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if f.mcp != "" {
				return s.trustServer(f.mcp)
			}
			f.noInput, _ = c.Flags().GetBool("no-input")
			return s.trust(c.Context(), f, strings.Join(args, ""))
		},
	}
	c.Flags().BoolVar(&f.revoke, "revoke", false, "take the approval back")
	c.Flags().BoolVar(&f.show, "show", false, "only show what is asked for and whether it was approved")
	c.Flags().BoolVar(&f.yes, "yes", false, "approve without being asked")
	c.Flags().StringVar(&f.mcp, "mcp", "", "approve the tools of one of your own MCP servers as they are now")
	c.MarkFlagsMutuallyExclusive("revoke", "show", "yes", "mcp")
	return c
}

// trustServer approves a tool server's list that changed.
func (s *shell) trustServer(name string) error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	changes, err := s.approveMCP(env, name)
	switch {
	case err != nil:
		return err
	case s.json:
		s.out.doc(map[string]string{"server": name, "changes": changes})
	case changes == "":
		s.note.line("nothing of the tool server %s waits for your word", flat(name, 0))
	default:
		s.note.line("approved: %s", flat(changes, 0))
	}
	return nil
}

func (s *shell) trust(ctx context.Context, f trustFlags, dir string) error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(env.Dir, dir)
	}
	if f.revoke {
		return s.distrust(env, dir)
	}
	t, err := s.lookTrust(env, dir)
	if err != nil {
		return err
	}
	if f.show && s.json {
		s.out.doc(t)
		return nil
	}
	if t.Hash == "" {
		return s.trusted(t, fmt.Sprintf("nothing in %s needs your approval", t.File))
	}
	if !s.json {
		s.wishes(t)
	}
	switch {
	case t.Approved:
		return s.trusted(t, "you approved just this")
	case f.show:
		s.out.line("it waits for your approval: relo trust %s", quoted(t.Dir))
		return nil
	case !f.yes && (f.noInput || !s.terminal(s.in)):
		return &protocol.Error{Code: protocol.CodeConflict, Message: "a person must approve this, and nobody can be asked here", Hint: "relo trust --yes approves what relo trust --show shows"}
	case !f.yes:
		if yes, err := s.agrees(ctx, "Approve this? [y/N] "); err != nil || !yes {
			return cmp.Or(err, s.trusted(t, "nothing was approved"))
		}
	}
	if err := s.approve(env, t); err != nil {
		return err
	}
	t.Approved, t.Changed = true, false
	return s.trusted(t, "approved; relo trust --revoke takes it back")
}

// trusted ends a trust command with the document, or a sentence.
func (s *shell) trusted(t app.Trust, words string) error {
	if s.json {
		s.out.doc(t)
		return nil
	}
	s.out.line("%s", words)
	return nil
}

func (s *shell) distrust(env app.Env, dir string) error {
	had, err := s.revoke(env, dir)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(map[string]bool{"revoked": had})
		return nil
	}
	words := "nothing was approved for this project"
	if had {
		words = "the approval was taken back; it takes effect for attempts that begin from now on"
	}
	s.out.line("%s", words)
	return nil
}

// wishes shows what a project asks for, exactly.
func (s *shell) wishes(t app.Trust) {
	s.out.line("%s asks for:", t.File)
	if w := t.Worktree; w != nil {
		for _, name := range w.Copy {
			s.out.line("  copy into each attempt's folder: %s", flat(name, 0))
		}
		if w.Setup != "" {
			s.out.line("  run in each attempt's folder first: %s", flat(w.Setup, 0))
		}
	}
	for _, p := range t.Previews {
		s.out.line("  preview %s: run %s", flat(p.Name, 0), flat(strings.Join(p.Command, " "), 0))
	}
	if t.Changed {
		s.out.line("You approved other content on %s: it changed since.", t.At.Local().Format("2006-01-02"))
	}
}

// saysWaiting tells in one line that a project asks for what was not approved.
func (s *shell) saysWaiting(cfg *config.Config, dir string) {
	if len(cfg.Waiting) > 0 {
		verbs := "waits for your approval and is not used"
		if len(cfg.Waiting) > 1 {
			verbs = "wait for your approval and are not used"
		}
		s.note.line("the project's %s %s: relo trust %s", strings.Join(cfg.Waiting, " and "), verbs, quoted(dir))
	}
}
