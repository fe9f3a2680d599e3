package almanac

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/discovery"
	"github.com/relo-dev/relo/core/internal/vision"
)

const here = catalog.Endpoint("ollama http://127.0.0.1:11434")

var day = time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func listOf(at catalog.Endpoint, ids ...string) discovery.Report {
	r := discovery.Report{Endpoint: at, At: day, Tag: `"v1"`, Shape: "openai"}
	for _, id := range ids {
		r.Models = append(r.Models, provider.Listed{ID: id, Sight: vision.Sees, Field: "capabilities"})
	}
	return r
}

func probeOf(id string, s vision.Sight) catalog.Probe {
	return catalog.Probe{Endpoint: here, ID: id, Sight: s, Verdict: "saw", Words: "it was red", At: day}
}

func TestWhatIsKeptIsThereForEverybody(t *testing.T) {
	t.Parallel()
	state, cache := t.TempDir(), filepath.Join(t.TempDir(), "not", "yet")
	mine, other := Open(state, cache), Open(state, cache)
	empty := other.Look()
	if _, ok := empty.Report(here); ok || empty.Probe(here, "m") != nil {
		t.Error("something is known before anything was kept")
	}
	must(t, mine.Keep(listOf(here, "qwen3-vl:8b", "llava:latest")))
	must(t, mine.KeepProbe(probeOf("m", vision.Blind)))
	page := other.Look()
	got, ok := page.Report(here)
	if d := cmp.Diff(listOf(here, "qwen3-vl:8b", "llava:latest"), got); !ok || d != "" {
		t.Errorf("%v %s", ok, d)
	}
	if l, at := page.Listed(here, "llava"); l == nil || l.ID != "llava:latest" || !at.Equal(day) {
		t.Errorf("an id without a tag: %+v, %v", l, at)
	}
	if l, at := page.Listed(here, "qwen3-vl"); l != nil || !at.Equal(day) {
		t.Errorf("another tag is another model: %+v, %v", l, at)
	}
	if l, at := page.Listed("openai-chat https://elsewhere.example/v1", "llava:latest"); l != nil || !at.IsZero() {
		t.Error("another endpoint says the same")
	}
	want := probeOf("m", vision.Blind)
	if d := cmp.Diff(&want, page.Probe(here, "m")); d != "" {
		t.Error(d)
	}
	must(t, mine.DropProbe(here, "m"))
	must(t, mine.DropProbe(here, "never there"))
	if other.Look().Probe(here, "m") != nil {
		t.Error("a dropped probe is there")
	}
	if empty.Probe(here, "m") != nil || page.Probe(here, "m") == nil {
		t.Error("a page changed")
	}
}

func TestOnlyTheOwnerReadsTheFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := Open(dir, dir)
	must(t, a.Keep(listOf(here, "m")))
	must(t, a.KeepProbe(probeOf("m", vision.Sees)))
	files := 0
	must(t, filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files++
		info, err := e.Info()
		if err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v", e.Name(), info.Mode())
		}
		return err
	}))
	if files != 4 {
		t.Errorf("%d files, not two and their locks", files)
	}
}

func TestTheSamePageAsLongAsNothingChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mine, other := Open(dir, dir), Open(dir, dir)
	must(t, mine.Keep(listOf(here, "a")))
	for i := range 200 { // in one tick of a clock more often than not
		before := other.Look()
		if other.Look() != before {
			t.Fatal("another page, and nothing changed")
		}
		id := fmt.Sprint("m", i%10)
		if i%2 == 0 {
			must(t, mine.Keep(listOf(here, id)))
			if l, _ := other.Look().Listed(here, id); l == nil {
				t.Fatalf("write %d of a list was not seen", i)
			}
			continue
		}
		must(t, mine.KeepProbe(probeOf("m", vision.Sight(i/2%3))))
		if p := other.Look().Probe(here, "m"); p == nil || p.Sight != vision.Sight(i/2%3) {
			t.Fatalf("write %d of a probe was not seen", i)
		}
	}
}

func TestAListThatDidNotChangeIsNotReadAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := Open(dir, dir)
	must(t, a.Keep(listOf(here, "a")))
	before, _ := a.Look().Listed(here, "a")
	must(t, a.Keep(listOf("openai-chat https://x.example/v1", "b")))
	must(t, a.KeepProbe(probeOf("a", vision.Sees)))
	if after, _ := a.Look().Listed(here, "a"); after != before {
		t.Error("it was read again")
	}
}

