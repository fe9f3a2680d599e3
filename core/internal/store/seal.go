package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// SQLite keeps checksums of its log (record.db-wal), and none of the file
// itself. Two small files beside it stand in:
//
//   - record.seal holds a checksum of every page as Close left it, so that what
//     changed while Relo did not run is seen at Open. It is taken away before the
//     first commit, so that one which is there is of the file which is there.
//   - record.mark counts the commits that were confirmed. SQLite drops the end of
//     a damaged or cut log without a word, which is right for what was never
//     confirmed; the mark tells that apart from what was. It is written after
//     each fsync of the log and not synced itself: behind the truth it says nothing,
//     ahead of the record it proves a loss.

const (
	sealName = "record.seal"
	markName = "record.mark"
	// sealPage is the piece of the file that has one checksum: SQLite's own page.
	sealPage = 4096
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal is what record.seal holds.
type seal struct {
	Pages []uint32 `json:"pages"`
	Size  int64    `json:"size"`
	Sum   uint32   `json:"sum"` // of pages and size: a damaged seal is no seal
}

func (l *seal) digest() uint32 {
	sum := crc32.New(castagnoli)
	_, _ = fmt.Fprint(sum, l.Size, l.Pages) // a checksum never fails
	return sum.Sum32()
}

// sumPages gives the checksums of a file's pages.
func sumPages(file string) (*seal, error) {
	f, err := os.Open(file) //nolint:gosec // Relo's own state folder
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	l := &seal{}
	buf := make([]byte, 256*sealPage)
	for {
		n, err := io.ReadFull(f, buf)
		for at := 0; at < n; at += sealPage {
			l.Pages = append(l.Pages, crc32.Checksum(buf[at:min(at+sealPage, n)], castagnoli))
		}
		l.Size += int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			l.Sum = l.digest()
			return l, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// sealed compares the file with its seal. ok is false when there is no seal to
// go by: after a crash, or when SQLite's log is there. Pages count from 1.
func sealed(file string) (changed []int64, ok bool, err error) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(file), sealName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	var want seal
	if json.Unmarshal(text, &want) != nil || want.Sum != want.digest() {
		return nil, false, nil
	}
	if log, err := os.Stat(file + "-wal"); err == nil && log.Size() > 0 {
		return nil, false, nil
	}
	have, err := sumPages(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil // the mark says what is gone
	}
	if err != nil {
		return nil, false, err
	}
	for i := range max(len(want.Pages), len(have.Pages)) {
		if i >= len(want.Pages) || i >= len(have.Pages) || want.Pages[i] != have.Pages[i] {
			changed = append(changed, int64(i+1))
		}
	}
	return changed, true, nil
}

// sealFile writes the seal of a closed file.
func sealFile(file string) error {
	l, err := sumPages(file)
	if err != nil {
		return err
	}
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return writeWhole(filepath.Join(filepath.Dir(file), sealName), text)
}

// unseal takes the seal away, for good also when the power fails.
func unseal(file string) error {
	err := os.Remove(filepath.Join(filepath.Dir(file), sealName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, syncDir(filepath.Dir(file)))
}

// writeWhole writes a file that is there whole, or not at all.
func writeWhole(name string, data []byte) error {
	f, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // Relo's own state folder
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	return errors.Join(err, syncDir(filepath.Dir(name)))
}

// openMark opens the mark and gives the number in it; 0 when it cannot be read.
func openMark(dir string) (f *os.File, commits int64, err error) {
	f, err = os.OpenFile(filepath.Join(dir, markName), os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // Relo's own state folder
	if err != nil {
		return nil, 0, err
	}
	var sum uint32
	line := make([]byte, len(markLine(0)))
	if _, err := f.ReadAt(line, 0); err == nil {
		if _, err := fmt.Sscanf(string(line), "%d %x\n", &commits, &sum); err != nil || string(line) != markLine(commits) {
			commits = 0
		}
	}
	return f, commits, nil
}

// markLine is always of the same length: it is written over in place.
func markLine(commits int64) string {
	number := fmt.Sprintf("%019d", commits)
	return fmt.Sprintf("%s %08x\n", number, crc32.Checksum([]byte(number), castagnoli))
}

func (s *Store) writeMark(commits int64) error {
	_, err := s.mark.WriteAt([]byte(markLine(commits)), 0)
	return err
}

// keepLog copies what is left of a damaged log aside before SQLite writes over it.
func keepLog(ctx context.Context, file, stamp string) (name string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	data, err := os.ReadFile(file + "-wal") //nolint:gosec // Relo's own state folder
	if errors.Is(err, fs.ErrNotExist) || (err == nil && len(data) == 0) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	name = file + "-wal.damaged-" + stamp
	return name, writeWhole(name, data)
}
