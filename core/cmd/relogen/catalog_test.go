package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/config"
)

// packageFiles are what is read of the npm package.
func packageFiles() map[string]string {
	return map[string]string{
		"package.json": `{"name": "@oh-my-pi/pi-catalog", "version": "1.2.3", "license": "MIT"}`,
		"CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-02\n\n## [1.2.2] - 2026-01-01\n",
		"LICENSE":      "MIT License\n\nCopyright (c) 2026 Somebody\n",
		"src/models.json": `{"anthropic": {"claude": {"baseUrl": "https://api.anthropic.com", "input": ["text", "image"], "contextWindow": 200000,
		   "cost": {"input": 1, "output": 5, "cacheRead": 0.1}}}}`,
	}
}

func unpacked(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "src"), 0o750); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTheCatalogueIsMadeOfThePackage(t *testing.T) {
	t.Parallel()
	folder, root := unpacked(t, packageFiles()), t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, filepath.FromSlash("core/internal/catalog")), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := writeCatalog(root, folder); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(catalogFile)))
	if err != nil {
		t.Fatal(err)
	}
	table, err := catalog.ReadTable(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	want := catalog.Origin{Package: "@oh-my-pi/pi-catalog", Version: "1.2.3", Licence: "MIT", Date: "2026-01-02"}
	if k, ok := table.Find("anthropic", "", "claude"); table.Origin != want || !ok || k.Context != 200000 {
		t.Errorf("%+v, %+v", table.Origin, k)
	}
	notice, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(catalogNotice)))
	if err != nil || !strings.Contains(string(notice), "Copyright (c) 2026 Somebody") {
		t.Errorf("%s, %v", notice, err)
	}
	again, err := catalogPages(folder)
	if err != nil || !bytes.Equal(again[catalogFile], raw) {
		t.Errorf("the same package gives other bytes: %v", err)
	}
}

func TestAPackageThatIsNotAsBeforeIsNotTaken(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]struct{ text, want string }{
		"package.json":    {`{"name": "x", "version": "1.2.3", "license": "Proprietary"}`, "not under MIT"},
		"CHANGELOG.md":    {"## [1.2.2] - 2026-01-01\n", "no day of 1.2.3"},
		"LICENSE":         {"", "licence"},
		"src/models.json": {"[]", "not a table"},
	} {
		files := packageFiles()
		files[name] = change.text
		if change.text == "" {
			delete(files, name)
		}
		if _, err := catalogPages(unpacked(t, files)); err == nil || !strings.Contains(err.Error(), change.want) {
			t.Errorf("%s of %v: %v, want %q", name, slices.Sorted(maps.Keys(files)), err, change.want)
		}
	}
}

func TestTheMakefileHasTheVersionOfTheTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	if b := catalog.BuiltIn(); !strings.Contains(string(text), "CATALOG := "+b.Package+"@"+b.Version+"\n") {
		t.Errorf("the table is of %s: run make catalog", b.Version)
	}
}

// TestPresetsAreAtHomeInTheCatalogue stands here because only this floor sees both.
func TestPresetsAreAtHomeInTheCatalogue(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, api := range config.APIs() {
		preset, _ := config.PresetOf(api)
		if preset.URL == "" || preset.Local {
			continue
		}
		id := map[string]string{"openai-responses": "gpt-5.4", "gemini": "gemini-2.5-pro", "copilot": "gpt-5.4"}[api]
		if list := catalog.Vendor(api); len(list) > 0 {
			id = list[0].ID
		}
		home, ok := catalog.Find(api, preset.URL, id)
		custom, _ := catalog.Find("openai-chat", preset.URL, id)
		proxied, _ := catalog.Find(api, "https://proxy.example/v1", id)
		if !ok || home.Route == "" || custom.Route != home.Route || proxied.Route != "" {
			t.Errorf("%s: at home it is route %q, its address alone is %q, a proxy %q", api, home.Route, custom.Route, proxied.Route)
		}
		if text := preset.TextAPI; text != (home.Sight.Detail == "the service takes no pictures") {
			t.Errorf("%s takes pictures: %v, and the catalogue says %+v", api, !text, home.Sight)
		}
		tried++
	}
	if tried < 12 {
		t.Errorf("only %d presets", tried)
	}
}
