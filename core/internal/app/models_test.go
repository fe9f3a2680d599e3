package app

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/keyring"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/provider/probe"
	"github.com/relo-dev/relo/core/internal/vision"
)

// lister is a provider that has only a list, which a test changes.
type lister struct {
	body  atomic.Value
	asked atomic.Int32
}

func (l *lister) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	l.asked.Add(1)
	body, _ := l.body.Load().(string)
	if body == "" {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(w, body)
}

func listed(t *testing.T) (*lister, Env, *config.Config) {
	t.Helper()
	l := &lister{}
	srv := httptest.NewServer(l)
	t.Cleanup(srv.Close)
	e, cfg := configured(t, fmt.Sprintf(`{"providers": {"acme": {"api": "openai-chat", "url": "%s/v1", "key": "env:ACME_KEY"},
		"off": {"api": "openai-chat", "url": "%s/off/v1", "discover": false}}, "ladder": [{"model": "acme/a"}], "primary": "acme/a"}`, srv.URL, srv.URL))
	return l, e, cfg
}

func discovered(t *testing.T, e Env, cfg *config.Config, o DiscoverOptions) map[string]Listing {
	t.Helper()
	out := map[string]Listing{}
	must(t, Providers{Env: e, Ring: keyring.Memory()}.Discover(t.Context(), cfg, o, func(l Listing) { out[l.Provider] = l }))
	return out
}

func TestAListIsKeptComparedAndOutlivesAFailure(t *testing.T) {
	t.Parallel()
	l, e, cfg := listed(t)
	l.body.Store(`{"data":[{"id":"a","supports_vision":true},{"id":"b","supports_vision":false},{"id":"c"},{"id":"text-embedding-3-small"}]}`)
	first := discovered(t, e, cfg, DiscoverOptions{})
	if a := first["acme"]; a.State != "ok" || a.Models != 4 || a.Sees != 1 || a.NotChat != 1 || len(a.New) != 0 {
		t.Errorf("%+v", a)
	}
	if off := first["off"]; off.State != "skip" || !strings.Contains(off.Words, "discover is off") {
		t.Errorf("%+v", off)
	}
	if m := e.knowledge().modelOf(cfg, "acme/a"); m.Sight.Sight != vision.Sees || m.Sight.Source != vision.Reported || !m.Listed || !strings.Contains(m.Sight.Detail, "supports_vision") {
		t.Errorf("%+v", m.Sight)
	}
	if again := discovered(t, e, cfg, DiscoverOptions{}); again["acme"].State != "skip" || l.asked.Load() != 1 {
		t.Errorf("a young list was asked for again: %+v, %d requests", again["acme"], l.asked.Load())
	}
	l.body.Store(`{"data":[{"id":"a","supports_vision":false},{"id":"b","supports_vision":false},{"id":"d"}]}`)
	want := []SightChange{{"a", vision.Sees, vision.Blind}}
	second := discovered(t, e, cfg, DiscoverOptions{Force: true})["acme"]
	if d := cmp.Diff(want, second.Changed); d != "" || strings.Join(second.New, " ") != "d" || strings.Join(second.Gone, " ") != "c text-embedding-3-small" {
		t.Errorf("new %q gone %q changed %s", second.New, second.Gone, d)
	}
	l.body.Store("")
	if third := discovered(t, e, cfg, DiscoverOptions{Force: true})["acme"]; third.State != "fail" || third.Models != 3 || !strings.Contains(third.Words, "still counts") {
		t.Errorf("%+v", third)
	}
	if m := e.knowledge().modelOf(cfg, "acme/a"); m.Sight.Source != vision.Reported || m.Sight.Sight != vision.Blind {
		t.Errorf("a failure took what was known: %+v", m.Sight)
	}
}

func TestAProviderIsAskedByNameWhateverItsDiscoverSays(t *testing.T) {
	t.Parallel()
	l, e, cfg := listed(t)
	l.body.Store(`{"data":[{"id":"x"}]}`)
	if got := discovered(t, e, cfg, DiscoverOptions{Names: []string{"off"}}); got["off"].State != "ok" || len(got) != 1 {
		t.Errorf("%+v", got)
	}
	err := Providers{Env: e}.Discover(t.Context(), cfg, DiscoverOptions{Names: []string{"acm"}}, func(Listing) { t.Error("somebody was asked") })
	if err == nil || !strings.Contains(err.Error(), "acm") {
		t.Errorf("%v", err)
	}
}

