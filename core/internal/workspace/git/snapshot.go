package git

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Snapshot is the person's working tree as a commit.
type Snapshot struct {
	Commit string   // on top of Head, or Head itself when nothing is changed
	Head   string   // the person's HEAD
	Dirty  int      // paths that differ from Head
	Notes  []string // what is not carried, in words for the person
}

// Snapshot commits the person's uncommitted work (changed, deleted and new files
// that are not ignored) on top of HEAD and points ref at it; the index, the
// branch and the files are not touched. An empty ref sets none.
func (r *Repo) Snapshot(ctx context.Context, ref string) (s Snapshot, err error) {
	if ref != "" {
		if err := checkRef(ref); err != nil {
			return s, err
		}
	}
	if s.Head, err = r.Resolve(ctx, "HEAD"); err != nil {
		return s, err
	}
	c, err := r.indexCall(ctx, r.home, r.indexOf(r.home))
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, dropIndex(c.index)) }()
	note, err := r.stage(ctx, c)
	if err != nil {
		return s, fmt.Errorf("snapshot: %w", err)
	}
	s.Notes = note.words()
	tree, err := r.writeTree(ctx, c)
	if err != nil {
		return s, fmt.Errorf("snapshot: %w", err)
	}
	headTree, err := r.TreeOf(ctx, s.Head)
	if err != nil {
		return s, err
	}
	s.Commit = s.Head
	if tree != headTree {
		changes, err := r.Changes(ctx, headTree, tree)
		if err != nil {
			return s, err
		}
		s.Dirty = len(changes)
		s.Commit, err = r.commitTree(ctx, newCommit{tree: tree, parents: []string{s.Head}, message: "relo: uncommitted changes\n", relo: true})
		if err != nil {
			return s, fmt.Errorf("snapshot: %w", err)
		}
	}
	if ref == "" {
		return s, nil
	}
	return s, r.SetRef(ctx, ref, s.Commit)
}

func (n staged) words() []string {
	var list []string
	if len(n.submodules) > 0 {
		list = append(list, "submodules are not carried, their folders are empty in the workspaces: "+listed(n.submodules))
	}
	if len(n.nested) > 0 {
		list = append(list, "repositories inside the folder are not carried: "+listed(n.nested))
	}
	return list
}

func (r *Repo) writeTree(ctx context.Context, c call) (string, error) {
	c.args = []string{"write-tree"} // it may read files again, through filters
	return r.text(ctx, c)
}

// newCommit is what commitTree makes.
type newCommit struct {
	tree    string
	parents []string
	message string
	date    time.Time // zero: now
	relo    bool      // in Relo's name, whatever identity is configured
}

// commitTree writes a commit object. It is never signed: commit-tree signs only
// when told to.
func (r *Repo) commitTree(ctx context.Context, n newCommit) (string, error) {
	c := call{at: r.home, plain: true, args: []string{"commit-tree", n.tree}, in: []byte(n.message)}
	for _, p := range n.parents {
		c.args = append(c.args, "-p", p)
	}
	c.args = append(c.args, "-F", "-")
	known := false
	if !n.relo {
		var err error
		if known, err = r.knowsPerson(ctx); err != nil {
			return "", err
		}
	}
	if !known {
		c.env = append(c.env, reloIdentity...)
	}
	if !n.date.IsZero() {
		stamp := fmt.Sprintf("@%d +0000", n.date.Unix())
		c.env = append(c.env, "GIT_AUTHOR_DATE="+stamp, "GIT_COMMITTER_DATE="+stamp)
	}
	return r.text(ctx, c)
}

var reloIdentity = []string{
	"GIT_AUTHOR_NAME=Relo", "GIT_AUTHOR_EMAIL=relo@localhost",
	"GIT_COMMITTER_NAME=Relo", "GIT_COMMITTER_EMAIL=relo@localhost",
}

// knowsPerson reports whether git has a name and an address without guessing
// them from the machine.
func (r *Repo) knowsPerson(ctx context.Context) (bool, error) {
	_, err := r.run(ctx, call{at: r.home, plain: true, args: []string{"-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT"}})
	if _, refused := asError(err); refused {
		return false, nil
	}
	return err == nil, err
}
