package e2e

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/app"
)

// planted are secrets that a job comes across; none may leave in an export.
var planted = map[string]string{
	"the key of a provider":          "test-key",
	"a header of a provider":         "hdr/S3cret&Value-42",
	"a key that an agent printed":    "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
	"a token in the job's text":      "ghp_0123456789abcdefABCDEF0123456789abcd",
	"an AWS key in a model's words":  "AKIAIOSFODNN7EXAMPLE",
	"the password of an address":     "hunter2-in-a-url",
	"a bearer token":                 "abcdefghijklmnop.qrstuvwxyz",
	"a variable's value":             "variable-value-9911",
	"a password in a file's content": "correct-horse-battery",
	"a tool server's variable":       "mcp-value-7788",
}

func TestAnExportHoldsNoSecret(t *testing.T) {
	t.Parallel()
	p := &play{plan: planOf(task("one", "hard", eyes("ref/login.png")))}
	spill := "echo " + planted["a key that an agent printed"] + "; echo https://bob:" + planted["the password of an address"] + "@example.com/x; " +
		"echo 'Authorization: Bearer " + planted["a bearer token"] + "'; echo 'PASSWORD=" + planted["a password in a file's content"] + "'; " +
		"echo " + planted["a variable's value"] + "; echo '{\"h\": \"" + planted["a header of a provider"] + "\"}'; echo " + planted["a tool server's variable"] + "; " +
		"echo " + base64.StdEncoding.EncodeToString([]byte(planted["the key of a provider"])) + "; echo " + planted["the key of a provider"]
	spilled := shell(spill)
	spilled.Text = "I found " + planted["an AWS key in a model's words"]
	p.workers = map[string]act{"Do one": steps(look("ref/login.png"), spilled, shoots("ui.css", "shots/a.png"), look("ref/login.png", "shots/a.png"), done("it matches"))}
	p.review = map[string]act{"Do one": looksThenAccepts("shots/a.png")}
	w := newWorld(t, mixed(), p).smallRepo()
	w.extra = []string{"SOME_SERVICE_TOKEN=" + planted["a variable's value"]}
	w.edit(`"open": {`, `"open": {"headers": {"x-extra": "`+planted["a header of a provider"]+`"}, `)
	w.edit(`"review"`, `"mcp": {"pg": {"command": ["mcp-pg"], "env": {"PGPASS": "`+planted["a tool server's variable"]+`"}}},
  "review"`)
	w.relo("run", "Match it, the token is "+planted["a token in the job's text"], "--repo", w.repo, "--standalone").mustExit(t, 0)

	doc, files := w.exported()
	text := bytes.Join(values(files), []byte("\n"))
	for what, secret := range planted {
		for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret)), strings.ReplaceAll(secret, "&", `\u0026`)} {
			if n := bytes.Count(text, []byte(form)); n > 0 {
				t.Errorf("%s is in the export %d times", what, n)
			}
		}
	}
	if n := bytes.Count(text, []byte(w.home)); n > 0 {
		t.Errorf("the person's home folder is in it %d times", n)
	}
	for _, name := range []string{"events.jsonl", "job.json", "costs.json", "versions.json", "doctor.json"} {
		if len(files[name]) == 0 {
			t.Errorf("%s is missing or empty", name)
		}
	}
	traces := 0
	for name, data := range files {
		if strings.HasPrefix(name, "traces/") {
			traces++
			if strings.Contains(name, "one-1-") && !bytes.Contains(data, []byte("PASSWORD=[secret]")) {
				t.Errorf("%s does not hold what the agent did: %.300s", name, data)
			}
		}
	}
	if traces < 2 || doc.Pictures < 2 {
		t.Errorf("%d transcripts and %d pictures", traces, doc.Pictures)
	}

	// The same again, but for what is never shown, and for all pictures.
	_, again := w.exported()
	for name, data := range files {
		if name != "doctor.json" && !bytes.Equal(data, again[name]) {
			t.Errorf("%s differs in a second export", name)
		}
	}
	w.edit(`"review"`, `"pictures": {"never": ["ref/**"]}, "review"`)
	fewer, left := w.exported()
	for name, data := range left {
		if strings.Contains(name, "login") || bytes.Contains(data, []byte(`"path":"ref/login.png"`)) {
			t.Errorf("%s still tells of a picture that is never shown", name)
		}
	}
	if fewer.Pictures >= doc.Pictures || len(fewer.LeftOut) == 0 {
		t.Errorf("%d pictures of %d, left out: %v", fewer.Pictures, doc.Pictures, fewer.LeftOut)
	}
	none, _ := w.exported("--no-pictures")
	if none.Pictures != 0 {
		t.Errorf("%d pictures with --no-pictures", none.Pictures)
	}
}

func values(files map[string][]byte) (all [][]byte) {
	for _, data := range files {
		all = append(all, data)
	}
	return all
}

// exported packs the last job and unpacks it.
func (w *world) exported(flags ...string) (app.ExportDoc, map[string][]byte) {
	w.t.Helper()
	out := filepath.Join(w.t.TempDir(), "job.zip")
	doc := decode[app.ExportDoc](w.t, w.relo(append([]string{"export", "@last", "--out", out, "--json"}, flags...)...).mustExit(w.t, 0))
	data, err := os.ReadFile(out)
	if err != nil {
		w.t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		w.t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			w.t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			w.t.Fatal(err)
		}
		_ = r.Close() // read whole
	}
	return doc, files
}
