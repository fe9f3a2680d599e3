package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/api"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/store"
	"github.com/relo-dev/relo/core/internal/workspace/git"
)

// CleanDoc says what was removed, or would be, and what was kept although it is old.
type CleanDoc struct {
	DryRun  bool      `json:"dryRun,omitempty"`
	Removed []string  `json:"removed"` // in words, one thing each
	Bytes   int64     `json:"bytes"`
	Kept    []KeptDoc `json:"kept"`
}

// KeptDoc is a job whose work is in no branch or file of the person's.
type KeptDoc struct {
	Job   string `json:"job"`
	Title string `json:"title"`
	Why   string `json:"why"`
}

// cleanQuery asks for it.
type cleanQuery struct {
	DryRun bool `json:"dryRun,omitempty"`
}

const (
	cleanName = "daemon.clean"
	// cleanEvery is how often the daemon does it by itself, and cleanFirst when it
	// begins: a start has better things to do than to read old jobs.
	cleanEvery = 24 * time.Hour
	cleanFirst = 30 * time.Second
	day        = 24 * time.Hour
)

// shelves is what of the record is cleaned; the store.
type shelves interface {
	Jobs(ctx context.Context) ([]record.Entry, error)
	Events(ctx context.Context, job string, after int64, limit int) ([]job.Event, error)
	References(ctx context.Context, job string) ([]string, error)
	Blob(sha string) ([]byte, error)
	Blobs(ctx context.Context) ([]record.Blob, error)
	DropBlobs(ctx context.Context, keep func(sha string) bool, olderThan time.Time) (n int, bytes int64, err error)
}

var _ shelves = (*store.Store)(nil)

// Clean removes what ended jobs left: in the running daemon, else here.
func Clean(ctx context.Context, e Env, dry bool) (doc CleanDoc, err error) {
	cfg, err := startConfig(e)
	if err != nil {
		return doc, err
	}
	l, err := Open(ctx, e, cfg, Any)
	if err != nil {
		return doc, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	body, err := json.Marshal(cleanQuery{dry})
	if err != nil {
		return doc, fmt.Errorf("%s: %w", cleanName, err)
	}
	answer, err := l.line.Request(ctx, cleanName, body)
	if err != nil {
		return doc, err
	}
	if err := json.Unmarshal(answer, &doc); err != nil {
		return doc, fmt.Errorf("%s: the answer cannot be read: %w", cleanName, err)
	}
	return doc, nil
}

// cleanEndpoint is the API's row for it.
func (c *core) cleanEndpoint() api.Endpoint {
	return api.Endpoint{Name: cleanName, Description: "remove what ended jobs left and nobody needs", Handle: func(ctx context.Context, body []byte) ([]byte, error) {
		var q cleanQuery
		if len(body) > 0 {
			if err := json.Unmarshal(body, &q); err != nil {
				return nil, &protocol.Error{Code: protocol.CodeUsage, Message: cleanName + ": " + err.Error()}
			}
		}
		doc, err := c.clean(ctx, time.Now(), q.DryRun)
		if err != nil {
			return nil, err
		}
		return json.Marshal(doc)
	}}
}

// keepTidy cleans soon and once a day until ctx ends; the answer waits for it.
func (c *core) keepTidy(ctx context.Context) (wait func()) {
	var work sync.WaitGroup
	work.Go(func() {
		next := time.NewTimer(cleanFirst)
		defer next.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-next.C:
			}
			doc, err := c.clean(ctx, time.Now(), false)
			if err != nil && ctx.Err() == nil {
				c.log.Error().Err(err).Msg("what is old could not be removed")
			} else if len(doc.Removed) > 0 {
				c.log.Info().Int("things", len(doc.Removed)).Int64("bytes", doc.Bytes).Int("kept", len(doc.Kept)).Msg("what is old was removed")
			}
			next.Reset(cleanEvery)
		}
	})
	return work.Wait
}

// broom is one cleaning.
type broom struct {
	c      *core
	now    time.Time
	cutoff time.Time // what ended before it is old
	doc    CleanDoc
	keep   map[string]bool // SHA-256s that a job which stays names
}

// clean removes, as of now, what jobs left that ended more than keepDays before.
// It never touches work that is in no branch or file of the person's.
func (c *core) clean(ctx context.Context, now time.Time, dry bool) (CleanDoc, error) {
	c.cleaning.Lock()
	defer c.cleaning.Unlock()
	days := c.cfg.KeepDays
	if cfg, _, err := c.settings.of(""); err == nil {
		days = cfg.KeepDays
	}
	b := &broom{
		c: c, now: now, cutoff: now.Add(-time.Duration(days) * day), keep: map[string]bool{},
		doc: CleanDoc{DryRun: dry, Removed: []string{}, Kept: []KeptDoc{}},
	}
	jobs, err := c.store.Jobs(ctx)
	if err != nil {
		return b.doc, err
	}
	for _, entry := range jobs {
		if err := b.job(ctx, entry); err != nil {
			return b.doc, fmt.Errorf("clean up after job %s: %w", entry.ID, err)
		}
	}
	err = errors.Join(b.blobs(ctx), b.logs(), b.leftovers())
	return b.doc, err
}

// removed notes a thing.
func (b *broom) removed(bytes int64, format string, args ...any) {
	b.doc.Removed = append(b.doc.Removed, fmt.Sprintf(format, args...))
	b.doc.Bytes += bytes
}

// job cleans up after one job, or keeps it.
func (b *broom) job(ctx context.Context, entry record.Entry) error {
	old, err := b.old(ctx, entry)
	if err != nil {
		return err
	}
	why := ""
	if old {
		if why, err = b.folders(ctx, entry); err != nil {
			return err
		}
	}
	if why != "" {
		b.doc.Kept = append(b.doc.Kept, KeptDoc{Job: entry.ID, Title: entry.Title, Why: why})
	}
	if old && why == "" && !unfinished(entry.Status) {
		return nil
	}
	return b.keeps(ctx, entry)
}

