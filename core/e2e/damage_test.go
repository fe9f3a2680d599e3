package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/protocol"
)

// One flipped byte in the middle of a job's journal: that job is only shown, with
// the reason; every other job works, the daemon starts and takes new ones.
func TestAFlippedByteStopsNobody(t *testing.T) {
	t.Parallel()
	l := mixed()
	l.review = false
	w := newWorld(t, l, &play{plan: planOf(task("one", "easy"))}).smallRepo()
	fillRecord(t, w, 12)
	name := filepath.Join(w.home, "state", "record", "record.db")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	mark := []byte(`"text":"Change number 7"`)
	at := bytes.Index(data, mark)
	if at < 0 || bytes.Count(data, mark) != 1 {
		t.Fatalf("the record holds %d of %s", bytes.Count(data, mark), mark)
	}
	data[at+len(`"text":"Ch`)] ^= 0x01
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	w.serve()
	var list protocol.JobList
	check(t, json.Unmarshal([]byte(w.relo("jobs", "--json").mustExit(t, 0).stdout), &list))
	if len(list.Jobs) != 12 {
		t.Fatalf("%d jobs", len(list.Jobs))
	}
	for _, j := range list.Jobs {
		r := w.relo("show", j.ID)
		damaged := strings.Contains(r.stdout+r.stderr, "damaged")
		if want := j.Title == "Change number 7"; damaged != want {
			t.Errorf("%s: said to be damaged: %t\n%s%s", j.Title, damaged, r.stdout, r.stderr)
		}
		if j.Title == "Change number 7" {
			if r := w.relo("discard", "--force", j.ID); r.exit == 0 || !strings.Contains(r.stderr, "damaged") {
				t.Errorf("a damaged job was changed: exit %d %s", r.exit, r.stderr)
			}
		}
	}
	if r := w.relo("doctor"); !strings.Contains(r.stdout+r.stderr, "damaged") {
		t.Errorf("doctor does not know of it:\n%s%s", r.stdout, r.stderr)
	}
	w.isReady(w.submit("one change"))
}
