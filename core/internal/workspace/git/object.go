package git

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

func asError(err error) (*Error, bool) { return errors.AsType[*Error](err) }

// Resolve gives the full id of the commit that rev names; KindNotFound when none.
func (r *Repo) Resolve(ctx context.Context, rev string) (string, error) {
	return r.peel(ctx, rev, "commit")
}

// TreeOf gives the id of the commit's tree.
func (r *Repo) TreeOf(ctx context.Context, commit string) (string, error) {
	return r.peel(ctx, commit, "tree")
}

func (r *Repo) peel(ctx context.Context, rev, kind string) (string, error) {
	if rev == "" || strings.ContainsAny(rev, "\x00\n") {
		return "", badName("a revision", rev)
	}
	id, err := r.text(ctx, call{at: r.home, plain: true, args: []string{
		"rev-parse", "--verify", "--quiet", "--end-of-options", rev + "^{" + kind + "}",
	}})
	if err != nil {
		if e, ok := asError(err); ok && e.Kind == "" {
			e.Kind, e.Doing = KindNotFound, fmt.Sprintf("find %s", bound(rev, 200))
			if e.Words == "" {
				e.Words = "no such " + kind
			}
		}
		return "", err
	}
	return id, nil
}

// Exists reports whether the commit has something (file, link or folder) at path.
func (r *Repo) Exists(ctx context.Context, commit, name string) bool {
	spec, err := inTree(name)
	if err != nil {
		return false
	}
	res, err := r.run(ctx, call{at: r.home, plain: true, args: []string{"ls-tree", "-z", "--full-tree", "--end-of-options", commit, spec}})
	return err == nil && len(res.out) > 0
}

// Blob gives the bytes of the file at path, a symbolic link's target for a link.
// Errors are KindNotFound and, over 32 MiB, KindTooBig.
func (r *Repo) Blob(ctx context.Context, commit, name string) ([]byte, error) {
	spec, err := inTree(name)
	if err != nil {
		return nil, err
	}
	id, err := r.text(ctx, call{at: r.home, plain: true, args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", commit + ":" + spec}})
	if err != nil {
		return nil, &Error{Kind: KindNotFound, Doing: fmt.Sprintf("read %q at %s", spec, bound(commit, 80)), Words: "no such file", Err: err}
	}
	return r.blob(ctx, id, spec)
}

// blob reads an object by its id after asking for its size.
func (r *Repo) blob(ctx context.Context, id, name string) ([]byte, error) {
	words, err := r.text(ctx, call{at: r.home, plain: true, args: []string{"cat-file", "-s", id}})
	if err != nil {
		return nil, err
	}
	size, err := strconv.ParseInt(words, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("size of %q: %w", name, err)
	}
	if size > maxBlob {
		return nil, &Error{Kind: KindTooBig, Doing: fmt.Sprintf("read %q", name), Words: fmt.Sprintf("%d bytes, limit %d", size, maxBlob)}
	}
	res, err := r.run(ctx, call{at: r.home, plain: true, args: []string{"cat-file", "blob", id}})
	return res.out, err
}

// inTree makes a slash path inside a tree of what a caller gave.
func inTree(name string) (string, error) {
	clean := path.Clean(name)
	if name == "" || clean == "." || clean == ".." || path.IsAbs(clean) || strings.HasPrefix(clean, "../") || strings.ContainsRune(clean, 0) {
		return "", badName("a path", name)
	}
	return clean, nil
}

var (
	refWords = regexp.MustCompile(`^refs/(relo|heads/relo)(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$`)
	idWords  = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$`)
)

// checkRef lets only Relo's own refs be written: refs/relo/… and refs/heads/relo/….
func checkRef(ref string) error {
	if !refWords.MatchString(ref) || strings.Contains(ref, "..") || strings.Contains(ref+"/", ".lock/") || strings.Contains(ref+"/", "./") {
		return badName("a ref", ref)
	}
	return nil
}

func checkIDs(ids ...string) error {
	for _, id := range ids {
		if !idWords.MatchString(id) || strings.Contains(id, "..") || strings.HasSuffix(id, ".lock") || strings.HasSuffix(id, ".") {
			return badName("an id", id)
		}
	}
	return nil
}

// SetRef points a ref of Relo (refs/relo/…, refs/heads/relo/…) at a commit.
func (r *Repo) SetRef(ctx context.Context, ref, commit string) error {
	if err := checkRef(ref); err != nil {
		return err
	}
	id, err := r.resolved(ctx, commit)
	if err != nil {
		return err
	}
	_, err = r.run(ctx, call{at: r.home, plain: true, args: []string{"update-ref", "--no-deref", ref, id}})
	return err
}

var fullID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// resolved is Resolve for a call that goes on to a command which itself refuses
// an id that is not there: a full one is not asked for twice.
func (r *Repo) resolved(ctx context.Context, rev string) (string, error) {
	if fullID.MatchString(rev) {
		return rev, nil
	}
	return r.Resolve(ctx, rev)
}

// DeleteRef removes a ref of Relo; one that is not there is fine.
func (r *Repo) DeleteRef(ctx context.Context, ref string) error {
	if err := checkRef(ref); err != nil {
		return err
	}
	if _, err := r.refCommit(ctx, ref); err != nil {
		if Is(err, KindNotFound) {
			return nil
		}
		return err
	}
	_, err := r.run(ctx, call{at: r.home, plain: true, args: []string{"update-ref", "--no-deref", "-d", ref}})
	return err
}

// moveRef is a compare-and-swap: KindRace when the ref is no longer at old. An
// empty old means that the ref must not exist.
func (r *Repo) moveRef(ctx context.Context, ref, commit, old string) error {
	if old == "" {
		old = strings.Repeat("0", len(commit))
	}
	_, err := r.run(ctx, call{at: r.home, plain: true, args: []string{"update-ref", "--no-deref", ref, commit, old}})
	return err
}

// refCommit gives the commit of a full ref; KindNotFound when there is no such ref.
func (r *Repo) refCommit(ctx context.Context, ref string) (string, error) {
	return r.peel(ctx, ref, "commit")
}
