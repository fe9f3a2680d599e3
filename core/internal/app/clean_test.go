package app

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/workspace/git"
)

// house is a record with jobs in it, and a repository that they worked on.
type house struct {
	*core
	t    *testing.T
	repo string
	head string
}

func newHouse(t *testing.T) *house {
	t.Helper()
	home := t.TempDir()
	e := Env{Getenv: func(n string) string {
		return map[string]string{"RELO_HOME": home, "HOME": home, "PATH": os.Getenv("PATH")}[n]
	}}
	cfg, err := startConfig(e)
	if err != nil {
		t.Fatal(err)
	}
	c, err := openCore(t.Context(), e, cfg, kind{idle: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	})
	h := &house{core: c, t: t, repo: t.TempDir()}
	h.git("init", "-q", "-b", "main")
	h.git("-c", "user.name=A", "-c", "user.email=a@localhost", "commit", "-q", "--allow-empty", "-m", "start")
	h.head = h.git("rev-parse", "HEAD")
	return h
}

func (h *house) git(args ...string) string {
	h.t.Helper()
	cmd := exec.CommandContext(h.t.Context(), "git", args...)
	cmd.Dir = h.repo
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// job writes a job with one attempt that took a picture, and which ended as status
// that many days ago.
func (h *house) job(id string, status job.Status, days int, sha string) {
	h.t.Helper()
	at := time.Now().Add(-time.Duration(days) * day)
	var events []job.Event
	add := func(k job.Kind, task, attempt string, body any) {
		events = append(events, job.Event{Seq: int64(len(events) + 1), Time: at, Job: id, Kind: k, Task: task, Attempt: attempt, Worker: "local-1", Model: "p/m", Body: body})
	}
	task, attempt := "t-"+id, "a-"+id
	add(job.KindSubmitted, "", "", &job.Submitted{Text: "do " + id, Title: id, Repo: h.repo, Base: h.head})
	add(job.KindPlanned, "", "", &job.Planned{Tasks: 1})
	add(job.KindTaskAdded, task, "", &job.Added{ID: task, Key: "k", Title: "task", Difficulty: job.Easy})
	add(job.KindJobStatus, "", "", &job.StatusChange{From: "planning", To: "running"})
	add(job.KindTaskStatus, task, "", &job.StatusChange{From: "waiting", To: "ready"})
	add(job.KindTaskStatus, task, attempt, &job.StatusChange{From: "ready", To: "dispatched", Epoch: 1})
	add(job.KindTaskStatus, task, attempt, &job.StatusChange{From: "dispatched", To: "running"})
	add(job.KindStarted, task, attempt, &job.Started{Number: 1, Base: h.head})
	add(job.KindLook, task, attempt, &job.Look{ID: "v", SHA256: sha, Path: "x.png", How: job.HowPixels})
	if status == job.Ready || status == job.Applied {
		add(job.KindJobStatus, "", "", &job.StatusChange{From: "running", To: "integrating"})
		add(job.KindJobStatus, "", "", &job.StatusChange{From: "integrating", To: "ready"})
	}
	if status == job.Applied {
		add(job.KindApplied, "", "", &job.AppliedBody{Commit: h.head})
		add(job.KindJobStatus, "", "", &job.StatusChange{From: "ready", To: "applied"})
	}
	if status == job.Failed || status == job.Cancelled || status == job.Paused {
		add(job.KindJobStatus, "", "", &job.StatusChange{From: "running", To: string(status)})
	}
	if _, err := job.Fold(events); err != nil {
		h.t.Fatal(err)
	}
	if err := h.store.Commit(h.t.Context(), record.Batch{Job: id, Status: status, Title: id, Events: events}); err != nil {
		h.t.Fatal(err)
	}
}

// blob keeps bytes that were put that many days ago.
func (h *house) blob(text string, days int) string {
	h.t.Helper()
	sha, err := h.store.PutBlob([]byte(text))
	if err != nil {
		h.t.Fatal(err)
	}
	at := time.Now().Add(-time.Duration(days) * day)
	if err := os.Chtimes(filepath.Join(h.env.recordDir(), "blobs", sha[:2], sha), at, at); err != nil {
		h.t.Fatal(err)
	}
	return sha
}

// folder makes an attempt's worktree; a change in it is in no ref.
func (h *house) folder(id string, changed bool) string {
	h.t.Helper()
	dir := filepath.Join(h.env.worktrees(), "local-1", "a-"+id)
	g, err := git.Open(h.t.Context(), h.repo)
	if err == nil {
		err = g.AddWorktree(h.t.Context(), filepath.Join(dir, "tree"), h.head)
	}
	if err == nil && changed {
		err = os.WriteFile(filepath.Join(dir, "tree", "work.txt"), []byte("work\n"), 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return dir
}

func there(name string) bool { _, err := os.Stat(name); return err == nil }

func TestCleaningTakesWhatIsOldAndNeverUnmergedWork(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	type left struct {
		dir, sha string
		stays    bool
		kept     string
	}
	jobs := map[string]*left{}
	add := func(id string, status job.Status, days int, changed bool) *left {
		x := &left{sha: h.blob("picture of "+id, 40)}
		h.job(id, status, days, x.sha)
		x.dir = h.folder(id, changed)
		jobs[id] = x
		return x
	}
	add("applied", job.Applied, 30, false)
	add("cancelled", job.Cancelled, 30, false)
	add("young", job.Applied, 2, false).stays = true
	add("running", job.Running, 30, false).stays = true
	paused := add("paused", job.Paused, 30, false)
	paused.stays, paused.kept = true, "not at an end"
	for id, why := range map[string]string{"ready": "was not applied", "branch": "branch relo/branch holds work", "changed": "holds changes that are nowhere else"} {
		status := job.Failed
		if id == "ready" {
			status = job.Ready
		}
		x := add(id, status, 30, id == "changed")
		x.stays, x.kept = true, why
	}
	h.git("-c", "user.name=A", "-c", "user.email=a@localhost", "commit", "-q", "--allow-empty", "-m", "work")
	h.git("branch", "relo/branch")
	orphan, fresh := h.blob("named by nobody", 40), h.blob("put just now", 0)

	dry, err := h.clean(t.Context(), time.Now(), true)
	if err != nil {
		t.Fatal(err)
	}
	for id, x := range jobs {
		if _, err := h.store.Blob(x.sha); err != nil || !there(x.dir) {
			t.Errorf("a dry run took something of %s", id)
		}
	}
	doc, err := h.clean(t.Context(), time.Now(), false)
	if err != nil {
		t.Fatal(err)
	}
	if len(dry.Removed) < len(doc.Removed) || dry.Bytes != doc.Bytes {
		t.Errorf("the dry run said %v (%d bytes), done was %v (%d bytes)", dry.Removed, dry.Bytes, doc.Removed, doc.Bytes)
	}
	for id, x := range jobs {
		_, err := h.store.Blob(x.sha)
		if got := err == nil; got != x.stays {
			t.Errorf("%s: its picture stays: %v", id, got)
		}
		if got := there(x.dir); got != x.stays {
			t.Errorf("%s: its folder stays: %v", id, got)
		}
		i := slices.IndexFunc(doc.Kept, func(k KeptDoc) bool { return k.Job == id })
		if (i >= 0) != (x.kept != "") || i >= 0 && !strings.Contains(doc.Kept[i].Why, x.kept) {
			t.Errorf("%s: listed as kept: %v", id, doc.Kept)
		}
	}
	if _, err := h.store.Blob(orphan); err == nil {
		t.Error("what nobody names stays")
	}
	if _, err := h.store.Blob(fresh); err != nil {
		t.Error("what was put just now is gone")
	}
	again, err := h.clean(t.Context(), time.Now(), false)
	if err != nil || len(again.Removed) != 0 {
		t.Errorf("a second cleaning finds %v (%v)", again.Removed, err)
	}
}

func TestLogsStayBoundedAndGoWhenNobodyWritesThem(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	long, old := h.env.logFile("long"), h.env.logFile("worker-local-9")
	if err := os.WriteFile(long, bytes.Repeat([]byte("a line of a log\n"), logMost/16+1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(old, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-30 * day)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(long, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.clean(t.Context(), time.Now(), false); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.WriteString("what comes next\n"); err != nil || writer.Close() != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(long)
	if err != nil || string(text) != "what comes next\n" {
		t.Errorf("the log holds %d bytes (%v)", len(text), err)
	}
	if info, err := os.Stat(long + ".1"); err != nil || info.Size() != logRest {
		t.Errorf("its last part: %v %v", info, err)
	}
	if there(old) {
		t.Error("a log of nobody stays")
	}
}