func TestTheDaemonAsksQuietly(t *testing.T) {
	t.Parallel()
	cfg := &config.Config{Providers: map[string]config.Provider{
		"env": {Wire: "openai-chat", Key: "env:K"}, "none": {Wire: "ollama"}, "ring": {Wire: "openai-chat", Key: "keyring:k"},
		"cmd": {Wire: "openai-chat", Key: "cmd:pass k"}, "off": {Wire: "openai-chat", Discover: new(false)}, "unused": {Wire: "openai-chat"}, "play": {Wire: "rehearsal"},
	}}
	for _, p := range []string{"env", "none", "ring", "cmd", "off", "play", "env"} {
		cfg.Ladder = append(cfg.Ladder, config.Rung{Model: []catalog.Ref{catalog.Ref(p + "/m")}})
	}
	if got := strings.Join(quietly(cfg), " "); got != "env none" {
		t.Errorf("asked by itself: %s", got)
	}
}

func TestAProbeIsKeptWithItsEndpointAndDate(t *testing.T) {
	t.Parallel()
	e, cfg := played(t, "openai-chat", double.Options{Key: "sk-good-key"})
	p := Providers{Env: e, Ring: keyring.Memory()}
	got := map[string]Probed{}
	must(t, p.Probe(t.Context(), cfg, []string{"acme/sees", "acme/drops", "acme/text", "acme/sees"}, func(x Probed) { got[x.Ref] = x }))
	for ref, want := range map[string]struct {
		sight   vision.Sight
		verdict probe.Verdict
		source  vision.Source
	}{
		"acme/sees":  {vision.Sees, probe.Saw, vision.Probed},
		"acme/drops": {vision.Blind, probe.Dropped, vision.Probed},
		"acme/text":  {vision.Blind, probe.Refused, vision.Configured}, // set by the person, which counts more
	} {
		x := got[ref]
		if x.State != "ok" || !x.Kept || x.Vision != want.sight || x.Verdict != want.verdict || x.Now.Source != want.source || x.TokensIn == nil && x.Verdict != probe.Refused {
			t.Errorf("%s: %+v", ref, x)
		}
	}
	m := e.knowledge().modelOf(cfg, "acme/sees")
	at := endpointOf(cfg.Providers["acme"])
	if m.Sight.Source != vision.Probed || !strings.Contains(m.Sight.Detail, at.URL()) || !strings.Contains(m.Sight.Detail, time.Now().UTC().Format(time.DateOnly)) {
		t.Errorf("%+v", m.Sight)
	}
	row := cfg.Providers["acme"]
	row.URL = "https://elsewhere.example/v1"
	cfg.Providers["acme"] = row
	if m := e.knowledge().modelOf(cfg, "acme/sees"); m.Sight.Source == vision.Probed {
		t.Errorf("a probe counts at another endpoint: %+v", m.Sight)
	}
	err := p.Probe(t.Context(), cfg, []string{"acme/none", "nobody/x"}, func(Probed) { t.Error("somebody was asked") })
	if err == nil || !strings.Contains(err.Error(), "nobody/x") {
		t.Errorf("%v", err)
	}
}

func TestAProbeWithoutAnAnswerKeepsTheOneBefore(t *testing.T) {
	t.Parallel()
	e, cfg := played(t, "openai-chat", double.Options{Key: "sk-good-key", Play: func(context.Context, double.Turn) double.Reply { return double.Reply{Status: 503} }})
	at := endpointOf(cfg.Providers["acme"])
	must(t, e.knowledge().almanac.KeepProbe(catalog.Probe{Endpoint: at, ID: "sees", Sight: vision.Sees, Verdict: "saw", At: time.Now()}))
	must(t, Providers{Env: e, Ring: keyring.Memory()}.Probe(t.Context(), cfg, []string{"acme/sees"}, func(x Probed) {
		if x.State != "fail" || x.Kept || x.Vision != vision.Unknown || x.Now.Vision != vision.Sees || !strings.Contains(x.Words, "still counts") {
			t.Errorf("%+v", x)
		}
	}))
}

// packed is an npm package as it is packed.
func packed(t *testing.T, licence, models string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range map[string]string{
		"package/package.json":    fmt.Sprintf(`{"name": %q, "version": "99.1.0", "license": %q}`, catalogPackage, licence),
		"package/src/models.json": models,
		"package/src/other.json":  "{",
	} {
		must(t, w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o600}))
		_, err := w.Write([]byte(text))
		must(t, err)
	}
	must(t, w.Close())
	must(t, z.Close())
	return b.Bytes()
}

