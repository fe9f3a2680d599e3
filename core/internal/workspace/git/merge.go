package git

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// MergeSpec brings one attempt's commit into a job's branch.
type MergeSpec struct {
	Branch             string // full name, refs/heads/relo/<job>
	Start              string // where the branch begins when it does not exist yet
	Base               string // what the attempt began at
	Commit             string // what it made
	Message            string
	Job, Task, Attempt string
}

// Merged is the outcome. With conflicts nothing was changed.
type Merged struct {
	Commit    string     // the head of the branch afterwards
	Already   bool       // the branch held this attempt before
	Conflicts []Conflict // by path
}

// Conflict is one path on which both sides disagree.
type Conflict struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // git's word: content, modify/delete, binary, add/add, …; or in-the-way
}

// Merge makes one commit on the branch out of what changed between Base and
// Commit, without a worktree. The branch moves by compare-and-swap; a lost race
// starts again. Doing it twice does it once: the attempt's trailer is looked for.
// A branch that the person has checked out moves under them like a fetch.
func (r *Repo) Merge(ctx context.Context, spec MergeSpec) (Merged, error) {
	if err := checkRef(spec.Branch); err != nil {
		return Merged{}, err
	}
	if err := checkIDs(spec.Job, spec.Task, spec.Attempt); err != nil {
		return Merged{}, err
	}
	var err error
	if spec.Commit, err = r.Resolve(ctx, spec.Commit); err != nil {
		return Merged{}, err
	}
	r.merging.Lock()
	defer r.merging.Unlock()
	pause := lockPause
	for try := 1; ; try++ {
		done, err := r.mergeOnce(ctx, spec)
		if try >= mergeTries || !Is(err, KindRace) {
			if err != nil {
				return Merged{}, fmt.Errorf("merge attempt %s into %s: %w", spec.Attempt, spec.Branch, err)
			}
			return done, nil
		}
		if err := wait(ctx, pause); err != nil {
			return Merged{}, err
		}
		pause = min(2*pause, maxPause)
	}
}

func (r *Repo) mergeOnce(ctx context.Context, spec MergeSpec) (Merged, error) {
	start, err := r.Resolve(ctx, spec.Start)
	if err != nil {
		return Merged{}, err
	}
	head, old := "", ""
	switch head, err = r.refCommit(ctx, spec.Branch); {
	case err == nil:
		old = head
		if id, err := r.mergedAs(ctx, start, head, spec.Attempt); err != nil || id != "" {
			return Merged{Commit: head, Already: id != ""}, err
		}
	case Is(err, KindNotFound):
		head = start
	default:
		return Merged{}, err
	}
	tree, conflicts, err := r.threeWay(ctx, spec.Base, head, spec.Commit)
	if err != nil || len(conflicts) > 0 {
		return Merged{Commit: head, Conflicts: conflicts}, err
	}
	headTree, err := r.TreeOf(ctx, head)
	if err != nil {
		return Merged{}, err
	}
	next := head
	if tree != headTree {
		next, err = r.commitTree(ctx, newCommit{
			tree: tree, parents: []string{head}, message: withTrailers(spec.Message, spec.Job, spec.Task, spec.Attempt),
		})
		if err != nil {
			return Merged{}, err
		}
	}
	if next == old {
		return Merged{Commit: head}, nil // the attempt's changes were there already, from another one
	}
	return Merged{Commit: next}, r.moveRef(ctx, spec.Branch, next, old)
}

// mergedAs finds the commit with the attempt's trailer between start and head.
func (r *Repo) mergedAs(ctx context.Context, start, head, attempt string) (string, error) {
	res, err := r.run(ctx, call{at: r.home, plain: true, args: []string{
		"log", "-z", "--format=%H %(trailers:key=Relo-Attempt,valueonly=true,separator=%x20)", "--end-of-options", head, "^" + start,
	}})
	if err != nil {
		return "", fmt.Errorf("look for attempt %s: %w", attempt, err)
	}
	for _, line := range fields(res.out) {
		words := strings.Fields(line)
		for i, w := range words {
			if i > 0 && w == attempt {
				return words[0], nil
			}
		}
	}
	return "", nil
}

// threeWay merges the trees of ours and theirs over base's. `merge-tree
// --merge-base` came with 2.40, so both sides are dressed as children of base
// first, which makes base their merge base in every version.
func (r *Repo) threeWay(ctx context.Context, base, ours, theirs string) (tree string, conflicts []Conflict, err error) {
	base, err = r.resolved(ctx, base)
	if err != nil {
		return "", nil, err
	}
	var sides [2]string
	for i, rev := range []string{ours, theirs} {
		sides[i], err = r.commitTree(ctx, newCommit{tree: rev + "^{tree}", parents: []string{base}, message: "relo: a side of a merge\n", relo: true})
		if err != nil {
			return "", nil, err
		}
	}
	res, err := r.run(ctx, call{at: r.home, okay: []int{1}, args: []string{
		"merge-tree", "--write-tree", "-z", "--messages", sides[0], sides[1],
	}})
	if err != nil {
		return "", nil, fmt.Errorf("three-way merge: %w", err)
	}
	tree, conflicts, err = parseMerge(res.out)
	if err == nil && res.code == 1 && len(conflicts) == 0 {
		err = fmt.Errorf("three-way merge: git reports conflicts and names none")
	}
	if res.code == 0 {
		conflicts = nil
	}
	return tree, conflicts, err
}

var conflictKind = regexp.MustCompile(`^CONFLICT \(([^)]*)\)`)

// parseMerge reads merge-tree's -z answer: tree, then "mode id stage\tpath" records
// up to an empty one, then messages of count, paths, kind and words.
func parseMerge(out []byte) (tree string, conflicts []Conflict, err error) {
	parts := strings.Split(string(out), "\x00")
	tree, parts = parts[0], parts[1:]
	at := map[string]int{}
	add := func(path, kind string) {
		i, known := at[path]
		if !known {
			at[path] = len(conflicts)
			conflicts = append(conflicts, Conflict{Path: path, Kind: kind})
		} else if conflicts[i].Kind == "" {
			conflicts[i].Kind = kind
		}
	}
	for len(parts) > 0 {
		line := parts[0]
		parts = parts[1:]
		if line == "" {
			break
		}
		_, path, ok := strings.Cut(line, "\t")
		if !ok {
			return "", nil, fmt.Errorf("three-way merge: %q is not understood", bound(line, 200))
		}
		add(path, "")
	}
	for len(parts) > 1 {
		n, err := strconv.Atoi(parts[0])
		if err != nil || n < 0 || len(parts) < n+3 {
			return "", nil, fmt.Errorf("three-way merge: message %q is not understood", bound(parts[0], 200))
		}
		kind := conflictKind.FindStringSubmatch(parts[n+2]) // the words are finer than the type: add/add is a "contents" there
		if kind == nil {
			kind = conflictKind.FindStringSubmatch(parts[n+1])
		}
		if kind != nil {
			for _, path := range parts[1 : n+1] {
				add(path, kind[1])
			}
		}
		parts = parts[n+3:]
	}
	for i := range conflicts {
		if conflicts[i].Kind == "" {
			conflicts[i].Kind = "content"
		}
	}
	return tree, conflicts, nil
}
