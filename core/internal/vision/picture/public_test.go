package picture

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/vision"
)

// pictureNames are endings of files that public sets call pictures, whether they can be shown or not.
var pictureNames = map[string]bool{
	".png": true, ".apng": true, ".jpg": true, ".jpeg": true, ".gif": true, ".webp": true, ".bmp": true, ".dib": true, ".svg": true,
	".tif": true, ".tiff": true, ".jp2": true, ".psd": true, ".ico": true, ".tga": true, ".heic": true, ".avif": true, ".jxl": true,
}

// tally counts what became of the pictures of a set.
type tally struct {
	pictures, shown, compared int
	refused                   map[Code]int
	slowest                   time.Duration
	slow                      string
	peak                      uint64
}

func (s *tally) String() string {
	return fmt.Sprintf("%d pictures, %d shown, refused %v, %d sizes held against another decoder, slowest %v (%s), most memory %d MiB",
		s.pictures, s.shown, s.refused, s.compared, s.slowest.Round(time.Millisecond), s.slow, s.peak>>20)
}

// most memory that is promised for one picture.
const promised = 400 << 20

// see prepares one picture of a set and holds what is true of every picture.
func (s *tally) see(t *testing.T, name string, data []byte) (vision.Picture, vision.Meta) {
	t.Helper()
	if s.refused == nil {
		s.refused = map[Code]int{}
	}
	s.pictures++
	var pic vision.Picture
	var meta vision.Meta
	var err error
	begin := time.Now()
	peak := watch(func() {
		defer func() {
			if r := recover(); r != nil {
				t.Errorf("%s: panicked: %v", name, r)
			}
		}()
		pic, meta, err = New(Options{}).PrepareBytes(t.Context(), data, path.Base(name), Params{})
	})
	if took := time.Since(begin); took > s.slowest {
		s.slowest, s.slow = took, name
	}
	s.peak = max(s.peak, peak)
	if time.Since(begin) > longest || peak > promised {
		t.Errorf("%s: took %v and %d MiB", name, time.Since(begin), peak>>20)
	}
	theirs, _, theirErr := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		refusal, ok := errors.AsType[*Error](err)
		if !ok || refusal.Code == "" || refusal.Message == "" || len(pic.Bytes) > 0 {
			t.Errorf("%s: refused by %v", name, err)
			return vision.Picture{}, meta
		}
		s.refused[refusal.Code]++
		if _, _, err := decodeAll(data, theirs, theirErr); err == nil && !knownRefusals[path.Base(name)] && refusal.Code != TooComplex && refusal.Code != TooLargePixels {
			t.Errorf("%s: the standard decoder reads it, here it is refused: %v", name, refusal)
		}
		return vision.Picture{}, meta
	}
	s.shown++
	sent, _, err := image.Decode(bytes.NewReader(pic.Bytes))
	if err != nil {
		t.Errorf("%s: what is sent does not decode: %v", name, err)
		return vision.Picture{}, meta
	}
	if size := sent.Bounds().Size(); size != image.Pt(meta.Sent.Width, meta.Sent.Height) || max(size.X, size.Y) > DefaultMaxEdge || len(pic.Bytes) > maxSent {
		t.Errorf("%s: sent %v in %d bytes, told %v", name, size, len(pic.Bytes), meta.Sent)
	}
	if theirErr == nil {
		s.compared++
		s.size(t, name, meta, theirs.Width, theirs.Height)
	}
	return pic, meta
}

// size holds the source's size against what somebody else says.
func (s *tally) size(t *testing.T, name string, meta vision.Meta, w, h int) {
	t.Helper()
	turned := slices.Contains(meta.Notes, "orientation-applied")
	if got := meta.Source; (got.Width != w || got.Height != h) && (!turned || got.Width != h || got.Height != w) {
		t.Errorf("%s: told as %v, another decoder says %d × %d", name, got, w, h)
	}
}

// knownRefusals are files that the standard decoders read and that are refused all the same, for a reason.
var knownRefusals = map[string]bool{
	"video-001.progressive.truncated.jpeg": true, // cut off and closed: half a picture
	"issue_ghsa_5p8g_9xf3_gfrr_poc.webp":   true, // of exiv2: says that it is an animation, and its frame is cut off
}

// decodeAll decodes with the standard decoders, when the size allows it.
func decodeAll(data []byte, c image.Config, err error) (image.Image, string, error) {
	if err != nil {
		return nil, "", err
	}
	if int64(c.Width)*int64(c.Height) > maxPixels {
		return nil, "", errors.New("too large")
	}
	return image.Decode(bytes.NewReader(data))
}