// unfinished jobs go on, or can be brought to the person's files.
func unfinished(s job.Status) bool {
	switch s {
	case job.Applied, job.Discarded, job.Failed, job.Cancelled:
		return false
	default:
		return true
	}
}

// old reports whether nothing happened to a job for so long that it may be cleaned
// up after. One that goes on is never old.
func (b *broom) old(ctx context.Context, entry record.Entry) (bool, error) {
	if entry.Status.Active() {
		return false, nil
	}
	last, err := b.c.store.Events(ctx, entry.ID, entry.Seq-1, 1)
	if err != nil || len(last) == 0 {
		return false, err
	}
	return last[0].Time.Before(b.cutoff), nil
}

// folders removes the worktrees of an old job, unless its work is nowhere else:
// then it says why the job is kept.
func (b *broom) folders(ctx context.Context, entry record.Entry) (why string, err error) {
	switch {
	case entry.Status == job.Ready:
		return "its work is ready and was not applied", nil
	case unfinished(entry.Status):
		return "it is not at an end: " + string(entry.Status), nil
	}
	events, err := b.c.store.Events(ctx, entry.ID, 0, 0)
	if err != nil {
		return "", err
	}
	state, err := job.Fold(events)
	if err != nil {
		return "its events cannot be read", nil //nolint:nilerr // it is kept, which is the safe side
	}
	var trees []string
	for _, t := range state.List() {
		for _, a := range t.Attempts {
			found, _ := filepath.Glob(filepath.Join(globbed(b.c.env.worktrees()), "*", a.ID)) // an id is no pattern
			trees = append(trees, found...)
		}
	}
	repo, err := b.c.repos.get(ctx, state.Repo)
	if err != nil {
		if len(trees) > 0 {
			return fmt.Sprintf("its repository %s cannot be opened, and %d folders of attempts are left", state.Repo, len(trees)), nil
		}
		return "", nil
	}
	if why, err = unmerged(ctx, repo, state, trees); err != nil || why != "" {
		return why, err
	}
	for _, dir := range trees {
		if err := b.folder(ctx, repo, dir); err != nil {
			return "", err
		}
	}
	return "", nil
}

// unmerged says what of a job's work is in no branch or file of the person's.
// What was applied or given up is not asked for its branch.
func unmerged(ctx context.Context, repo *git.Repo, state *job.Job, trees []string) (string, error) {
	if state.Status != job.Applied && state.Status != job.Discarded {
		branch := "refs/heads/relo/" + state.ID
		if head, err := repo.Resolve(ctx, branch); err == nil && head != state.Base {
			return "its branch relo/" + state.ID + " holds work that was not applied", nil
		}
	}
	for _, dir := range trees {
		tree := filepath.Join(dir, "tree")
		if _, err := os.Lstat(tree); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		held, err := repo.Unmerged(ctx, tree)
		if err != nil {
			return fmt.Sprintf("%s cannot be compared with what is in git: %v", tree, err), nil
		}
		if held {
			return tree + " holds changes that are nowhere else", nil
		}
	}
	return "", nil
}

// folder removes one attempt's folder.
func (b *broom) folder(ctx context.Context, repo *git.Repo, dir string) error {
	b.removed(weigh(dir), "the folder of attempt %s", filepath.Base(dir))
	if b.doc.DryRun {
		return nil
	}
	return errors.Join(repo.RemoveWorktree(ctx, filepath.Join(dir, "tree")), os.RemoveAll(dir))
}

// weigh sums the files below a folder.
func weigh(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // what cannot be read weighs nothing
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}

// keeps notes what a job needs of the album. Of one that may go on these are also
// the pictures that its transcripts name.
func (b *broom) keeps(ctx context.Context, entry record.Entry) error {
	refs, err := b.c.store.References(ctx, entry.ID)
	if err != nil {
		return err
	}
	for _, sha := range refs {
		b.keep[sha] = true
		if !unfinished(entry.Status) && entry.Status != job.Cancelled && entry.Status != job.Failed {
			continue
		}
		data, err := b.c.store.Blob(sha)
		if err != nil || !json.Valid(firstLine(data)) {
			continue // not a transcript
		}
		for _, named := range hexWords(data) {
			b.keep[named] = true
		}
	}
	return nil
}

// blobs removes what no job that stays names.
func (b *broom) blobs(ctx context.Context) error {
	keep := func(sha string) bool { return b.keep[sha] }
	if b.doc.DryRun {
		all, err := b.c.store.Blobs(ctx)
		for _, x := range all {
			if !keep(x.SHA256) && x.Time.Before(b.cutoff) {
				b.removed(x.Bytes, "picture or transcript %s", x.SHA256)
			}
		}
		return err
	}
	n, bytes, err := b.c.store.DropBlobs(ctx, keep, b.cutoff)
	if n > 0 {
		b.removed(bytes, "%d pictures and transcripts", n)
	}
	return err
}

func firstLine(data []byte) []byte {
	if i := slices.Index(data, '\n'); i >= 0 {
		return data[:i]
	}
	return data
}

// hexWords finds what may be SHA-256s in a text.
func hexWords(data []byte) []string {
	var out []string
	start := 0
	for i := range len(data) + 1 {
		if i < len(data) && (data[i] >= '0' && data[i] <= '9' || data[i] >= 'a' && data[i] <= 'f') {
			continue
		}
		if i-start == 64 { //nolint:mnd // hex digits of a SHA-256
			out = append(out, string(data[start:i]))
		}
		start = i + 1
	}
	return out
}
