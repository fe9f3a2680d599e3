package picture

import (
	"bytes"
	"errors"
	"image"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/vision"
)

// pictureCase is one of the cases that pictures are made ready right on. Files are
// its variants; run does what takes more than bytes.
type pictureCase struct {
	name  string
	files func(t *testing.T) []pictureFile
	run   func(t *testing.T)
}

// pictureFile is one file and what must become of it.
type pictureFile struct {
	why    string
	data   []byte
	name   string // of the file; empty: a.bin
	params Params
	opts   Options

	code Code     // it is refused with this; empty: it is shown
	says []string // words of the refusal

	format string
	source vision.Size
	sent   vision.Size
	notes  []string    // just these
	want   image.Image // what is sent is this, within so many levels
	within int
	same   []byte // what is sent, byte for byte
}

// shows is a file of w × h that is sent in that size.
func shows(why string, data []byte, format string, w, h int, notes ...string) pictureFile {
	size := vision.Size{Width: w, Height: h}
	return pictureFile{why: why, data: data, format: format, source: size, sent: size, notes: notes}
}

func refuses(why string, data []byte, code Code, says ...string) pictureFile {
	return pictureFile{why: why, data: data, code: code, says: says}
}

func (f pictureFile) like(want image.Image, within int) pictureFile {
	f.want, f.within = want, within
	return f
}

// asIs is sent byte for byte.
func (f pictureFile) asIs() pictureFile             { f.same = f.data; return f }
func (f pictureFile) as(same []byte) pictureFile    { f.same = same; return f }
func (f pictureFile) with(p Params) pictureFile     { f.params = p; return f }
func (f pictureFile) under(o Options) pictureFile   { f.opts = o; return f }
func (f pictureFile) named(name string) pictureFile { f.name = name; return f }
func (f pictureFile) sends(w, h int) pictureFile    { f.sent = vision.Size{Width: w, Height: h}; return f }

func (f pictureFile) region(x, y, w, h int) pictureFile {
	f.params.Region = &vision.Region{X: x, Y: y, Width: w, Height: h}
	return f
}

// longest that one picture may take, in any case.
const longest = 10 * time.Second

// check prepares the file and holds the answer against what must become of it.
func (f pictureFile) check(t *testing.T) {
	t.Helper()
	if f.name == "" {
		f.name = "a.bin"
	}
	begin := time.Now()
	pic, meta, err := New(f.opts).PrepareBytes(t.Context(), f.data, f.name, f.params)
	if took := time.Since(begin); took > longest {
		t.Errorf("%s: took %v", f.why, took)
	}
	f.judge(t, pic, meta, err)
}

func (f pictureFile) judge(t *testing.T, pic vision.Picture, meta vision.Meta, err error) {
	t.Helper()
	if f.code != "" {
		f.judgeRefusal(t, pic, err)
		return
	}
	if err != nil {
		t.Errorf("%s: refused: %v", f.why, err)
		return
	}
	img, format, err := image.Decode(bytes.NewReader(pic.Bytes))
	if err != nil {
		t.Errorf("%s: what is sent does not decode: %v", f.why, err)
		return
	}
	b := img.Bounds()
	if size := (vision.Size{Width: b.Dx(), Height: b.Dy()}); size != meta.Sent || size.Width != pic.Width || size.Height != pic.Height || size != f.sent {
		t.Errorf("%s: sent %v, told %v, want %v", f.why, size, meta.Sent, f.sent)
	}
	if meta.Format != f.format || meta.Source != f.source || meta.Path != f.name {
		t.Errorf("%s: %s of %v called %q, want %s of %v", f.why, meta.Format, meta.Source, meta.Path, f.format, f.source)
	}
	if pic.MediaType != "image/"+format || meta.MediaType != pic.MediaType || meta.Bytes != len(pic.Bytes) || meta.SHA256 != pic.SHA256 || meta.Bytes > maxSent {
		t.Errorf("%s: sent %s of %d bytes, told %+v", f.why, format, len(pic.Bytes), meta)
	}
	notes, want := slices.Sorted(slices.Values(meta.Notes)), slices.Sorted(slices.Values(f.notes))
	if !slices.Equal(notes, want) {
		t.Errorf("%s: notes %v, want %v", f.why, notes, want)
	}
	if f.want != nil && !alike(img, f.want, f.within) {
		t.Errorf("%s: other pixels than wanted", f.why)
	}
	if f.same != nil && !bytes.Equal(pic.Bytes, f.same) {
		t.Errorf("%s: sent %d bytes, not the %d wanted", f.why, len(pic.Bytes), len(f.same))
	}
}

