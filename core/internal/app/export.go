package app

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// ExportOptions say what goes into an export, and where it goes.
type ExportOptions struct {
	Out        string // empty: relo-ID.zip in the folder where the command runs
	NoPictures bool
}

// ExportDoc says what an export holds.
type ExportDoc struct {
	Job      string   `json:"job"`
	File     string   `json:"file"`
	Bytes    int64    `json:"bytes"`
	Holds    []string `json:"holds"`           // names in it
	Pictures int      `json:"pictures"`        // that are in it
	LeftOut  []string `json:"leftOut"`         // in words
	Blind    []string `json:"blind,omitempty"` // keys that could not be fetched, and so not be looked for by value
}

// Export writes one file with everything about a job that helps to find a fault:
// its events, documents, transcripts and the pictures that models were shown, with
// every secret left out. The same job gives the same file, but for what doctor says.
func Export(ctx context.Context, e Env, cfg *config.Config, id string, o ExportOptions) (doc ExportDoc, err error) {
	l, err := Open(ctx, e, cfg, Any)
	if err != nil {
		return doc, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	at, err := l.Resolve(ctx, id)
	if err != nil {
		return doc, err
	}
	shown, err := l.Show(ctx, at.Job)
	if err != nil {
		return doc, err
	}
	there := e
	there.Dir = shown.Repo
	if its, err := Load(there); err == nil { // the project's pictures.never holds too
		cfg = its
	} else { // which pictures may leave is not known then
		o.NoPictures = true
	}
	x := &export{Link: l, redact: newRedactor(ctx, e, cfg), files: map[string][]byte{}, doc: ExportDoc{Job: at.Job, LeftOut: []string{}}}
	if err := x.gather(ctx, e, shown, o); err != nil {
		return doc, err
	}
	x.doc.Blind = x.redact.blind
	x.doc.File = o.Out
	if x.doc.File == "" {
		x.doc.File = "relo-" + at.Job[:min(len(at.Job), 13)] + ".zip"
	}
	if !filepath.IsAbs(x.doc.File) {
		x.doc.File = filepath.Join(e.Dir, x.doc.File)
	}
	x.doc.Holds = slices.Sorted(maps.Keys(x.files))
	data, err := x.pack()
	if err != nil {
		return doc, err
	}
	x.doc.Bytes = int64(len(data))
	return x.doc, writeNew(x.doc.File, data)
}

// writeNew writes a file that was not there.
func writeNew(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // the person named it
	if errors.Is(err, os.ErrExist) {
		return &protocol.Error{Code: protocol.CodeUsage, Message: name + " is there already", Hint: "choose another name with --out"}
	}
	if err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("write the export: %w", err), os.Remove(name))
	}
	return nil
}

// export collects the files of one.
type export struct {
	*Link
	redact *redactor
	files  map[string][]byte
	doc    ExportDoc
}

func (x *export) gather(ctx context.Context, e Env, shown protocol.JobDoc, o ExportOptions) error {
	costs, err := x.Costs(ctx, x.doc.Job, 0)
	if err != nil {
		return err
	}
	var events []byte
	if err := x.eachEvent(ctx, func(ev job.Event) error {
		line, err := json.Marshal(ev)
		events = append(append(events, line...), '\n')
		return err
	}); err != nil {
		return err
	}
	x.files["events.jsonl"] = x.redact.lines(events)
	checks := Doctor(ctx, e, DoctorOptions{})
	for name, v := range map[string]any{"job.json": shown, "costs.json": costs, "versions.json": versions(ctx), "doctor.json": checks} {
		if err := x.put(name, v); err != nil {
			return err
		}
	}
	if err := x.traces(ctx); err != nil {
		return err
	}
	return x.pictures(ctx, o.NoPictures)
}

// put adds a document, indented for people.
func (x *export) put(name string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, x.redact.doc(raw), "", "  "); err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	x.files[name] = append(b.Bytes(), '\n')
	return nil
}

func (x *export) eachEvent(ctx context.Context, f func(job.Event) error) error {
	for after := int64(0); ; {
		page, err := x.Events(ctx, protocol.EventsQuery{Job: x.doc.Job, After: after})
		if err != nil {
			return err
		}
		for _, ev := range page.Events {
			after = ev.Seq
			if err := f(ev); err != nil {
				return err
			}
		}
		if !page.More {
			return nil
		}
	}
}

func versions(ctx context.Context) map[string]string {
	v := map[string]string{"relo": Version, "api": protocol.Version, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH}
	if out, err := exec.CommandContext(ctx, "git", "version").Output(); err == nil {
		v["git"] = strings.TrimSpace(string(out))
	}
	return v
}

// traces adds the transcripts of the attempts that ended with one.
func (x *export) traces(ctx context.Context) error {
	logs, err := x.Logs(ctx, x.doc.Job)
	if err != nil {
		return err
	}
	for _, a := range logs.Attempts {
		if a.Trace == "" {
			continue
		}
		name := fmt.Sprintf("traces/%s-%d-%s.jsonl", plainName(a.Key), a.Number, a.Attempt)
		raw, err := x.Blob(ctx, a.Trace)
		if err != nil {
			x.leave("the transcript of attempt %s: it is no longer kept", a.Attempt)
			continue
		}
		x.files[name] = x.redact.lines(raw)
	}
	return nil
}

func (x *export) leave(format string, args ...any) {
	x.doc.LeftOut = append(x.doc.LeftOut, x.redact.text(fmt.Sprintf(format, args...)))
}

// plainName makes a name of a file out of any text.
func plainName(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, text)
}

// pictures adds the exact bytes that models were shown, each once.
func (x *export) pictures(ctx context.Context, none bool) error {
	looks := map[string]*job.Look{}
	if err := x.eachEvent(ctx, func(ev job.Event) error {
		if look, ok := ev.Body.(*job.Look); ok && look.SHA256 != "" {
			looks[look.SHA256+" "+look.Path] = look
		}
		return nil
	}); err != nil {
		return err
	}
	left := 0
	for _, key := range slices.Sorted(maps.Keys(looks)) {
		look := looks[key]
		if none {
			left++
			continue
		}
		if x.redact.never(look.Path) {
			x.leave("a picture under pictures.never")
			continue
		}
		data, err := x.Blob(ctx, look.SHA256)
		if err != nil {
			x.leave("picture %s: it is no longer kept", look.Path)
			continue
		}
		name := "pictures/" + look.SHA256[:min(len(look.SHA256), 16)] + "-" + plainName(x.redact.text(strings.TrimSuffix(path.Base(look.Path), path.Ext(look.Path)))) + pictureEnd(look.MediaType)
		if x.files[name] == nil {
			x.doc.Pictures++
		}
		x.files[name] = data
	}
	if left > 0 {
		x.leave("%d pictures (--no-pictures)", left)
	}
	return nil
}

func pictureEnd(mediaType string) string {
	switch mediaType {
	case "image/png":
		return ".png"
	case "image/jpeg":
		return ".jpg"
	case "image/gif":
		return ".gif"
	case "image/webp":
		return ".webp"
	}
	return ".bin"
}

// pack makes one archive: the same files give the same bytes.
func (x *export) pack() ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestCompression) })
	for _, name := range slices.Sorted(maps.Keys(x.files)) {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate}) // without a time
		if err == nil {
			_, err = f.Write(x.files[name])
		}
		if err != nil {
			return nil, fmt.Errorf("pack %s: %w", name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("pack the export: %w", err)
	}
	return b.Bytes(), nil
}
