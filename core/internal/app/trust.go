package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// Trust is what a project's file asks for that needs the person's word, and
// whether it was given for just this content.
type Trust struct {
	Dir      string           `json:"dir"` // root of the project
	File     string           `json:"file"`
	Hash     string           `json:"hash,omitempty"` // of what needs the person's word; empty: nothing does
	Approved bool             `json:"approved"`
	Changed  bool             `json:"changed,omitempty"` // other content was approved before
	At       *time.Time       `json:"approvedAt,omitempty"`
	Keys     []string         `json:"keys"` // those that need it: previews, worktree
	Previews []config.Preview `json:"previews,omitempty"`
	Worktree *config.Worktree `json:"worktree,omitempty"`
}

// approval is one line of the trust file.
type approval struct {
	Hash string    `json:"hash"`
	Time time.Time `json:"time"`
}

func (e Env) trustFile() string { return filepath.Join(e.places().State, "trust.json") }

// approvals reads what the person approved, by the project's root. A file that
// cannot be read approves nothing.
func (e Env) approvals() (map[string]approval, error) {
	text, err := os.ReadFile(e.trustFile())
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]approval{}, nil
	}
	all := map[string]approval{}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return map[string]approval{}, fmt.Errorf("read what you trust: %w", err)
	}
	return all, nil
}

// approved gives the content of a project that the person approved; empty: none.
func (e Env) approved(dir string) string {
	if dir == "" {
		return ""
	}
	all, _ := e.approvals()
	return all[dir].Hash
}

// LookTrust reads what waits in the project around a folder.
func LookTrust(e Env, dir string) (Trust, error) {
	root := projectDir(dir)
	t := Trust{Dir: root, File: filepath.Join(root, filepath.FromSlash(projectFile)), Keys: []string{}}
	in := config.Input{Places: e.places(), ProjectDir: root, Getenv: e.Getenv}
	bare, err := config.Load(in)
	if err != nil {
		return t, err
	}
	t.Hash = bare.ProjectHash
	if t.Hash == "" {
		return t, nil
	}
	all, err := e.approvals()
	if err != nil {
		return t, err
	}
	if a, ok := all[root]; ok {
		t.Approved, t.Changed, t.At = a.Hash == t.Hash, a.Hash != t.Hash, &a.Time
	}
	t.Keys = bare.Waiting
	in.Trusted = t.Hash
	whole, err := config.Load(in)
	if err != nil {
		return t, err
	}
	if slices.Contains(t.Keys, "previews") {
		t.Previews = whole.Previews
	}
	if slices.Contains(t.Keys, "worktree") {
		t.Worktree = &whole.Worktree
	}
	return t, nil
}

// Approve keeps the person's word for just what t shows. A file that changed
// meanwhile is refused.
func Approve(e Env, t Trust) error {
	now, err := LookTrust(e, t.Dir)
	if err != nil {
		return err
	}
	if now.Hash != t.Hash {
		return &protocol.Error{Code: protocol.CodeConflict, Message: "the project's file changed while you looked at it", Hint: "relo trust shows it again"}
	}
	return e.changeTrust(func(all map[string]approval) { all[t.Dir] = approval{t.Hash, time.Now().UTC()} })
}

// Revoke takes the word back; false: none was given.
func Revoke(e Env, dir string) (bool, error) {
	root, had := projectDir(dir), false
	err := e.changeTrust(func(all map[string]approval) {
		_, had = all[root]
		delete(all, root)
	})
	return had, err
}

// changeTrust writes the trust file anew, whole or not at all.
func (e Env) changeTrust(change func(map[string]approval)) error {
	all, err := e.approvals()
	if err != nil {
		return err
	}
	change(all)
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("encode what you trust: %w", err)
	}
	return e.writeState(e.trustFile(), text)
}

// writeState replaces a small file of Relo's state, whole or not at all.
func (e Env) writeState(name string, text []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make Relo's folder: %w", err)
	}
	f, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(name), err)
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", filepath.Base(name), err), os.Remove(f.Name()))
	}
	return nil
}
