package picture

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// LFS gives the content of the object whose SHA-256 is oid, 64 hex digits, and that has
// size bytes. When the object is not there the error is fs.ErrNotExist. What it
// gives is held against oid and size by the one who asked.
type LFS func(ctx context.Context, oid string, size int64) ([]byte, error)

// lfsPointer names an object of Git LFS; the file in its place holds just that.
type lfsPointer struct {
	oid  string
	size int64
}

const lfsVersion = "version https://git-lfs.github.com/spec/v1\n"

// lfsLine is a line of a pointer: keys are sorted behind the version, extensions
// begin with ext- (git-lfs/git-lfs docs/spec.md).
var lfsLine = regexp.MustCompile(`\A[a-z0-9.-]+ [^\n]*\z`)

// parsePointer reads a pointer. One with an extension is none here: the stored
// object would have to go through the extension's program to be the file.
func parsePointer(data []byte) (p lfsPointer, ok bool) {
	rest, found := strings.CutPrefix(string(data[:min(len(data), maxPointer)]), lfsVersion)
	if !found || len(data) >= maxPointer || !strings.HasSuffix(rest, "\n") {
		return p, false
	}
	seen := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSuffix(rest, "\n"), "\n") {
		key, value, _ := strings.Cut(line, " ")
		if _, twice := seen[key]; twice || !lfsLine.MatchString(line) || strings.HasPrefix(key, "ext-") {
			return p, false
		}
		seen[key] = value
	}
	oid, sha256sum := strings.CutPrefix(seen["oid"], "sha256:")
	raw, err := hex.DecodeString(oid)
	if !sha256sum || err != nil || len(raw) != sha256.Size || strings.ToLower(oid) != oid {
		return p, false
	}
	size, err := strconv.ParseInt(seen["size"], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != seen["size"] {
		return p, false
	}
	return lfsPointer{oid, size}, true
}

// resolve gives what a pointer stands for, and any other file as it is.
func (p *Preparer) resolve(ctx context.Context, rel string, data []byte) ([]byte, error) {
	ptr, ok := parsePointer(data)
	if !ok || p.opts.LFS == nil {
		return data, nil
	}
	if ptr.size > p.opts.MaxBytes {
		return nil, refuseBytes(rel, p.opts.MaxBytes)
	}
	object, err := p.opts.LFS(ctx, ptr.oid, ptr.size)
	if end := late(ctx); end != nil {
		return nil, end
	}
	if errors.Is(err, fs.ErrNotExist) {
		return data, nil // refused as the pointer that it is, with words about git lfs pull
	}
	if err != nil {
		return nil, refuse(UnsupportedKind, "%q is a Git LFS pointer, and the repository's LFS store could not be read: %s; "+
			"fetch the picture with `git lfs pull`", rel, reason(err)).because(err)
	}
	if sum := sha256.Sum256(object); int64(len(object)) != ptr.size || hex.EncodeToString(sum[:]) != ptr.oid {
		return nil, refuse(Corrupt, "%q is a Git LFS pointer, and the object in the repository's LFS store is not what it names; "+
			"fetch it anew with `git lfs pull`", rel)
	}
	return object, nil
}

// LFSStore reads the own LFS store of the repository that dir lies in, also when dir is
// a worktree of it. The repository is looked for once, now, so that nobody who later writes in dir
// can point to another one; call it before an agent works there. Nil: dir lies in no repository.
func LFSStore(dir string) LFS {
	common, err := gitCommon(dir)
	if err != nil {
		return nil
	}
	return func(ctx context.Context, oid string, size int64) ([]byte, error) {
		return readObject(ctx, common, oid, size)
	}
}

// readObject reads an object through a root of the repository's folder: no symbolic link leads out of it.
func readObject(ctx context.Context, common, oid string, size int64) ([]byte, error) {
	if raw, err := hex.DecodeString(oid); err != nil || len(raw) != sha256.Size {
		return nil, fmt.Errorf("read an LFS object: %q is no SHA-256: %w", oid, fs.ErrInvalid)
	}
	root, err := os.OpenRoot(common)
	if err != nil {
		return nil, fmt.Errorf("read an LFS object: %w", err)
	}
	defer func() { _ = root.Close() }() // opened for reading only
	name := path.Join("lfs", "objects", oid[:2], oid[2:4], oid)
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("read an LFS object: %w", err)
	}
	defer func() { _ = f.Close() }() // read only: closing cannot lose anything
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read an LFS object: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() != size || size > maxBytes {
		// A half fetched object: it is not there.
		return nil, fmt.Errorf("an LFS object of %d bytes, %d wanted: %w", info.Size(), size, fs.ErrNotExist)
	}
	buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	if _, err := buf.ReadFrom(io.LimitReader(whileTime(ctx, f), size+1)); err != nil {
		return nil, fmt.Errorf("read an LFS object: %w", err)
	}
	return buf.Bytes(), nil
}

// gitCommon finds the folder that all worktrees of a repository share: .git itself, or
// what a worktree's .git file leads to by its commondir (gitrepository-layout(5)).
func gitCommon(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for {
		dotGit := filepath.Join(dir, ".git")
		info, err := os.Stat(dotGit)
		switch {
		case err == nil && info.IsDir():
			return commonOf(dotGit), nil
		case err == nil:
			words, err := gitWords(dotGit)
			if err != nil {
				return "", err
			}
			target, ok := strings.CutPrefix(words, "gitdir: ")
			if !ok {
				return "", fmt.Errorf("find the repository: its .git file leads nowhere: %w", fs.ErrInvalid)
			}
			return commonOf(from(dir, target)), nil
		case filepath.Dir(dir) == dir:
			return "", fmt.Errorf("find the repository: %w", fs.ErrNotExist)
		}
		dir = filepath.Dir(dir)
	}
}

// commonOf is the shared folder of a git folder: itself where it has no commondir.
func commonOf(gitDir string) string {
	words, err := gitWords(filepath.Join(gitDir, "commondir"))
	if err != nil || words == "" {
		return gitDir
	}
	return from(gitDir, words)
}

// from is target, which stands in dir when it is relative.
func from(dir, target string) string {
	if filepath.IsAbs(target) {
		return filepath.Clean(target)
	}
	return filepath.Join(dir, filepath.FromSlash(target))
}

// gitWords reads a small file of one line.
func gitWords(name string) (string, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // git's own file, of the person's repository
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	defer func() { _ = f.Close() }() // read only: closing cannot lose anything
	words, err := io.ReadAll(io.LimitReader(f, maxGitFile))
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	return strings.TrimRight(string(words), "\r\n"), nil
}