func (f pictureFile) judgeRefusal(t *testing.T, pic vision.Picture, err error) {
	t.Helper()
	refusal, ok := errors.AsType[*Error](err)
	if !ok || refusal.Code != f.code {
		t.Errorf("%s: %v, want %s", f.why, err, f.code)
		return
	}
	for _, words := range f.says {
		if !strings.Contains(refusal.Message, words) {
			t.Errorf("%s: %q does not say %q", f.why, refusal.Message, words)
		}
	}
	if len(pic.Bytes) > 0 || refusal.Message == "" {
		t.Errorf("%s: a refusal without words, or with pixels: %v", f.why, err)
	}
	if strings.Contains(refusal.Message, os.TempDir()) || strings.ContainsFunc(refusal.Message, func(r rune) bool { return r < ' ' || r == 0x202e }) {
		t.Errorf("%s: the words hold a folder or a character that controls: %q", f.why, refusal.Message)
	}
}

// alike tells whether two pictures of one size differ by at most so many levels a
// channel, where colours count as much as they cover.
func alike(a, b image.Image, within int) bool {
	if a.Bounds().Size() != b.Bounds().Size() {
		return false
	}
	p, q := a.Bounds().Min, b.Bounds().Min
	most := uint32(within)*257 + 128
	far := func(x, y uint32) bool { return max(x, y)-min(x, y) > most }
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			r, g, b1, a1 := a.At(p.X+x, p.Y+y).RGBA()
			r2, g2, b2, a2 := b.At(q.X+x, q.Y+y).RGBA()
			if far(r, r2) || far(g, g2) || far(b1, b2) || far(a1, a2) {
				return false
			}
		}
	}
	return true
}

// rows are the numbers of the cases; those that are missing in between were
// taken out of the list.
var rows = strings.Fields(`P01 P02 P03 P04 P05 P06 P07 P08 P09 P10 P11 P12 P13 P14 P15 P16 P17 P19 P20 P22 P23
	P24 P25 P26 P27 P28 P29 P30 P31 P32 P33 P34 P36 P37 P38 P39
	P41 P42 P45 P46 P47 P48 P49 P50 P52 P53 P54 P55 P58 P59 P60 P61 P62 P63 P64 P66 P67 P68 P69
	P70 P71 P72 P73 P74 P75 P76 P77 P78 P79 P80 P81 P82 P83 P85 P86 P87 P88 P89
	P90 P91 P92 P93 P94 P96 P97 P99 P100 P101 P102 P103 P104 P105 P106`)

func TestCases(t *testing.T) {
	all := slices.Concat(pngCases(), pngDamage(), pngBombs(), jpegCases(), jpegHeaders(), jpegDamage(), gifCases(), webpCases(), bmpCases(),
		sizeCases(), kindCases(), nameCases(), fileCases(), regionCases(), requestCases())
	var names []string
	files := 0
	for _, c := range all {
		number, _, _ := strings.Cut(c.name, " ")
		names = append(names, number)
		t.Run(c.name, func(t *testing.T) {
			if c.run != nil {
				c.run(t)
			}
			if c.files == nil {
				return
			}
			for _, f := range c.files(t) {
				files++
				f.check(t)
			}
		})
	}
	if diff := cmp.Diff(rows, names); diff != "" {
		t.Errorf("the cases are not those of the list: %s", diff)
	}
	if t.Logf("%d cases, %d files in memory", len(all), files); files < 400 && !t.Failed() && !filtered() {
		t.Errorf("only %d files", files)
	}
}

// filtered tells whether only some of the cases were asked for.
func filtered() bool {
	return slices.ContainsFunc(os.Args, func(a string) bool { return strings.HasPrefix(a, "-test.run=") && strings.Contains(a, "/") })
}

// folders that were asked for once: each question starts a program.
var folders sync.Map

func onceFolder(t *testing.T, name string, ask func(testing.TB) string) string {
	t.Helper()
	if dir, ok := folders.Load(name); ok {
		return dir.(string) //nolint:forcetypeassert // only strings are stored
	}
	dir := ask(t)
	folders.Store(name, dir)
	return dir
}

func goDir(t *testing.T) string { t.Helper(); return onceFolder(t, "go", goImages) }
func xDir(t *testing.T) string  { t.Helper(); return onceFolder(t, "x", xImages) }
