package e2e

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the page of words again")

// wordsPage is what a person reads of what went wrong, as a page of the docs.
const wordsPage = "../../docs/reference/errors.md"

// trouble is something that goes wrong at the first use, and how to provoke it.
type trouble struct {
	name string
	do   func(t *testing.T) (*world, result)
}

// answering is a provider that answers everything in one way.
func answering(t *testing.T, status int, kind, body string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		if status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, body)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// with is a world whose provider lives at url.
func with(t *testing.T, url string, extra ...string) *world {
	t.Helper()
	l := mixed()
	w := newWorld(t, l, &play{plan: planOf(task("one", "easy"))}).smallRepo()
	w.url, w.extra = url, extra
	w.configure(l)
	return w
}

func (w *world) tried(args ...string) (*world, result) {
	return w, w.relo(append([]string{"run", "a change", "--repo", w.repo, "--standalone", "--no-input"}, args...)...)
}

func openAIError(code, words string) string {
	return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"code":%q}}`, words, code, code)
}

func troubles() []trouble {
	of := func(status int, kind, body string) func(t *testing.T) (*world, result) {
		return func(t *testing.T) (*world, result) { return with(t, answering(t, status, kind, body)).tried() }
	}
	const js = "application/json"
	return []trouble{
		{"The key is refused", func(t *testing.T) (*world, result) {
			w := with(t, "")
			w.url = strings.TrimSuffix(w.url, "/")
			fresh := newWorld(t, mixed(), &play{plan: planOf(task("one", "easy"))}).smallRepo()
			fresh.extra = []string{"RELO_TEST_KEY=another"}
			return fresh.tried()
		}},
		{"There is no key", func(t *testing.T) (*world, result) {
			w := newWorld(t, mixed(), &play{plan: planOf(task("one", "easy"))}).smallRepo()
			w.extra = []string{"RELO_TEST_KEY="}
			return w.tried()
		}},
		{"The key is good, but there is no credit", of(http.StatusBadRequest, js,
			`{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}`)},
		{"The model is not found", of(http.StatusNotFound, js, `{"type":"error","error":{"type":"not_found_error","message":"model: chief"}}`)},
		{"The address answers with a web page", of(http.StatusOK, "text/html", "<!doctype html><html><title>Welcome</title></html>")},
		{"The provider has too many requests", of(http.StatusTooManyRequests, js, openAIError("rate_limit_exceeded", "Rate limit reached"))},
		{"The certificate is of nobody known", func(t *testing.T) (*world, result) {
			srv := httptest.NewTLSServer(http.NotFoundHandler())
			t.Cleanup(srv.Close)
			return with(t, srv.URL).tried()
		}},
		{"The proxy does not answer", func(t *testing.T) (*world, result) {
			return with(t, "https://models.example", "HTTPS_PROXY=http://127.0.0.1:9").tried()
		}},
		{"The host is not known", func(t *testing.T) (*world, result) { return with(t, "https://models.invalid").tried() }},
		{"Nobody listens there", func(t *testing.T) (*world, result) { return with(t, "http://127.0.0.1:9").tried() }},
		{"No model can call tools", func(t *testing.T) (*world, result) {
			w := newWorld(t, mixed(), &play{plan: planOf(task("one", "easy"))}).smallRepo()
			name := filepath.Join(w.home, "relo.json")
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			w.write(name, strings.ReplaceAll(string(text), `"vision":`, `"tools": false, "vision":`))
			return w.tried()
		}},
	}
}

// troublesHere are those of the person's own machine.
func troublesHere() []trouble {
	return []trouble{
		{"The folder is not a git repository", func(t *testing.T) (*world, result) {
			w := ready(t)
			w.repo = t.TempDir()
			w.write(filepath.Join(w.repo, "a.txt"), "a\n")
			return w.tried()
		}},
		{"The repository has no commit", func(t *testing.T) (*world, result) {
			w := ready(t)
			w.repo = t.TempDir()
			w.write(filepath.Join(w.repo, "a.txt"), "a\n")
			w.git("init", "-q")
			return w.tried()
		}},
		{"There are uncommitted changes", func(t *testing.T) (*world, result) {
			w := ready(t)
			w.write(filepath.Join(w.repo, "ui.css"), "body { color: red }\n")
			return w.tried()
		}},
		{"A merge is under way", func(t *testing.T) (*world, result) {
			w := ready(t)
			w.git("checkout", "-q", "-b", "other")
			w.write(filepath.Join(w.repo, "ui.css"), "body { color: red }\n")
			w.git("commit", "-qam", "red")
			w.git("checkout", "-q", "main")
			w.write(filepath.Join(w.repo, "ui.css"), "body { color: blue }\n")
			w.git("commit", "-qam", "blue")
			merge := exec.CommandContext(t.Context(), "git", "merge", "-q", "other")
			merge.Dir = w.repo
			if err := merge.Run(); err == nil {
				t.Fatal("there is no conflict")
			}
			return w.tried()
		}},
		{"git is missing", func(t *testing.T) (*world, result) {
			w := ready(t)
			w.path = t.TempDir()
			return w.tried()
		}},
		{"The port is in use", func(t *testing.T) (*world, result) {
			w := ready(t)
			taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = taken.Close() })
			w.extra = append(w.extra, "RELO_BUS_LISTEN="+taken.Addr().String())
			name := filepath.Join(w.home, "relo.json")
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			w.write(name, strings.Replace(string(text), "{\n", fmt.Sprintf("{\n  \"bus\": {\"listen\": %q},\n", taken.Addr().String()), 1))
			return w.tried()
		}},
		{"The daemon is of another version", func(t *testing.T) (*world, result) {
			w := ready(t)
			w.serve()
			name := filepath.Join(w.home, "run", "endpoints.json")
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			other := regexp.MustCompile(`"api": ?"[^"]*"`).ReplaceAllString(string(text), `"api":"9"`)
			other = regexp.MustCompile(`"version": ?"[^"]*"`).ReplaceAllString(other, `"version":"9.9.9"`)
			w.write(name, other)
			return w, w.relo("run", "a change", "--repo", w.repo, "--no-input")
		}},
		{"The project asks for commands that nobody approved", func(t *testing.T) (*world, result) {
			w := ready(t)
			w.write(filepath.Join(w.repo, ".relo", "relo.json"), `{"worktree": {"setup": "npm ci"}}`)
			return w.tried()
		}},
	}
}