func TestWhatIsDeletedByHandIsGone(t *testing.T) {
	t.Parallel()
	state, cache := t.TempDir(), t.TempDir()
	a := Open(state, cache)
	must(t, a.Keep(listOf(here, "a")))
	must(t, a.KeepProbe(probeOf("a", vision.Sees)))
	a.Look()
	must(t, os.RemoveAll(filepath.Join(cache, "models")))
	must(t, os.Remove(filepath.Join(state, "probes.json")))
	if _, ok := a.Look().Report(here); ok || a.Look().Probe(here, "a") != nil {
		t.Error("it is there")
	}
	must(t, a.Keep(listOf(here, "b")))
	if l, _ := a.Look().Listed(here, "b"); l == nil {
		t.Error("nothing can be kept afterwards")
	}
}

func TestWritersLoseNothingOfEachOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var work sync.WaitGroup
	errs := make(chan error, 100)
	for w := range 4 { // each with files of its own, as processes have
		work.Go(func() {
			a := Open(dir, dir)
			for i := range 10 {
				errs <- a.KeepProbe(probeOf(fmt.Sprintf("m%d-%d", w, i), vision.Sees))
				errs <- a.Keep(listOf(catalog.Endpoint(fmt.Sprintf("openai-chat https://h%d-%d.example", w, i)), "m"))
			}
		})
	}
	work.Wait()
	close(errs)
	for err := range errs {
		must(t, err)
	}
	page := Open(dir, dir).Look()
	if len(page.probes) != 40 || len(page.reports) != 40 {
		t.Errorf("%d probes, %d lists", len(page.probes), len(page.reports))
	}
}

func TestADamagedFileSaysNothingAndIsWrittenOver(t *testing.T) {
	t.Parallel()
	whole := func() (*Almanac, []string) {
		dir := t.TempDir()
		a := Open(dir, dir)
		must(t, a.Keep(listOf(here, "m")))
		must(t, a.KeepProbe(probeOf("m", vision.Sees)))
		return a, []string{a.reportPath(here), a.probes}
	}
	for why, damage := range map[string]func(text []byte) []byte{
		"torn":               func(t []byte) []byte { return t[:len(t)/2] },
		"empty":              func([]byte) []byte { return nil },
		"zeroes":             func(t []byte) []byte { return make([]byte, len(t)) },
		"of a later program": func(t []byte) []byte { return []byte(strings.Replace(string(t), `"format":1`, `"format":2`, 1)) },
		"huge":               func(t []byte) []byte { return append(t, make([]byte, maxReport)...) },
		"a sight nobody knows": func(t []byte) []byte {
			return []byte(strings.Replace(string(t), `"vision":"yes"`, `"vision":"maybe"`, 1))
		},
	} {
		a, files := whole()
		a.Look()
		for _, name := range files {
			text, err := os.ReadFile(name)
			must(t, err)
			must(t, replace(name, damage(text)))
		}
		page := a.Look()
		if _, ok := page.Report(here); ok || page.Probe(here, "m") != nil {
			t.Errorf("%s: it is believed", why)
		}
		must(t, a.Keep(listOf(here, "n")))
		must(t, a.KeepProbe(probeOf("n", vision.Sees)))
		if l, _ := a.Look().Listed(here, "n"); l == nil || a.Look().Probe(here, "n") == nil {
			t.Errorf("%s: it stays damaged", why)
		}
	}
}

func TestAListUnderAnotherEndpointsNameIsNotBelieved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := Open(dir, dir)
	must(t, a.Keep(listOf(here, "m")))
	must(t, os.Rename(a.reportPath(here), a.reportPath("openai-chat https://x.example")))
	if len(a.Look().reports) != 0 {
		t.Error("it is")
	}
}

func TestTheOldestGoFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := Open(dir, dir)
	name := func(i int) catalog.Endpoint {
		return catalog.Endpoint(fmt.Sprintf("openai-chat https://h%d.example", i))
	}
	must(t, os.MkdirAll(a.reports, 0o700))
	must(t, os.WriteFile(filepath.Join(a.reports, unfinished+"123"), []byte("{"), 0o600)) // of a writer that was killed
	for i := range reportsKept + 3 {
		must(t, a.Keep(listOf(name(i), "m")))
	}
	entries, err := os.ReadDir(a.reports)
	must(t, err)
	if len(entries) != reportsKept+1 { // and the lock
		t.Errorf("%d files", len(entries))
	}
	if _, ok := a.Look().Report(name(2)); ok {
		t.Error("the oldest stayed")
	}
	if _, ok := a.Look().Report(name(3)); !ok {
		t.Error("a newer one went")
	}
	must(t, a.changeProbes(func([]catalog.Probe) (all []catalog.Probe) {
		for i := range probesKept {
			p := probeOf(fmt.Sprint("m", i), vision.Sees)
			p.At = day.Add(time.Duration(i) * time.Second)
			all = append(all, p)
		}
		return all
	}))
	late := probeOf("late", vision.Sees)
	late.At = day.Add(time.Hour * 1000)
	must(t, a.KeepProbe(late))
	if page := a.Look(); len(page.probes) != probesKept || page.Probe(here, "m0") != nil || page.Probe(here, "late") == nil {
		t.Errorf("%d probes", len(page.probes))
	}
}

func TestTooLongAListIsCutAndSaysSo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, r := Open(dir, dir), listOf(here)
	for i := range reportModels + 2 {
		r.Models = append(r.Models, provider.Listed{ID: fmt.Sprint(i)})
	}
	must(t, a.Keep(r))
	got, _ := a.Look().Report(here)
	if len(got.Models) != reportModels || len(got.Notes) != 1 || got.Notes[0] != "2 models more than 20000 were left out" {
		t.Errorf("%d models, %q", len(got.Models), got.Notes)
	}
	r.Models[0].Name = strings.Repeat("x", maxReport)
	if err := a.Keep(r); err == nil || !strings.Contains(err.Error(), "bytes, more than") {
		t.Errorf("a list of any size is kept: %v", err)
	}
	if a.Keep(discovery.Report{}) == nil || a.KeepProbe(catalog.Probe{}) == nil {
		t.Error("something of nowhere is kept")
	}
}

func FuzzFiles(f *testing.F) {
	f.Add([]byte(`{"format":1,"report":{"endpoint":"ollama http://127.0.0.1:11434","at":"2026-12-01T10:00:00Z","models":[{"id":"m","vision":"yes"},{"id":"m"}]}}`))
	f.Add([]byte(`{"format":1,"probes":[{"endpoint":"e","id":"m","vision":"no","at":"2026-12-01T10:00:00Z"},{}]}`))
	f.Add([]byte(`{"format":1,"report":{"endpoint":"x","models":null}}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		a := Open(dir, dir)
		must(t, os.MkdirAll(a.reports, 0o700))
		must(t, os.WriteFile(a.reportPath(here), text, 0o600))
		must(t, os.WriteFile(a.probes, text, 0o600))
		page := a.Look()
		if r, ok := page.Report(here); ok && r.Endpoint != here {
			t.Errorf("another endpoint's list: %q", r.Endpoint)
		}
		must(t, a.KeepProbe(probeOf("m", vision.Sees)))
		if p := a.Look().Probe(here, "m"); p == nil || p.Sight != vision.Sees {
			t.Errorf("nothing can be kept beside %q", text)
		}
	})
}

func benchAlmanac(b *testing.B) *Almanac {
	dir := b.TempDir()
	a := Open(dir, dir)
	r := listOf(here)
	for i := range 5000 {
		r.Models = append(r.Models, provider.Listed{ID: fmt.Sprint("vendor/model-", i), Name: "A model", Sight: vision.Blind, Field: "architecture.input_modalities", Context: 131072})
	}
	must(b, a.Keep(r))
	must(b, a.KeepProbe(probeOf("m", vision.Sees)))
	return a
}

func BenchmarkLookWhenNothingChanged(b *testing.B) {
	a := benchAlmanac(b)
	a.Look()
	for b.Loop() {
		a.Look()
	}
}

func BenchmarkFirstLookAtFiveThousandModels(b *testing.B) {
	a := benchAlmanac(b)
	for b.Loop() {
		a.page.Store(nil)
		a.Look()
	}
}

func BenchmarkKeepFiveThousandModels(b *testing.B) {
	a := benchAlmanac(b)
	r, _ := a.Look().Report(here)
	for b.Loop() {
		must(b, a.Keep(r))
	}
}
