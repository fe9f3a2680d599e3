package git

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// staged says what a staging left out, and what it found.
type staged struct {
	all      []entry  // the index as it was before
	links    []entry  // submodules: recorded as the index says, their files are not carried
	nested   []string // repositories inside the folder that are not submodules
	unmerged []string // with a conflict that is not resolved
	huge     []string // over maxFile
	made     []string // folders that tools make, in a folder without git
	paths    []string // what was looked at: changed, new and gone
}

// stage brings a private index to what the working tree holds: changed, deleted
// and new files that are not ignored; files of LFS as their pointers, whose objects
// go into the local store when keep is set. Not staged: Relo's own folder,
// submodules, repositories inside the folder, and files over maxFile.
func (r *Repo) stage(ctx context.Context, c call, keep bool) (staged, error) {
	var note staged
	refresh := c
	refresh.args, refresh.okay = []string{"update-index", "-q", "--ignore-submodules", "--refresh"}, []int{1}
	if _, err := r.run(ctx, refresh); err != nil {
		return note, fmt.Errorf("look at the files: %w", err)
	}
	var err error
	if note.all, err = r.entries(ctx, c); err != nil {
		return note, err
	}
	paths, err := r.changedPaths(ctx, c, &note)
	if err != nil {
		return note, err
	}
	note.paths = paths
	paths, lines, err := r.cleanLFS(ctx, c, &note, paths, keep)
	if err != nil {
		return note, err
	}
	if len(paths) > 0 {
		c.args = []string{"update-index", "--add", "--remove", "--replace", "-z", "--stdin"}
		c.in = []byte(strings.Join(paths, "\x00") + "\x00")
		if _, err := r.run(ctx, c); err != nil {
			return note, fmt.Errorf("take the changed files: %w", err)
		}
	}
	return note, r.indexInfo(ctx, c, lines)
}

// changedPaths lists what update-index has to look at.
func (r *Repo) changedPaths(ctx context.Context, c call, note *staged) ([]string, error) {
	skip := map[string]bool{}
	var paths []string
	for _, e := range note.all {
		if e.mode == gitlinkMode {
			skip[e.path] = true
			if e.stage == "0" {
				note.links = append(note.links, e)
			}
		} else if e.stage != "0" {
			paths = append(paths, e.path)
		}
		if n := len(note.unmerged); e.stage != "0" && (n == 0 || note.unmerged[n-1] != e.path) {
			note.unmerged = append(note.unmerged, e.path)
		}
	}
	c.args = []string{"ls-files", "-z", "-t", "-m", "-d", "-o", "--exclude-standard"}
	res, err := r.run(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("list changed files: %w", err)
	}
	made := r.madeBy(c.at.tree)
	added, above := map[string]bool{}, map[string]bool{}
	var changed []string
	for _, line := range fields(res.out) {
		tag, name, _ := strings.Cut(line, " ")
		switch {
		case own(name) || skip[name]:
		case strings.HasSuffix(name, "/"):
			note.nested = append(note.nested, strings.TrimSuffix(name, "/"))
		case tag == "?" && made.has(name):
		case tag == "?":
			added[name] = true
			for dir := path.Dir(name); dir != "." && !above[dir]; dir = path.Dir(dir) {
				above[dir] = true
			}
			paths = append(paths, name)
		default:
			changed = append(changed, name)
		}
	}
	note.made = made.found()
	for _, name := range changed {
		// When a folder became a file or a link, or a file a folder, adding the new removes the old.
		if !below(name, added) && !above[name] {
			paths = append(paths, name)
		}
	}
	return paths, nil
}

// tooBig reports whether a file of a working tree is over maxFile.
func tooBig(tree, name string) bool {
	info, err := os.Lstat(filepath.Join(tree, filepath.FromSlash(name)))
	return err == nil && info.Mode().IsRegular() && info.Size() > maxFile
}

// indexInfo sets entries of an index: lines are "mode id stage\tpath", or
// "0 000… \tpath" to take one out.
func (r *Repo) indexInfo(ctx context.Context, c call, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	c.args, c.in = []string{"update-index", "-z", "--add", "--replace", "--index-info"}, []byte(strings.Join(lines, "\x00")+"\x00")
	if _, err := r.run(ctx, c); err != nil {
		return fmt.Errorf("set entries of an index: %w", err)
	}
	return nil
}

func (e entry) line() string { return e.mode + " " + e.id + " 0\t" + e.path }

// gone is the line that takes the entry out.
func (e entry) gone() string { return "0 " + strings.Repeat("0", len(e.id)) + "\t" + e.path }

// dropIgnored takes out of an index what an earlier call took in and a newer
// .gitignore leaves out, unless it stands in the tree of keep.
func (r *Repo) dropIgnored(ctx context.Context, c call, keep func() (string, error)) error {
	c.args = []string{"ls-files", "-z", "-c", "-i", "--exclude-standard"}
	res, err := r.run(ctx, c)
	ignored := fields(res.out)
	if err != nil || len(ignored) == 0 {
		return err
	}
	base, err := keep()
	if err != nil {
		return err
	}
	committed, err := r.treeEntries(ctx, base)
	if err != nil {
		return err
	}
	stays := map[string]bool{}
	for _, e := range committed {
		stays[e.path] = true
	}
	var drop strings.Builder
	for _, name := range ignored {
		if !stays[name] {
			drop.WriteString(name + "\x00")
		}
	}
	if drop.Len() == 0 {
		return nil
	}
	c.args, c.in = []string{"update-index", "--force-remove", "-z", "--stdin"}, []byte(drop.String())
	_, err = r.run(ctx, c)
	return err
}
