package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/relo-dev/relo/core/internal/vision"
)

// SourcesHash is a hash over all files of a worktree that are not ignored, Relo's
// folder and pictures apart, so it changes exactly when a source does. pictures
// maps each picture's path to git's id of its contents. An index of its own, kept
// beside the worktree's, makes a second call cheap; contents that only this call
// has seen are kept there too, not among the repository's objects.
func (r *Repo) SourcesHash(ctx context.Context, worktree string) (sum string, pictures map[string]string, err error) {
	at, err := r.placeOf(worktree)
	if err != nil {
		return "", nil, err
	}
	kept := filepath.Join(at.gitDir, hashIndex)
	from := kept
	if _, serr := os.Lstat(kept); serr != nil {
		from = r.indexOf(at)
	}
	c, err := r.indexCall(ctx, at, from)
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, dropIndex(c.index)) }()
	objects := filepath.Join(at.gitDir, "relo-objects")
	if err := os.MkdirAll(objects, 0o700); err != nil {
		return "", nil, fmt.Errorf("hash the sources: %w", err)
	}
	c.env = []string{
		"GIT_OBJECT_DIRECTORY=" + objects,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + alternate(filepath.Join(r.common, "objects")),
	}
	if _, err := r.stage(ctx, c, false); err != nil {
		return "", nil, fmt.Errorf("hash the sources: %w", err)
	}
	if err := r.dropIgnored(ctx, c, func() (string, error) { return r.baseOf(ctx, at) }); err != nil {
		return "", nil, fmt.Errorf("hash the sources: %w", err)
	}
	list, err := r.entries(ctx, c)
	if err != nil {
		return "", nil, err
	}
	sum, pictures = digest(list)
	return sum, pictures, ignoreMissing(os.Rename(c.index, kept))
}

func digest(list []entry) (string, map[string]string) {
	all, pictures := sha256.New(), map[string]string{}
	for _, e := range list {
		switch {
		case own(e.path):
		case vision.IsPictureName(e.path) && strings.HasPrefix(e.mode, "100"):
			pictures[e.path] = e.id
		default:
			all.Write([]byte(e.mode + " " + e.id + " " + e.path + "\x00"))
		}
	}
	return hex.EncodeToString(all.Sum(nil)), pictures
}

// alternate quotes a path for git's list of object folders.
func alternate(dir string) string {
	if !strings.ContainsAny(dir, ":;\"\n\\") {
		return dir
	}
	return `"` + quoter.Replace(dir) + `"`
}

// quoter writes a name the way git reads one in quotes.
var quoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