func TestAFetchedCatalogueHasToBeWholeAndFree(t *testing.T) {
	t.Parallel()
	models := `{"anthropic": {"claude-x": {"id": "claude-x", "input": ["text", "image"], "contextWindow": 1000, "maxTokens": 100}}}`
	table, err := readPackage(bytes.NewReader(packed(t, "MIT", models)))
	if err != nil || table.Version != "99.1.0" {
		t.Fatalf("%v", err)
	}
	if err := table.MayReplace(catalog.BuiltIn()); err == nil {
		t.Error("a catalogue of one model may replace the built-in")
	}
	for name, text := range map[string][]byte{
		"another licence": packed(t, "BUSL-1.1", models), "no JSON": packed(t, "MIT", "["), "no package": []byte("x"), "cut": packed(t, "MIT", models)[:80],
	} {
		if _, err := readPackage(bytes.NewReader(text)); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

func TestALaterCatalogueCountsAsSoonAsItIsThere(t *testing.T) {
	t.Parallel()
	e := bare(t, nil)
	tables := &tables{file: e.catalogFile()}
	if tables.table() != catalog.BuiltIn() {
		t.Fatal("without a file the built-in counts")
	}
	var text bytes.Buffer
	must(t, catalog.BuiltIn().Write(&text))
	newer, err := catalog.ReadTable(&text)
	must(t, err)
	newer.Version = "99.1.0"
	must(t, keepCatalog(e.catalogFile(), newer))
	tables.looked = time.Time{}
	if got := tables.table(); got.Version != "99.1.0" {
		t.Errorf("%s counts", got.Version)
	}
	must(t, os.WriteFile(e.catalogFile(), []byte("torn"), 0o600))
	tables.looked = time.Time{}
	if tables.table() != catalog.BuiltIn() {
		t.Error("a torn file counts")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(e.catalogFile()), ".catalog-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{{"18.2.12", "18.2.11", true}, {"18.10.0", "18.9.9", true}, {"18.2.11", "18.2.11", false}, {"2", "18.2.11", false}} {
		if later(c.a, c.b) != c.want {
			t.Errorf("later(%s, %s)", c.a, c.b)
		}
	}
}

// npm puts a program of this name before all others for one test.
func npm(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "npm"), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestTheCatalogueIsFetchedWithTheNpmOfThePerson(t *testing.T) {
	e := bare(t, nil)
	p := Providers{Env: e}
	npm(t, `echo "npm error code ENOTFOUND" >&2; echo "npm error network is away" >&2; exit 1`)
	if doc := p.RefreshCatalog(t.Context()); doc.State != "fail" || !strings.Contains(doc.Words, catalog.BuiltIn().Version+" stays: npm could not fetch it: npm error network is away") {
		t.Errorf("%+v", doc)
	}
	small := filepath.Join(t.TempDir(), "small.tgz")
	must(t, os.WriteFile(small, packed(t, "MIT", `{"anthropic": {"claude-x": {"id": "claude-x", "input": ["text"], "contextWindow": 1000, "maxTokens": 100}}}`), 0o600))
	npm(t, `[ "$1 $2" = "pack `+catalogPackage+`" ] || exit 9; while [ "$1" != --pack-destination ]; do shift; done; cp `+small+` "$2"/`)
	if doc := p.RefreshCatalog(t.Context()); doc.State != "fail" || !strings.Contains(doc.Words, " stays: ") {
		t.Errorf("a catalogue of one model took the place of the built-in: %+v", doc)
	}
	if _, err := os.Stat(e.catalogFile()); err == nil {
		t.Error("it was kept")
	}
	t.Setenv("PATH", t.TempDir())
	if doc := p.RefreshCatalog(t.Context()); doc.State != "skip" || !strings.Contains(doc.Words, "there is no npm client") || doc.Models == 0 {
		t.Errorf("%+v", doc)
	}
}

func TestAFetchThatIsStoppedEndsAtOnce(t *testing.T) {
	npm(t, "sleep 60 & sleep 60")
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	began := time.Now()
	doc := Providers{Env: bare(t, nil)}.RefreshCatalog(ctx)
	if took := time.Since(began); doc.State != "fail" || took > 20*time.Second {
		t.Errorf("after %s: %+v", took, doc)
	}
}

func TestNPMGetsNoKeysOfModels(t *testing.T) {
	t.Parallel()
	got := withoutKeys([]string{"PATH=/bin", "OPENAI_API_KEY=k", "GOOGLE_API_KEY=k", "MY_OWN_API_KEY=k", "NPM_TOKEN=n", "HOME=/h"})
	if strings.Join(got, " ") != "PATH=/bin NPM_TOKEN=n HOME=/h" {
		t.Errorf("%q", got)
	}
}
