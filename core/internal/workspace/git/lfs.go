package git

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// maxPointer is LFS's own bound of a pointer file ("must be smaller than 1024
// bytes", git-lfs/git-lfs docs/spec.md).
const maxPointer = 1024

// pointer names an object of LFS: what is committed in a file's place.
type pointer struct {
	oid  string // SHA-256 of the contents, hex
	size int64
}

// pointerWords is a pointer without extensions: one with them would need the
// extension's program to give the file, so it stays a pointer.
var pointerWords = regexp.MustCompile(`\Aversion https://git-lfs\.github\.com/spec/v1\noid sha256:([0-9a-f]{64})\nsize (\d{1,18})\n\z`)

func parsePointer(text []byte) (pointer, bool) {
	if len(text) >= maxPointer {
		return pointer{}, false
	}
	found := pointerWords.FindSubmatch(text)
	if found == nil {
		return pointer{}, false
	}
	size, err := strconv.ParseInt(string(found[2]), 10, 64)
	return pointer{oid: string(found[1]), size: size}, err == nil
}

// text is what is committed; an empty file stands for itself.
func (p pointer) text() string {
	if p.size == 0 {
		return ""
	}
	return "version https://git-lfs.github.com/spec/v1\noid sha256:" + p.oid + "\nsize " + strconv.FormatInt(p.size, 10) + "\n"
}

// lfsFile is where the person's local store of LFS keeps an object.
func (r *Repo) lfsFile(oid string) string {
	return filepath.Join(r.common, "lfs", "objects", oid[:2], oid[2:4], oid)
}

// hasObject reports whether the local store holds the object in full.
func (r *Repo) hasObject(p pointer) bool {
	info, err := os.Lstat(r.lfsFile(p.oid))
	return err == nil && info.Mode().IsRegular() && info.Size() == p.size
}

// mayUseLFS reports whether some file of attributes is there at all: most
// repositories have none, and are asked nothing more.
func (r *Repo) mayUseLFS(all []entry, paths []string) bool {
	if r.shadow {
		return false // its own attributes turn every filter off
	}
	if _, err := os.Lstat(filepath.Join(r.common, "info", "attributes")); err == nil {
		return true
	}
	for _, e := range all {
		if path.Base(e.path) == ".gitattributes" {
			return true
		}
	}
	for _, p := range paths {
		if path.Base(p) == ".gitattributes" {
			return true
		}
	}
	return false
}

// lfsPaths gives those of the paths that .gitattributes gives to LFS. The call
// says whose: with "cached" those of its index, else those of its working tree.
func (r *Repo) lfsPaths(ctx context.Context, c call, paths []string, cached bool) (map[string]bool, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	c.args = []string{"check-attr", "-z", "--stdin"}
	if cached {
		c.args = append(c.args, "--cached")
	}
	c.args = append(c.args, "filter")
	c.in = []byte(strings.Join(paths, "\x00") + "\x00")
	res, err := r.run(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("ask for attributes: %w", err)
	}
	set := map[string]bool{}
	for parts := fields(res.out); len(parts) >= 3; parts = parts[3:] {
		if parts[2] == "lfs" {
			set[parts[0]] = true
		}
	}
	return set, nil
}

// smallBlobs reads those of the objects that are small enough to be a pointer.
func (r *Repo) smallBlobs(ctx context.Context, ids []string) (map[string][]byte, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	c := call{at: r.home, plain: true, in: []byte(strings.Join(ids, "\n") + "\n")}
	c.args = []string{"cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)"}
	res, err := r.run(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("ask for sizes: %w", err)
	}
	var small strings.Builder
	for line := range strings.Lines(string(res.out)) {
		words := strings.Fields(line)
		if len(words) == 3 && words[1] == "blob" && len(words[2]) <= 4 && number(words[2]) < maxPointer {
			small.WriteString(words[0] + "\n")
		}
	}
	if small.Len() == 0 {
		return nil, nil
	}
	c.args, c.in = []string{"cat-file", "--batch"}, []byte(small.String())
	if res, err = r.run(ctx, c); err != nil {
		return nil, fmt.Errorf("read pointers: %w", err)
	}
	texts := map[string][]byte{}
	for out := res.out; len(out) > 0; {
		head, rest, ok := bytes.Cut(out, []byte{'\n'})
		words := strings.Fields(string(head))
		if !ok || len(words) != 3 || number(words[2]) >= len(rest) {
			return nil, fmt.Errorf("read pointers: %q is not understood", bound(string(head), 200))
		}
		n := number(words[2])
		texts[words[0]] = rest[:n]
		out = rest[n+1:]
	}
	return texts, nil
}

