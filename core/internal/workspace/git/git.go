// Package git carries jobs in git repositories: the person's uncommitted work as
// a commit, a worktree for each attempt, merges without a worktree, and the apply
// with its undo. It runs the real git program with everything off that a
// repository could start, and never changes the person's index, branch or HEAD;
// their files only in Apply and Undo, and never over an edit of theirs. A folder
// without git gets a shadow repository elsewhere.
package git

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Repo is one repository, with the working tree of the person. It is safe for
// concurrent use.
type Repo struct {
	program string
	env     []string
	home    place  // the person's working tree
	common  string // the git dir shared by all worktrees
	shadow  bool   // the git dir is Relo's own, the folder knows nothing of it

	adding  sync.Mutex // one worktree is added or removed at a time
	merging sync.Mutex // one merge at a time; against other processes the ref's old value guards
	files   sync.Mutex // one apply or undo at a time

	beforeWrite func(path string) // set by tests only, to edit a file at the worst moment
}

// Open finds the repository around dir. One without a commit, with a detached
// head or with a merge under way is opened like any other. Errors are of kind
// KindNoGit, KindOldGit, KindNoRepository, KindNoWorktree, KindNoCommits or KindOwner.
func Open(ctx context.Context, dir string) (*Repo, error) {
	r, dir, err := start(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := r.find(ctx, dir); err != nil {
		return nil, err
	}
	if _, err := r.head(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// start finds git and looks at its version; dir comes back absolute.
func start(ctx context.Context, dir string) (*Repo, string, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, "", &Error{Kind: KindNoGit, Doing: "look for git", Hint: "install git 2.38 or newer", Err: err}
	}
	if program, err = filepath.Abs(program); err != nil {
		return nil, "", fmt.Errorf("find git: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, "", fmt.Errorf("find %s: %w", dir, err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, "", &Error{Kind: KindNoRepository, Doing: "open " + dir, Words: "no such folder", Err: err}
	}
	r := &Repo{program: program, env: cleanEnv(os.Environ())}
	return r, dir, r.checkVersion(ctx, dir)
}

// head gives the person's HEAD; empty when it is unborn, that is, before the
// first commit, and in a shadow repository.
func (r *Repo) head(ctx context.Context) (string, error) {
	if r.shadow {
		return "", nil
	}
	id, err := r.Resolve(ctx, "HEAD")
	if !Is(err, KindNotFound) {
		return id, err
	}
	branch, berr := r.text(ctx, call{at: r.home, plain: true, args: []string{"symbolic-ref", "--quiet", "HEAD"}})
	if berr == nil {
		res, rerr := r.run(ctx, call{at: r.home, plain: true, okay: []int{1}, args: []string{"show-ref", "--verify", "--quiet", branch}})
		if rerr == nil && res.code == 1 {
			return "", nil
		}
	}
	return "", &Error{
		Kind: KindNoCommits, Doing: "open " + r.home.tree, Words: "HEAD names a commit that is not there",
		Hint: "look with `git fsck`, or switch to a branch that works: git switch <branch>", Err: err,
	}
}

// Root is the person's working tree, an absolute path.
func (r *Repo) Root() string { return r.home.tree }

// Shadow reports whether the folder knows nothing of the repository: Relo keeps it elsewhere.
func (r *Repo) Shadow() bool { return r.shadow }

// Dir is the git folder that all worktrees share, an absolute path.
func (r *Repo) Dir() string { return r.common }

var versionWords = regexp.MustCompile(`git version (\d+)\.(\d+)`)

func (r *Repo) checkVersion(ctx context.Context, dir string) error {
	words, err := r.text(ctx, call{at: place{tree: dir}, args: []string{"version"}, plain: true})
	if err != nil {
		return err
	}
	return checkVersion(words)
}

func checkVersion(words string) error {
	found := versionWords.FindStringSubmatch(words)
	if found == nil {
		return &Error{Kind: KindOldGit, Doing: "ask git for its version", Words: bound(words, 200)}
	}
	major, _ := strconv.Atoi(found[1])
	minor, _ := strconv.Atoi(found[2])
	if major > minMajor || (major == minMajor && minor >= minMinor) {
		return nil
	}
	return &Error{
		Kind: KindOldGit, Doing: "use " + bound(words, 200),
		Words: fmt.Sprintf("Relo needs git %d.%d or newer", minMajor, minMinor),
	}
}

// find discovers the folders the way git does, so that its own check of the
// owner holds, then compares: files that lie elsewhere (core.worktree) are refused.
func (r *Repo) find(ctx context.Context, dir string) error {
	out, err := r.text(ctx, call{at: place{tree: dir}, plain: true, args: []string{
		"rev-parse", "--path-format=absolute", "--is-bare-repository", "--absolute-git-dir", "--git-common-dir",
	}})
	if err != nil {
		if e, ok := asError(err); ok && e.Kind == KindNoRepository {
			e.Hint = "run `git init` there"
		}
		return err
	}
	lines := strings.Split(out, "\n")
	if len(lines) != 3 || lines[0] == "true" {
		return &Error{Kind: KindNoWorktree, Doing: "open " + dir, Words: "a bare repository has no files to work on"}
	}
	r.home.gitDir, r.common = filepath.FromSlash(lines[1]), filepath.FromSlash(lines[2])
	root, err := r.text(ctx, call{at: place{tree: dir}, plain: true, args: []string{"rev-parse", "--path-format=absolute", "--show-toplevel"}})
	if err != nil {
		return &Error{Kind: KindNoWorktree, Doing: "open " + dir, Words: "not inside a working tree", Err: err}
	}
	r.home.tree = filepath.FromSlash(root)
	again, err := r.text(ctx, call{at: place{tree: r.home.tree}, plain: true, args: []string{"rev-parse", "--absolute-git-dir"}})
	if err != nil || again != lines[1] {
		return &Error{
			Kind: KindNoWorktree, Doing: "open " + dir, Err: err,
			Words: fmt.Sprintf("the repository's configuration puts its files into %s, which is not its own folder", r.home.tree),
		}
	}
	return nil
}
