package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/relo-dev/relo/core/internal/catalog"
)

// Where the catalogue lies, from the repository's folder.
const (
	catalogFile   = "core/internal/catalog/models.tsv.gz"
	catalogNotice = "core/internal/catalog/NOTICE"
)

// writeCatalog makes the built-in catalogue of an unpacked @oh-my-pi/pi-catalog, with
// the notice that its licence asks for.
func writeCatalog(root, folder string) error {
	all, err := catalogPages(folder)
	if err != nil {
		return err
	}
	for name, text := range all {
		err = errors.Join(err, os.WriteFile(filepath.Join(root, filepath.FromSlash(name)), text, 0o644)) //nolint:gosec // for everybody
	}
	return err
}

func catalogPages(folder string) (map[string][]byte, error) {
	dir, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("open the package: %w", err)
	}
	defer func() { _ = dir.Close() }() // read only
	from, err := originOf(dir)
	if err != nil {
		return nil, err
	}
	licence, err := dir.ReadFile("LICENSE")
	if err != nil {
		return nil, fmt.Errorf("the package's licence: %w", err)
	}
	models, err := dir.Open("src/models.json")
	if err != nil {
		return nil, fmt.Errorf("the package's models: %w", err)
	}
	defer func() { _ = models.Close() }() // read only
	table, err := catalog.Slim(models, from)
	if err != nil {
		return nil, fmt.Errorf("models.json of %s: %w", from.Version, err)
	}
	var b bytes.Buffer
	if err := table.Write(&b); err != nil {
		return nil, err
	}
	notice := fmt.Sprintf("models.tsv.gz is a part of the npm package %s %s (%s), in a shorter form.\nIts licence:\n\n%s", from.Package, from.Version, from.Date, licence)
	return map[string][]byte{catalogFile: b.Bytes(), catalogNotice: []byte(notice)}, nil
}

// originOf reads what the package says of itself. The files of a package have no dates
// of their own, so the day is that of the version in its changelog.
func originOf(dir *os.Root) (catalog.Origin, error) {
	text, err := dir.ReadFile("package.json")
	if err != nil {
		return catalog.Origin{}, fmt.Errorf("the package's description: %w", err)
	}
	var about struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		License string `json:"license"`
	}
	if err := json.Unmarshal(text, &about); err != nil {
		return catalog.Origin{}, fmt.Errorf("package.json: %w", err)
	}
	from := catalog.Origin{Package: about.Name, Version: about.Version, Licence: about.License}
	if from.Licence != "MIT" {
		return from, fmt.Errorf("%s %s is under %q, not under MIT any more: read it before you take it", from.Package, from.Version, from.Licence)
	}
	changes, err := dir.ReadFile("CHANGELOG.md")
	if err != nil {
		return from, fmt.Errorf("the package's changes: %w", err)
	}
	day := regexp.MustCompile(`(?m)^## \[` + regexp.QuoteMeta(from.Version) + `\] - (\d{4}-\d\d-\d\d)$`).FindSubmatch(changes)
	if day == nil {
		return from, fmt.Errorf("CHANGELOG.md has no day of %s", from.Version)
	}
	from.Date = string(day[1])
	return from, nil
}