// lfsEntry is a file of a tree that is a pointer.
type lfsEntry struct {
	entry
	pointer
}

// pointers lists the files of LFS among entries, as the working tree's
// attributes have it.
func (r *Repo) pointers(ctx context.Context, c call, all []entry) ([]lfsEntry, error) {
	if !r.mayUseLFS(all, nil) {
		return nil, nil
	}
	var paths []string
	for _, e := range all {
		if strings.HasPrefix(e.mode, "100") {
			paths = append(paths, e.path)
		}
	}
	set, err := r.lfsPaths(ctx, c, paths, false)
	if err != nil || len(set) == 0 {
		return nil, err
	}
	var ids []string
	for _, e := range all {
		if set[e.path] {
			ids = append(ids, e.id)
		}
	}
	texts, err := r.smallBlobs(ctx, ids)
	if err != nil {
		return nil, err
	}
	var list []lfsEntry
	for _, e := range all {
		if p, ok := parsePointer(texts[e.id]); ok && set[e.path] {
			list = append(list, lfsEntry{e, p})
		}
	}
	return list, nil
}

// takeObject reads a file of LFS and gives its pointer; the contents go into the
// local store when keep is set, as `git add` with LFS would put them, so that
// the person's `git lfs push` finds them. A file that is a pointer gives itself.
func (r *Repo) takeObject(root *os.Root, name string, keep bool) (p pointer, err error) {
	f, err := root.Open(name)
	if err != nil {
		return p, fmt.Errorf("read %q: %w", name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	head := make([]byte, maxPointer)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return p, fmt.Errorf("read %q: %w", name, err)
	}
	if p, ok := parsePointer(head[:n]); ok {
		return p, nil
	}
	to := io.Discard
	var temp *os.File
	if keep {
		dir := filepath.Join(r.common, "lfs", "tmp")
		if err := os.MkdirAll(dir, 0o777); err != nil { //nolint:gosec // as LFS makes it: the umask is the person's
			return p, fmt.Errorf("make the store of LFS: %w", err)
		}
		if temp, err = os.CreateTemp(dir, "relo-*"); err != nil {
			return p, fmt.Errorf("make an object of LFS: %w", err)
		}
		defer func() { err = errors.Join(err, ignoreMissing(os.Remove(temp.Name()))) }()
		to = temp
	}
	sum := sha256.New()
	p.size, err = io.Copy(io.MultiWriter(to, sum), io.MultiReader(bytes.NewReader(head[:n]), f))
	if temp != nil {
		err = errors.Join(err, temp.Sync(), temp.Close())
	}
	if err != nil {
		return p, fmt.Errorf("read %q: %w", name, err)
	}
	p.oid = hex.EncodeToString(sum.Sum(nil))
	if temp == nil || p.size == 0 || r.hasObject(p) {
		return p, nil
	}
	if err := r.keepObject(temp.Name(), p); err != nil {
		return p, fmt.Errorf("make an object of LFS: %w", err)
	}
	return p, nil
}

// keepObject puts a file into the local store, the way LFS does.
func (r *Repo) keepObject(temp string, p pointer) error {
	name := r.lfsFile(p.oid)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil { //nolint:gosec // the umask is the person's
		return err
	}
	if err := os.Chmod(temp, 0o444); err != nil { //nolint:gosec // objects are never changed
		return err
	}
	return os.Rename(temp, name)
}

// writeBlobs makes an object of each text and gives their ids.
func (r *Repo) writeBlobs(ctx context.Context, c call, texts []string) (ids []string, err error) {
	own, err := r.ownDir()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(own, "pointers-*")
	if err != nil {
		return nil, fmt.Errorf("write pointers: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var names strings.Builder
	for i, text := range texts {
		name := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("write pointers: %w", err)
		}
		names.WriteString(`"` + quoter.Replace(name) + "\"\n")
	}
	c.args, c.in = []string{"hash-object", "-w", "--no-filters", "--stdin-paths"}, []byte(names.String())
	res, err := r.run(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("write pointers: %w", err)
	}
	ids = strings.Fields(string(res.out))
	if len(ids) != len(texts) {
		return nil, fmt.Errorf("write pointers: %d ids for %d texts", len(ids), len(texts))
	}
	return ids, nil
}
