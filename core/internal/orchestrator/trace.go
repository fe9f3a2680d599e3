package orchestrator

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/provider"
)

const (
	traceFile = "trace.jsonl"
	shownDir  = "shown" // pictures of the trace by their SHA-256
	// traceLine bounds one entry: a tool's result has a limit far below it.
	traceLine = 64 << 20
)

// trace is an attempt's conversation on the worker's disk: an entry is there
// before what it speaks of is acted on, so that whatever ends the process, the
// next attempt knows what was done.
type trace struct {
	root string
	past []engine.Entry // what was there when it was opened

	mu   sync.Mutex
	file *os.File
}

// newTrace opens the trace of an attempt's folder, behind what is past in it.
func newTrace(root string, past []engine.Entry) (*trace, error) {
	if err := os.MkdirAll(filepath.Join(root, shownDir), 0o700); err != nil {
		return nil, fmt.Errorf("open the trace: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(root, traceFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // Relo's own state folder
	if err != nil {
		return nil, fmt.Errorf("open the trace: %w", err)
	}
	return &trace{root: root, past: past, file: f}, nil
}

// keep writes an entry, on the disk before it returns, with its pictures first.
func (t *trace) keep(e engine.Entry) error {
	for _, p := range picturesOf(&e) {
		if err := t.keepPicture(*p); err != nil {
			return err
		}
	}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode an entry: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err = t.file.Write(append(line, '\n'))
	return errors.Join(err, t.file.Sync())
}

func (t *trace) keepPicture(p provider.Picture) error {
	name := filepath.Join(t.root, shownDir, p.SHA256)
	if _, err := os.Stat(name); err == nil || len(p.Bytes) == 0 {
		return nil
	}
	return os.WriteFile(name, p.Bytes, 0o600)
}

// state writes what the keeper of the trace has to know again.
func (t *trace) state(values map[string]string) error {
	return t.keep(engine.Entry{Kind: engine.KindState, Time: time.Now().UTC(), State: values})
}

// bytes is the whole trace as it is now.
func (t *trace) bytes() ([]byte, error) { return os.ReadFile(filepath.Join(t.root, traceFile)) }

func (t *trace) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.file.Close()
}

// readTrace reads entries; a last line that a crash cut off is left out, and is
// cut off the file of root when that is given.
func readTrace(data []byte) (entries []engine.Entry, whole int, err error) {
	in := bufio.NewScanner(bytes.NewReader(data))
	in.Buffer(nil, traceLine)
	for in.Scan() {
		line := in.Bytes()
		if whole+len(line) == len(data) { // no end of line: it was being written
			break
		}
		var e engine.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, 0, fmt.Errorf("entry %d of the trace is damaged: %w", len(entries)+1, err)
		}
		entries = append(entries, e)
		whole += len(line) + 1
	}
	return entries, whole, in.Err()
}

// readTraceFile reads the trace of a folder and cuts off what a crash left of an
// entry. No file: no entries.
func readTraceFile(root string) ([]engine.Entry, error) {
	name := filepath.Join(root, traceFile)
	data, err := os.ReadFile(name) //nolint:gosec // Relo's own state folder
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the trace: %w", err)
	}
	entries, whole, err := readTrace(data)
	if err == nil && whole < len(data) {
		err = os.Truncate(name, int64(whole))
	}
	return entries, err
}

// picturesOf points at the pictures of an entry.
func picturesOf(e *engine.Entry) []*provider.Picture {
	var out []*provider.Picture
	if e.Message != nil {
		for i := range e.Message.Parts {
			p := &e.Message.Parts[i]
			if p.Picture != nil {
				out = append(out, p.Picture)
			}
			if p.Result != nil {
				for j := range p.Result.Pictures {
					out = append(out, &p.Result.Pictures[j])
				}
			}
		}
	}
	if e.Result != nil {
		for j := range e.Result.Pictures {
			out = append(out, &e.Result.Pictures[j])
		}
	}
	return out
}