// ready is a world in which everything works.
func ready(t *testing.T) *world {
	t.Helper()
	l := mixed()
	l.review = false
	return newWorld(t, l, &play{plan: planOf(task("one", "easy"))}).smallRepo()
}

// plainly takes out of the words what differs from run to run.
func (w *world) plainly(text string) string {
	for _, one := range []struct{ what, name string }{{w.repo, "REPO"}, {w.home, "HOME"}, {w.path, "PATH"}} {
		if one.what != "" {
			text = strings.ReplaceAll(text, one.what, one.name)
		}
	}
	for _, one := range []struct{ what, name string }{
		{`127\.0\.0\.1:\d{3,}`, "127.0.0.1:PORT"},
		{`\bprocess \d+`, "process PID"},
		{`\d+\.\d+\.\d+-dev`, "VERSION"},
		{`[0-9a-f]{8}-[0-9a-f]{4}(-[0-9a-f]{4}(-[0-9a-f]{4}-[0-9a-f]{12})?)?`, "ID"},
		{`[0-9a-f]{40}`, "COMMIT"},
		{`\b[0-9a-f]{7,13}\b`, "COMMIT"},
		{`\b\d+(\.\d+)? ?(ms|s)\b`, "TIME"},
	} {
		text = regexp.MustCompile(one.what).ReplaceAllString(text, one.name)
	}
	return text
}

// Each thing that goes wrong at the first use has words of its own, with what to
// do next; the page of the docs shows them as they were said.
func TestEachErrorHasItsOwnWords(t *testing.T) {
	t.Parallel()
	list := append(troubles(), troublesHere()...)
	said := make([]string, len(list))
	t.Run("provoked", func(t *testing.T) {
		for i, x := range list {
			t.Run(strings.ReplaceAll(x.name, " ", "_"), func(t *testing.T) {
				t.Parallel()
				w, r := x.do(t)
				var lines []string
				for line := range strings.Lines(w.plainly(r.stderr)) {
					if strings.HasPrefix(line, "warning: agents' commands") {
						continue // said at every run until there is a sandbox
					}
					lines = append(lines, strings.TrimRight(line, "\n"))
				}
				said[i] = fmt.Sprintf("## %s\n\nExit code %d.\n\n```\n%s\n```\n", x.name, r.exit, strings.Join(lines, "\n"))
			})
		}
	})
	page := "# What Relo says when something is wrong\n\nEach of these was provoked in a real run; what was written to standard error is shown as it was, with paths, ports,\n" +
		"ids and times taken out. Written by `go test ./core/e2e -run OwnWords -update`.\n\n" + strings.Join(said, "\n")
	if *update {
		if err := os.MkdirAll(filepath.Dir(wordsPage), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(wordsPage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(wordsPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != page {
		t.Errorf("the page is not current; what was said:\n%s", page)
	}
	for i, words := range said {
		for j := range said[:i] {
			if _, a, _ := strings.Cut(words, "\n"); strings.HasSuffix(said[j], a) {
				t.Errorf("%q and %q are told in the same words", list[i].name, list[j].name)
			}
		}
	}
}
