package almanac

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/discovery"
)

// format is of the files: one of another number is as if it were not there.
const format = 1

type reportFile struct {
	Format int              `json:"format"`
	Report discovery.Report `json:"report"`
}

type probesFile struct {
	Format int             `json:"format"`
	Probes []catalog.Probe `json:"probes"`
}

// mark tells whether a file is the one that was read. The zero mark: there is none.
type mark struct {
	size, mtime int64
	inode       uint64
}

func markOf(name string) mark {
	info, err := os.Stat(name)
	if err != nil {
		return mark{}
	}
	m := mark{size: info.Size(), mtime: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		m.inode = st.Ino
	}
	return m
}

// ending of the files of lists.
const ending = ".json"

// reportPath is the file of one endpoint: its hash, since an address is no file's name.
func (a *Almanac) reportPath(at catalog.Endpoint) string {
	sum := sha256.Sum256([]byte(at))
	return filepath.Join(a.reports, hex.EncodeToString(sum[:16])+ending)
}

// read makes the page of now. A list whose file is the one of the last page is taken from there.
func (a *Almanac) read(now marks, last *Page) *Page {
	p := &Page{marks: now, reports: map[catalog.Endpoint]*report{}, probes: map[spot]*catalog.Probe{}}
	known := map[mark]*report{}
	if last != nil {
		for _, r := range last.reports {
			known[r.mark] = r
		}
	}
	for _, f := range a.reportFiles() {
		r := known[f.mark]
		if r == nil {
			r = readReport(f.name)
		}
		if r != nil && a.reportPath(r.said.Endpoint) == f.name {
			p.reports[r.said.Endpoint] = r
		}
	}
	if last != nil && last.marks.probing == now.probing && last.marks.probes == now.probes {
		p.probes = last.probes
		return p
	}
	for _, x := range readProbes(a.probes) {
		p.probes[spot{x.Endpoint, x.ID}] = &x
	}
	return p
}

// namedMark is a file and its mark.
type namedMark struct {
	name string
	mark mark
}

// reportFiles lists the files of lists, newest first, as many as are kept.
func (a *Almanac) reportFiles() []namedMark {
	entries, err := os.ReadDir(a.reports)
	if err != nil {
		return nil
	}
	var files []namedMark
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ending) {
			continue
		}
		name := filepath.Join(a.reports, e.Name())
		if m := markOf(name); m != (mark{}) {
			files = append(files, namedMark{name, m})
		}
	}
	slices.SortFunc(files, func(x, y namedMark) int {
		return cmp.Or(cmp.Compare(y.mark.mtime, x.mark.mtime), strings.Compare(x.name, y.name))
	})
	return files[:min(len(files), reportsKept)]
}

// thin deletes the lists that are older than those that are kept, and what writers
// that were killed left.
func (a *Almanac) thin() error {
	kept := map[string]bool{}
	for _, f := range a.reportFiles() {
		kept[f.name] = true
	}
	entries, err := os.ReadDir(a.reports)
	if err != nil {
		return fmt.Errorf("read the folder of lists: %w", err)
	}
	var errs []error
	for _, e := range entries {
		name := filepath.Join(a.reports, e.Name())
		if strings.HasSuffix(name, ending) && !kept[name] || strings.HasPrefix(e.Name(), unfinished) {
			errs = append(errs, os.Remove(name))
		}
	}
	return errors.Join(errs...)
}

// readReport reads one list; nil when it cannot be trusted to be whole.
func readReport(name string) *report {
	var f reportFile
	m := markOf(name)
	text := readBounded(name, maxReport)
	if decode(text, &f) != nil || f.Format != format || f.Report.Endpoint == "" || len(f.Report.Models) > reportModels {
		return nil
	}
	r := &report{mark: m, said: f.Report, byID: make(map[string]*provider.Listed, len(f.Report.Models))}
	for i := range r.said.Models {
		l := &r.said.Models[i]
		if _, twice := r.byID[l.ID]; !twice && l.ID != "" {
			r.byID[l.ID] = l
		}
	}
	return r
}

// readProbes reads the probes; none when the file is not whole.
func readProbes(name string) []catalog.Probe {
	var f probesFile
	if decode(readBounded(name, maxProbes), &f) != nil || f.Format != format || len(f.Probes) > probesKept {
		return nil
	}
	return slices.DeleteFunc(f.Probes, func(p catalog.Probe) bool { return p.Endpoint == "" || p.ID == "" })
}

// readBounded reads a file that is not larger than most; else nil.
func readBounded(name string, most int64) []byte {
	f, err := os.Open(name) //nolint:gosec // Relo's own folders
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // opened to read only
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil
	}
	return text
}

func decode(text []byte, into any) error {
	if len(text) == 0 {
		return io.ErrUnexpectedEOF
	}
	return json.Unmarshal(text, into)
}

func encode(v any, most int) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode it: %w", err)
	}
	if len(text) > most {
		return nil, fmt.Errorf("it has %d bytes, more than %d", len(text), most)
	}
	return append(text, '\n'), nil
}

// unfinished begins the names of files that are being written.
const unfinished = "new-"

// replace writes a file whole or not at all, readable by its owner alone.
func replace(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), unfinished+"*")
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(name), err)
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		now := time.Now() // to the nanosecond: the kernel's own stamp ticks in milliseconds
		err = os.Chtimes(f.Name(), now, now)
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", filepath.Base(name), err), os.Remove(f.Name()))
	}
	return nil
}
