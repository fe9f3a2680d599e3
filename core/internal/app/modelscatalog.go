package app

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/found"
	"github.com/relo-dev/relo/core/internal/httpwire"
)

const (
	// catalogPackage is the npm package that the catalogue is made of.
	catalogPackage = "@oh-my-pi/pi-catalog"
	// fetchTime bounds fetching it: some 2 MB.
	fetchTime = 2 * time.Minute
	// packedMost bounds one file of the package, unpacked; models.json has some 12 MB.
	packedMost = 64 << 20
	// npmStopTime is how long npm's own children may hold on after it was stopped.
	npmStopTime = 500 * time.Millisecond
	// tableLook is how long a look at the fetched catalogue's file holds.
	tableLook = time.Second
)

// RefreshOptions say what is refreshed beside the providers' lists.
type RefreshOptions struct {
	Catalog bool
}

// CatalogDoc is what came of fetching the catalogue.
type CatalogDoc struct {
	State   string `json:"state"` // ok, fail, or skip when there is no npm client
	Version string `json:"version"`
	Date    string `json:"date,omitempty"`
	Models  int    `json:"models"`
	Words   string `json:"words"`
}

// RefreshCatalog fetches the newest catalogue with the person's own npm client, which
// knows their registry and checks what comes, and keeps it in the cache folder, where
// every process sees it. What was there stays when anything is wrong with the new one.
func (p Providers) RefreshCatalog(ctx context.Context) CatalogDoc {
	now := p.Env.knowledge().tables.table()
	doc := func(state, words string) CatalogDoc {
		_, models := now.Counts()
		return CatalogDoc{State: state, Version: now.Version, Date: now.Date, Models: models, Words: words}
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return doc(stateSkip, fmt.Sprintf("there is no npm client to fetch a newer one with, so %s stays", now.Version))
	}
	table, err := fetchCatalog(ctx, npm)
	if err == nil {
		err = table.MayReplace(catalog.BuiltIn())
	}
	if err != nil {
		return doc(stateFail, fmt.Sprintf("%s stays: %s", now.Version, httpwire.Plain(err.Error())))
	}
	if !later(table.Version, now.Version) {
		return doc(stateOK, fmt.Sprintf("%s is the newest", now.Version))
	}
	if err := keepCatalog(p.Env.catalogFile(), table); err != nil {
		return doc(stateFail, fmt.Sprintf("%s stays: %v", now.Version, err))
	}
	was := now.Version
	now = table
	_, models := now.Counts()
	return doc(stateOK, fmt.Sprintf("%s with %d models, was %s", now.Version, models, was))
}

func (e Env) catalogFile() string {
	return filepath.Join(e.places().Cache, "models", "catalog.tsv.gz")
}

// fetchCatalog has the package packed into a folder and reads the file of models.
func fetchCatalog(ctx context.Context, npm string) (*catalog.Table, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	dir, err := os.MkdirTemp("", "relo-catalog-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the package: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // a folder of the system's own, which it sweeps too
	//nolint:gosec // the person's own npm
	cmd := exec.CommandContext(ctx, npm, "pack", catalogPackage, "--ignore-scripts", "--silent", "--pack-destination", dir)
	cmd.Dir, cmd.WaitDelay = dir, npmStopTime // no project's settings
	cmd.Env = withoutKeys(os.Environ())
	if out, err := cmd.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("npm was stopped: %w", ctx.Err())
		}
		return nil, fmt.Errorf("npm could not fetch it: %s", lastLine(string(out), err))
	}
	packed, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(packed) != 1 {
		return nil, fmt.Errorf("npm left %d packages", len(packed))
	}
	f, err := os.Open(packed[0])
	if err != nil {
		return nil, fmt.Errorf("open the package: %w", err)
	}
	defer func() { _ = f.Close() }() // read only
	return readPackage(f)
}

// withoutKeys leaves the variables out in which models' keys usually are: a program that
// fetches a package needs none of them.
func withoutKeys(env []string) []string {
	usual := found.Variables()
	return slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		_, is := usual[name]
		return is || strings.HasSuffix(name, "_API_KEY")
	})
}

func lastLine(out string, err error) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return last
	}
	return err.Error()
}

// readPackage reads the table out of a packed npm package.
func readPackage(r io.Reader) (*catalog.Table, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("unpack the package: %w", err)
	}
	var about struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		License string `json:"license"`
	}
	var models []byte
	for t := tar.NewReader(io.LimitReader(z, 2*packedMost)); ; {
		head, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("unpack the package: %w", err)
		}
		if head.Name != "package/package.json" && head.Name != "package/src/models.json" {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(t, packedMost))
		if err != nil {
			return nil, fmt.Errorf("unpack %s: %w", head.Name, err)
		}
		if head.Name == "package/src/models.json" {
			models = text
		} else if err := json.Unmarshal(text, &about); err != nil {
			return nil, fmt.Errorf("package.json: %w", err)
		}
	}
	if about.License != "MIT" {
		return nil, fmt.Errorf("%s %s is under %q, not under MIT any more", about.Name, about.Version, about.License)
	}
	return catalog.Slim(bytes.NewReader(models), catalog.Origin{Package: about.Name, Version: about.Version, Licence: about.License})
}

// keepCatalog writes the table whole or not at all.
func keepCatalog(name string, table *catalog.Table) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("make the cache folder: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".catalog-")
	if err != nil {
		return fmt.Errorf("keep the catalogue: %w", err)
	}
	err = errors.Join(table.Write(f), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("keep the catalogue: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// later reports whether one version, as 18.2.11, comes after another.
func later(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(as), len(bs)) {
		var x, y int
		if i < len(as) {
			x, _ = strconv.Atoi(as[i])
		}
		if i < len(bs) {
			y, _ = strconv.Atoi(bs[i])
		}
		if x != y {
			return x > y
		}
	}
	return false
}

// tables give the catalogue that counts: the one that was fetched, when it is later
// than the one in the program and whole. Its file is looked at once a second at most.
type tables struct {
	file string

	mu     sync.Mutex
	looked time.Time
	mark   string
	newer  *catalog.Table // nil: the built-in counts
}

func (t *tables) table() *catalog.Table {
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Since(t.looked) >= tableLook {
		t.looked = time.Now()
		t.look()
	}
	if t.newer == nil {
		return catalog.BuiltIn()
	}
	return t.newer
}

// look reads the file when it is another than before.
func (t *tables) look() {
	info, err := os.Stat(t.file)
	if err != nil {
		t.mark, t.newer = "", nil
		return
	}
	mark := fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	if mark == t.mark {
		return
	}
	t.mark, t.newer = mark, nil
	f, err := os.Open(t.file)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }() // read only
	if table, err := catalog.ReadTable(f); err == nil && later(table.Version, catalog.BuiltIn().Version) && table.MayReplace(catalog.BuiltIn()) == nil {
		t.newer = table
	}
}
