package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// refusalRow is one of the refusals that were seen, as a provider that refuses so.
type refusalRow struct {
	status         int
	class, words   string
	code           string
	mu             sync.Mutex
	refused, taken int
	unread         []byte // the picture that it cannot read, base64
}

var (
	quotedPhrase = regexp.MustCompile("``(.+?) ?``|`([^`]+)`")
	quotedCode   = regexp.MustCompile("code `(\\d+)`")
	firstStatus  = regexp.MustCompile(`\b[1-5]\d\d\b`)
)

// refusalRows reads the table of the package that classifies.
func refusalRows(t *testing.T) []*refusalRow {
	t.Helper()
	text, err := os.ReadFile("../internal/provider/refusal/testdata/refusals.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var rows []*refusalRow
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") || len(cells) < 5 {
			continue
		}
		r := &refusalRow{status: 400, class: cells[2], words: cells[3]}
		if n, err := strconv.Atoi(firstStatus.FindString(cells[1])); err == nil {
			r.status = n
		}
		if m := quotedCode.FindStringSubmatch(r.words); m != nil {
			r.code, r.words = m[1], quotedCode.ReplaceAllString(r.words, "")
		}
		if r.class != "not-blind" {
			m := quotedPhrase.FindStringSubmatch(r.words)
			if m == nil {
				continue // a row whose wording was never seen
			}
			r.words = m[1] + m[2]
		}
		r.words = strings.NewReplacer("At most N", "At most 1", "[N]", "[3]", "[K]", "[1]", "input(s)", "inputs", "<model>", "m", "… bytes >", "6000000 bytes >", "…", "x").Replace(r.words)
		rows = append(rows, r)
	}
	return rows
}

// dataPNG finds the pictures of a chat request.
var dataPNG = regexp.MustCompile(`data:image/png;base64,([A-Za-z0-9+/=]+)`)

// refuses says whether the provider takes the request: by class, what it would refuse for
// as long as it is so.
func (r *refusalRow) refuses(body []byte) bool {
	pictures := dataPNG.FindAllSubmatch(body, -1)
	if len(pictures) == 0 {
		return false
	}
	switch r.class {
	case "unreadable": // of one picture, whatever it is
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.unread == nil {
			r.unread = bytes.Clone(pictures[0][1])
		}
		return bytes.Contains(body, r.unread)
	case "shape": // it minds the place, and takes any other form
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.refused == 0
	case "size":
		if strings.Contains(r.words, "At most 1") {
			return len(pictures) > 1
		}
		for _, p := range pictures {
			raw, _ := base64.StdEncoding.DecodeString(string(p[1]))
			c, err := png.DecodeConfig(bytes.NewReader(raw))
			small := strings.Contains(r.words, "larger than 10")
			if err == nil && (!small && c.Width > 60 || small && c.Height <= 10) {
				return true
			}
		}
		return false
	}
	return true
}

// ServeHTTP is the provider before the double.
func (r *refusalRow) serve(w http.ResponseWriter, req *http.Request, next http.Handler) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	if r.refuses(body) {
		r.mu.Lock()
		r.refused++
		r.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(r.status)
		_ = json.NewEncoder(w).Encode(object{"error": object{"message": r.words, "code": r.code}})
		return
	}
	r.mu.Lock()
	r.taken++
	r.mu.Unlock()
	req.Body = io.NopCloser(bytes.NewReader(body))
	next.ServeHTTP(w, req)
}

// TestEveryRefusalThatWasSeenIsHealedAndItsJobDone runs a whole job for each row: a visual
// task of a model whose provider refuses pictures in just these words.
func TestEveryRefusalThatWasSeenIsHealedAndItsJobDone(t *testing.T) {
	t.Parallel()
	rows := refusalRows(t)
	if len(rows) < 50 {
		t.Fatalf("only %d rows were read", len(rows))
	}
	l := mixed()
	l.workers, l.review, l.attempts = 2, false, 1
	play := &play{plan: planOf(task("paint", "easy", eyes("ref/login.png"))), workers: map[string]act{
		"Do paint": steps(shell("mkdir -p out && echo changed >> ui.css && cp ref/other.png out/shot.png"), look("out/shot.png"), call("finish_task", object{"outcome": "done", "summary": "drawn", "visual": []any{}})),
	}}
	w := newWorld(t, l, play).smallRepo()
	w.write(filepath.Join(w.repo, "ref", "other.png"), string(drawing(t, 110, 8)))
	models := w.dbl
	front := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		part := strings.SplitN(r.URL.Path, "/", 4) // /row/N/rest
		n, err := strconv.Atoi(part[2])
		if err != nil || n >= len(rows) {
			http.NotFound(out, r)
			return
		}
		r.URL.Path = "/" + part[3]
		rows[n].serve(out, r, models)
	}))
	t.Cleanup(front.Close)
	var providers []string
	for i := range rows {
		providers = append(providers, fmt.Sprintf(`"row%d": {"api": "openai-chat", "url": "%s/row/%d/v1", "key": "env:RELO_TEST_KEY", "models": {"big": {"vision": true, "price": {"input": 1, "output": 1}}}}`, i, front.URL, i))
	}
	w.edit(`"providers": {`, `"pictures": {"settleDoubt": false}, "providers": {`+strings.Join(providers, ",\n")+",")
	w.relo("daemon", "start").mustExit(t, 0)
	link := w.link()
	jobs := make([]string, len(rows))
	for i := range rows {
		r := w.relo("run", "paint it", "--repo", w.repo, "--detach", "--json", "--model", fmt.Sprintf("row%d/big", i)).mustExit(t, 0)
		jobs[i] = decode[protocol.Accepted](t, r).Job
	}
	blinded := map[string]bool{}
	for i, r := range rows {
		name := fmt.Sprintf("%d %s %d %q", i, r.class, r.status, r.words)
		var learned *job.Blinded
		end := w.until(link, jobs[i], func(e job.Event) bool {
			if b, ok := e.Body.(*job.Blinded); ok {
				learned = b
			}
			return e.Kind == job.KindFinished || e.Kind == job.KindJobStatus && e.Body.(*job.StatusChange).To == string(job.Ready)
		})
		blinded[r.class] = blinded[r.class] || learned != nil
		ready := end.Kind == job.KindJobStatus || w.show(jobs[i]).Status == job.Ready
		if (learned != nil) != (r.class == "blind") {
			t.Errorf("%s: blinded %+v", name, learned)
		}
		if r.class == "not-blind" {
			if r.refused == 0 || ready {
				t.Errorf("%s: it was healed: %d refused, ready %v", name, r.refused, ready)
			}
			continue
		}
		if !ready {
			doc := w.show(jobs[i])
			t.Errorf("%s: the job is not done: %s; %+v", name, doc.Reason, doc.Tasks[0].Attempts)
		}
		// Each request of the worker is refused once at most, and only one of them is.
		// What is too small for most is never sent so: it is fine on the first try.
		want := 1
		if strings.Contains(r.words, "larger than 10") {
			want = 0
		}
		if r.refused != want || r.taken != 3 {
			t.Errorf("%s: %d refused and %d taken, want %d and 3", name, r.refused, r.taken, want)
		}
	}
	if !blinded["blind"] {
		t.Error("nothing was learned at all")
	}
}