// TestPublicPicturesOfModules reads every picture that lies in Go's sources and in the modules of this build.
func TestPublicPicturesOfModules(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{if not .Main}}{{.Dir}}{{end}}", "all").Output()
	must(t, err)
	dirs := append([]string{goDir(t)}, strings.Fields(string(out))...)
	var all tally
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == ".git":
				return fs.SkipDir
			case d.Type().IsRegular() && pictureNames[strings.ToLower(path.Ext(name))]:
				all.see(t, name, mustRead(t, name))
			}
			return nil
		})
		must(t, err)
	}
	if t.Log(&all); all.pictures < 150 || all.shown < 130 {
		t.Errorf("only %v", &all)
	}
}

// debianSource is a source of Debian 12 whose tests hold pictures.
type debianSource struct {
	file, sha256 string
}

// debianSources lie below pool/main of any Debian mirror; the hashes are those of Debian's signed lists of sources.
var debianSources = []debianSource{
	{file: "e/exiv2/exiv2_0.27.6.orig.tar.gz", sha256: "f16ee5ff08b6994c66106109417857f13e711fca100ac43c6a403d4f02b59602"},
	{file: "g/giflib/giflib_5.2.1.orig.tar.gz", sha256: "31da5562f44c5f15d63340a09a4fd62b48c45620cd302f77a6d9acf0077879bd"},
	{file: "libj/libjpeg-turbo/libjpeg-turbo_2.1.5.orig.tar.gz", sha256: "254f3642b04e309fee775123133c6464181addc150499561020312ec61c1bf7c"},
	{file: "libp/libpng1.6/libpng1.6_1.6.39.orig.tar.gz", sha256: "a00e9d2f2f664186e4202db9299397f851aea71b36a35e74910b8820e380d441"},
	{file: "libw/libwebp/libwebp_1.2.4.orig.tar.gz", sha256: "7bf5a8a28cc69bcfa8cb214f2c3095703c6b73ac5fba4d5480c205331d9494df"},
	{file: "p/pillow/pillow_9.4.0.orig.tar.xz", sha256: "0a58ccfbd002838b32e21773bfdaa954a2de08d1f04b87b63d14e751fec3264d"},
}

// mirrors are asked in turn; what they answer is held against the hash.
var mirrors = []string{"http://deb.debian.org/debian/pool/main/", "http://snapshot.debian.org/archive/debian/20250520T000000Z/pool/main/"}

// fetch gives a source's archive, from the person's cache or from a mirror.
func (d debianSource) fetch(t *testing.T) []byte {
	t.Helper()
	cache, err := os.UserCacheDir()
	must(t, err)
	kept := filepath.Join(cache, "relo", "soak", path.Base(d.file))
	if data, err := os.ReadFile(kept); err == nil && sum(data) == d.sha256 {
		return data
	}
	for _, mirror := range mirrors {
		data, err := download(t.Context(), mirror+d.file)
		if err == nil && sum(data) == d.sha256 {
			write(t, kept, data)
			return data
		}
		t.Logf("%s%s: %v, SHA-256 %s", mirror, d.file, err, sum(data))
	}
	t.Fatalf("%s is on no mirror", d.file)
	return nil
}

func download(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, 200<<20))
	if err = errors.Join(err, res.Body.Close()); err == nil && res.StatusCode != http.StatusOK {
		err = errors.New(res.Status)
	}
	return data, err
}

// unpacked is the archive without its compression; xz is the program of that name.
func (d debianSource) unpacked(t *testing.T) io.Reader {
	t.Helper()
	data := d.fetch(t)
	if strings.HasSuffix(d.file, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(data))
		must(t, err)
		return z
	}
	cmd := exec.CommandContext(t.Context(), "xz", "-dc")
	cmd.Stdin = bytes.NewReader(data)
	out, err := cmd.Output()
	must(t, err)
	return bytes.NewReader(out)
}

// TestSoakPublicSets prepares every picture of the tests of libpng, Pillow, giflib, exiv2, libjpeg-turbo and libwebp.
func TestSoakPublicSets(t *testing.T) {
	if os.Getenv("RELO_SOAK") == "" {
		t.Skip("not run: a thousand pictures of other projects' tests; make soak fetches and reads them")
	}
	magick, err := exec.LookPath("convert")
	if err != nil {
		t.Log("not held against ImageMagick, which is not installed: sizes that Go's decoders do not tell, and colours of CMYK")
	}
	var all tally
	inks, asked := 0, 0
	for _, d := range debianSources {
		var own tally
		for archive := tar.NewReader(d.unpacked(t)); ; {
			head, err := archive.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			must(t, err)
			if head.Typeflag != tar.TypeReg || !pictureNames[strings.ToLower(path.Ext(head.Name))] {
				continue
			}
			data, err := io.ReadAll(archive)
			must(t, err)
			pic, meta := own.see(t, head.Name, data)
			if len(pic.Bytes) == 0 || magick == "" {
				continue
			}
			file := filepath.Join(t.TempDir(), "a"+path.Ext(head.Name))
			must(t, os.WriteFile(file, data, 0o600))
			if w, h, ok := identified(t, file); ok {
				asked++
				own.size(t, head.Name, meta, w, h)
			}
			if slices.Contains(meta.Notes, "cmyk-converted") {
				inks++
				sameColours(t, head.Name, file, pic)
			}
		}
		t.Logf("%s: %v", path.Base(d.file), &own)
		all.add(own)
	}
	if magick != "" {
		inks += madeInks(t)
	}
	t.Logf("in all: %v; %d sizes held against ImageMagick, %d files of four inks", &all, asked, inks)
	if all.pictures < 1000 || magick != "" && inks == 0 {
		t.Errorf("only %v", &all)
	}
}

