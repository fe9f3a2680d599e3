package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// Snapshot is the person's working tree as a commit.
type Snapshot struct {
	Commit string   // on top of Head, or Head itself when nothing is changed
	Head   string   // the person's HEAD; empty before the first commit and without git
	Dirty  int      // paths that differ from Head; 0 in a folder without git
	Notes  []string // what is not carried, in words for the person
}

// rootSubject and workSubject are the subjects of commits that carry a folder's
// state and tell a reader nothing.
const (
	rootSubject = "relo: an empty beginning"
	workSubject = "relo: uncommitted changes"
)

// Snapshot commits the person's uncommitted work (changed, deleted and new files
// that are not ignored) on top of HEAD and points ref at it; the index, the
// branch and the files are not touched. Without a HEAD it stands on an empty
// commit. An empty ref sets none. KindInProgress when conflicts are not resolved.
func (r *Repo) Snapshot(ctx context.Context, ref string) (s Snapshot, err error) {
	if ref != "" {
		if err := checkRef(ref); err != nil {
			return s, err
		}
	}
	if r.shadow {
		if err := r.measure(ctx); err != nil {
			return s, err
		}
	}
	if s.Head, err = r.head(ctx); err != nil {
		return s, err
	}
	c, err := r.indexCall(ctx, r.home, r.indexOf(r.home))
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, dropIndex(c.index)) }()
	if err := r.snapshot(ctx, c, &s); err != nil {
		return s, fmt.Errorf("snapshot: %w", err)
	}
	if ref == "" {
		return s, nil
	}
	return s, r.SetRef(ctx, ref, s.Commit)
}

func (r *Repo) snapshot(ctx context.Context, c call, s *Snapshot) error {
	note, err := r.stage(ctx, c, true)
	if err != nil {
		return err
	}
	if len(note.unmerged) > 0 {
		return r.unmergedError(note.unmerged)
	}
	if s.Commit = s.Head; s.Head == "" {
		if s.Commit, err = r.emptyRoot(ctx); err != nil {
			return err
		}
	}
	if r.shadow {
		// Its index is kept, and is Relo's: what is ignored by now leaves it.
		if err := r.dropIgnored(ctx, c, func() (string, error) { return s.Commit, nil }); err != nil {
			return err
		}
	}
	if s.Notes, err = r.notes(ctx, c, note); err != nil {
		return err
	}
	tree, err := r.writeTree(ctx, c)
	if err != nil {
		return err
	}
	if r.shadow {
		if err := ignoreMissing(os.Rename(c.index, r.indexOf(r.home))); err != nil {
			return fmt.Errorf("keep the index: %w", err)
		}
	}
	headTree, err := r.TreeOf(ctx, s.Commit)
	if err != nil || tree == headTree {
		return err
	}
	if !r.shadow { // without git there is nothing that changes could be uncommitted to
		changes, err := r.Changes(ctx, headTree, tree)
		if err != nil {
			return err
		}
		s.Dirty = len(changes)
	}
	s.Commit, err = r.commitTree(ctx, newCommit{tree: tree, parents: []string{s.Commit}, message: workSubject + "\n", relo: true})
	return err
}

// notes tells the person what the workspaces will not have, and why.
func (r *Repo) notes(ctx context.Context, c call, note staged) ([]string, error) {
	list := note.words()
	if o, ok := r.ongoing(); ok {
		list = append(list, o.name+" is under way: the files are carried as they are now, and nothing can be applied before it is ended")
	}
	modules, err := r.moduleNotes(ctx, note.links)
	if err != nil {
		return nil, err
	}
	list = append(list, modules...)
	if r.mayUseLFS(note.all, note.paths) {
		all, err := r.entries(ctx, c)
		if err != nil {
			return nil, err
		}
		lfs, err := r.lfsNotes(ctx, c, all)
		if err != nil {
			return nil, err
		}
		list = append(list, lfs...)
	}
	if clash := caseClashes(note); len(clash) > 0 {
		list = append(list, "names that differ only in case, of which some systems keep one only: "+listed(clash))
	}
	return list, nil
}

func (n staged) words() []string {
	var list []string
	if len(n.nested) > 0 {
		list = append(list, "repositories inside the folder are not carried: "+listed(n.nested))
	}
	if len(n.huge) > 0 {
		list = append(list, fmt.Sprintf("files of more than %s are not carried as they are now: %s", sized(maxFile), listed(n.huge)))
	}
	if len(n.made) > 0 {
		list = append(list, "folders that tools make are left out: "+listed(n.made))
	}
	return list
}

// lfsNotes names the files of LFS whose contents no worktree will have.
func (r *Repo) lfsNotes(ctx context.Context, c call, all []entry) ([]string, error) {
	files, err := r.pointers(ctx, c, all)
	if err != nil {
		return nil, err
	}
	var missing, over []string
	left := int64(maxFill)
	for _, f := range files {
		switch {
		case !r.hasObject(f.pointer):
			missing = append(missing, f.path)
		case f.size > left:
			over = append(over, f.path)
		default:
			left -= f.size
		}
	}
	var list []string
	if len(missing) > 0 {
		list = append(list, "files of LFS that are not on this machine are pointers in the workspaces: "+listed(missing)+"; run `git lfs fetch` for their contents")
	}
	if len(over) > 0 {
		list = append(list, fmt.Sprintf("files of LFS beyond the first %s are pointers in the workspaces: %s", sized(maxFill), listed(over)))
	}
	return list, nil
}

// caseClashes lists paths that are one on a file system without case. Looked at
// is what was there before and what is new: a file renamed to another case is two.
func caseClashes(n staged) []string {
	seen := make(map[string]string, len(n.all))
	var list []string
	look := func(name string) {
		low := strings.ToLower(name)
		if first, ok := seen[low]; ok && first != name {
			list = append(list, first, name)
		}
		seen[low] = name
	}
	for _, e := range n.all {
		look(e.path)
	}
	for _, p := range n.paths {
		look(p)
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