func (s *tally) add(o tally) {
	s.pictures, s.shown, s.compared, s.peak = s.pictures+o.pictures, s.shown+o.shown, s.compared+o.compared, max(s.peak, o.peak)
	if o.slowest > s.slowest {
		s.slowest, s.slow = o.slowest, o.slow
	}
	if s.refused == nil {
		s.refused = map[Code]int{}
	}
	for _, c := range slices.Collect(maps.Keys(o.refused)) {
		s.refused[c] += o.refused[c]
	}
}

// identified asks ImageMagick for the size of the canvas.
func identified(t *testing.T, file string) (w, h int, ok bool) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "identify", "-ping", "-format", "%w %h %W %H %m\n", file+"[0]").Output()
	if err != nil {
		return 0, 0, false
	}
	var pageW, pageH int
	var kind string
	if n, err := fmt.Sscan(string(out), &w, &h, &pageW, &pageH, &kind); n < 5 || err != nil {
		return 0, 0, false
	}
	if kind == "GIF" || kind == "WEBP" { // of an animation it tells the frame; the page is the screen
		w, h = pageW, pageH
	}
	return w, h, w > 0
}

// sameColours holds the means of a grid of cells against ImageMagick's conversion without profiles: cells, because
// decoders smooth subsampled colours differently at edges.
func sameColours(t *testing.T, name, file string, pic vision.Picture) {
	t.Helper()
	const within = 8
	out, err := exec.CommandContext(t.Context(), "convert", file+"[0]", "+profile", "*", "-auto-orient", "-colorspace", "sRGB", "-depth", "8", "png:-").Output()
	must(t, err)
	want, _, err := image.Decode(bytes.NewReader(out))
	must(t, err)
	got, _, err := image.Decode(bytes.NewReader(pic.Bytes))
	must(t, err)
	a, b := cells(got), cells(want)
	worst := 0.0
	for i := range a {
		worst = max(worst, max(a[i]-b[i], b[i]-a[i]))
	}
	if t.Logf("%s: colours differ by at most %.1f of 255 from ImageMagick's", name, worst); worst > within {
		t.Errorf("%s: colours differ by %.1f levels", name, worst)
	}
}

// madeInks has ImageMagick write pictures in four inks, which public sets hardly hold.
func madeInks(t *testing.T) (n int) {
	t.Helper()
	for _, args := range [][]string{
		{"-quality", "90"}, {"-quality", "60", "-interlace", "JPEG"}, {"-quality", "85", "-sampling-factor", "2x2,1x1,1x1,2x2"}, {"-quality", "95", "-resize", "1900x1400!"}, {"-quality", "80", "-negate"},
	} {
		file := filepath.Join(t.TempDir(), "a.jpg")
		line := slices.Concat([]string{filepath.Join(goDir(t), "testdata", "video-001.png")}, args, []string{"-colorspace", "CMYK", file})
		out, err := exec.CommandContext(t.Context(), "convert", line...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v, %s", err, out)
		}
		pic, meta, err := New(Options{}).PrepareBytes(t.Context(), mustRead(t, file), "a.jpg", Params{})
		if err != nil || !slices.Contains(meta.Notes, "cmyk-converted") {
			t.Errorf("made with %v: %v, %+v", args, err, meta)
			continue
		}
		n++
		sameColours(t, fmt.Sprint(args), file, pic)
	}
	return n
}

// cells are the mean red, green and blue of 16 × 16 parts of a picture.
func cells(m image.Image) (means [16 * 16 * 3]float64) {
	b := m.Bounds()
	var count [16 * 16]float64
	for y := range b.Dy() {
		for x := range b.Dx() {
			at := y*16/b.Dy()*16 + x*16/b.Dx()
			r, g, bl, _ := m.At(b.Min.X+x, b.Min.Y+y).RGBA()
			means[3*at] += float64(r) / 257
			means[3*at+1] += float64(g) / 257
			means[3*at+2] += float64(bl) / 257
			count[at]++
		}
	}
	for i := range means {
		means[i] /= max(1, count[i/3])
	}
	return means
}
