package packing

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// file draws noise of a size, as a file of a kind.
func file(t testing.TB, kind string, w, h int) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	rnd := rand.New(rand.NewPCG(7, uint64(w*h)))
	for i := range m.Pix {
		m.Pix[i] = byte(rnd.UintN(256)) | byte(i%4/3*255)
	}
	var b bytes.Buffer
	var err error
	switch kind {
	case pngType:
		err = png.Encode(&b, m)
	case jpegType:
		err = jpeg.Encode(&b, m, nil)
	default:
		err = gif.Encode(&b, m, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func dataURL(kind string, data []byte) string {
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)
}

// wrapped breaks a text into lines of n.
func wrapped(s string, n int, with string) string {
	var out strings.Builder
	for i := 0; i < len(s); i += n {
		if i > 0 {
			out.WriteString(with)
		}
		out.WriteString(s[i:min(len(s), i+n)])
	}
	return out.String()
}

func TestLift(t *testing.T) {
	shot, photo, moving := file(t, pngType, 40, 30), file(t, jpegType, 50, 40), file(t, gifType, 30, 20)
	code := base64.StdEncoding.EncodeToString(shot)
	line := fmt.Sprintf("[picture 1 of this result: image/png, %d bytes]", len(shot))
	escaped, err := json.Marshal(map[string]string{"shot": "data:image/png;base64," + wrapped(code, 76, "\n")})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		why, text, want string
		found           []string // kinds, "bad" for what cannot be read
	}{
		{"no data URL", "plain: words, and metadata:image/png;base64,AAAA", "plain: words, and metadata:image/png;base64,AAAA", nil},
		{"alone", dataURL(pngType, shot), line, []string{pngType}},
		{"in prose", "before " + dataURL(pngType, shot) + " after it", "before " + line + " after it", []string{pngType}},
		{"in markdown", "![x](" + dataURL(pngType, shot) + ")", "![x](" + line + ")", []string{pngType}},
		{"in HTML", `<img src="` + dataURL(pngType, shot) + `">`, `<img src="` + line + `">`, []string{pngType}},
		{"upper case", "DATA:IMAGE/PNG;BASE64," + code, line, []string{pngType}},
		{"with parameters", "data:image/png;charset=utf-8;name=a.png;base64," + code, line, []string{pngType}},
		{"without padding", "data:image/png;base64," + strings.TrimRight(code, "=") + " end", line + " end", []string{pngType}},
		{"in lines", "data:image/png;base64," + wrapped(code, 76, "\n") + "\nDone", line + "\nDone", []string{pngType}},
		{"in lines with words behind", "data:image/png;base64," + strings.TrimRight(wrapped(code, 60, "\r\n"), "=") + "\nthe end of it", "", []string{pngType}},
		{"with a space before it", "data:image/png;base64, " + code, line, []string{pngType}},
		{"broken by spaces", "data:image/png;base64," + wrapped(code, 33, " "), line, []string{pngType}},
		{"URL-encoded", "data:image/png;base64," + url.QueryEscape(code), line, []string{pngType}},
		{"URL-encoded whole", "data:image%2Fpng%3Bbase64," + url.QueryEscape(code), line, []string{pngType}},
		{"with the URL's alphabet", "data:image/png;base64," + base64.URLEncoding.EncodeToString(shot), line, []string{pngType}},
		{"plus signs lost", "data:image/png;base64," + strings.ReplaceAll(code, "+", " "), line, []string{pngType}},
		{"escaped in JSON", string(escaped), `{"shot":"` + line + `"}`, []string{pngType}},
		{"slashes escaped", `"data:image\/png;base64,` + strings.ReplaceAll(code, "/", `\/`) + `"`, `"` + line + `"`, []string{pngType}},
		{"another kind than it says", dataURL("image/jpeg", shot), line, []string{pngType}},
		{
			"several", "a " + dataURL(pngType, shot) + " b " + dataURL(jpegType, photo) + " c " + dataURL(gifType, moving) + ".",
			fmt.Sprintf("a %s b [picture 2 of this result: image/jpeg, %d bytes] c [picture 3 of this result: image/gif, %d bytes].", line, len(photo), len(moving)),
			[]string{pngType, jpegType, gifType},
		},
		{
			"cut off", "see " + dataURL(pngType, shot[:len(shot)/2]) + " end",
			fmt.Sprintf("see [an inline picture that cannot be read stood here: image/png, %d bytes; ask for a file and look at that] end", len(shot)/2),
			[]string{"bad"},
		},
		{"an SVG", dataURL("image/svg+xml", []byte("<svg xmlns='http://www.w3.org/2000/svg'/>")), "", []string{"bad"}},
		{"an SVG in words", "data:image/svg+xml,%3Csvg/%3E", "data:image/svg+xml,%3Csvg/%3E", nil},
		{"no base64 at all", "data:image/png;base64,!!!", "[an inline picture that cannot be read stood here: image/png, 0 bytes; ask for a file and look at that]!!!", []string{"bad"}},
		{"a long PDF", "a " + dataURL("application/pdf", make([]byte, 3001)) + " b", "a [3001 bytes of application/pdf that stood here are left out] b", nil},
		{"a short font", "data:font/woff2;base64,AAAA", "data:font/woff2;base64,AAAA", nil},
		{"the end of the text", "data:image/png;base64,", "[an inline picture that cannot be read stood here: image/png, 0 bytes; ask for a file and look at that]", []string{"bad"}},
		{"no comma", "data:image/png;base64 and more words", "data:image/png;base64 and more words", nil},
	} {
		t.Run(c.why, func(t *testing.T) {
			rest, found := Lift(c.text)
			if c.want != "" && rest != c.want {
				t.Errorf("%q, want %q", rest, c.want)
			}
			var kinds []string
			for _, l := range found {
				if l.Bad {
					kinds = append(kinds, "bad")
					continue
				}
				kinds = append(kinds, l.MediaType)
				if !bytes.Equal(l.Data, map[string][]byte{pngType: shot, jpegType: photo, gifType: moving}[l.MediaType]) {
					t.Errorf("%d bytes of %s are not those that were shown", len(l.Data), l.MediaType)
				}
			}
			if strings.Join(kinds, " ") != strings.Join(c.found, " ") {
				t.Errorf("found %v, want %v", kinds, c.found)
			}
			if len(rest) > 400 {
				t.Errorf("base64 was left: %.400q", rest)
			}
			if again, more := Lift(rest); again != rest || more != nil {
				t.Errorf("a second lift finds more in %q", rest)
			}
		})
	}
}

func TestLiftOfALargePicture(t *testing.T) {
	shot := file(t, pngType, 320, 250) // noise: about 300 KB in base64
	if len(shot) < 220_000 {
		t.Fatalf("only %d bytes", len(shot))
	}
	rest, found := Lift("x\n" + dataURL(pngType, shot) + "\ny\n" + "data:image/png;base64," + wrapped(base64.StdEncoding.EncodeToString(shot), 76, "\n") + "\nz")
	if len(found) != 2 || !bytes.Equal(found[0].Data, shot) || !bytes.Equal(found[1].Data, shot) || len(rest) > 200 {
		t.Errorf("%d found, %d bytes left", len(found), len(rest))
	}
}

func TestNoMorePicturesThanOneRequestTakesAreLifted(t *testing.T) {
	one := dataURL(pngType, file(t, pngType, 1, 1))
	rest, found := Lift(strings.Repeat(one+" ", maxLifted+5))
	if len(found) != maxLifted || strings.Contains(rest, "base64") || strings.Count(rest, "one more inline picture") != 5 {
		t.Errorf("%d found, left %.300q", len(found), rest)
	}
}

// TestLiftReadsATextOnce counts what a scan may read: each data URL's scan ends before the next one.
func TestLiftReadsATextOnce(t *testing.T) {
	for why, text := range map[string]string{
		"many beginnings":    strings.Repeat("data:image/png;base64,", 20_000),
		"many small ones":    strings.Repeat("data:image/png;base64,AAAA words that go on and on ", 10_000),
		"one and much prose": "data:image/png;base64,AAAA " + strings.Repeat("word ", 200_000),
		"colons":             strings.Repeat(":", 500_000),
		"heads without end":  strings.Repeat("data:image/png;", 30_000),
		"spaces":             "data:image/png;base64," + strings.Repeat(" ", 500_000),
	} {
		read := 0
		for at := 0; ; {
			i := strings.Index(text[at:], ";base64,")
			if i < 0 {
				break
			}
			at += i + len(";base64,")
			s := scan(text, at)
			read += s.ends[len(s.chars)] - at
		}
		if read > len(text) {
			t.Errorf("%s: %d of %d bytes are read", why, read, len(text))
		}
		if rest, _ := Lift(text); len(rest) > 6*len(text) {
			t.Errorf("%s: grew to %d", why, len(rest))
		}
	}
}

func TestLiftKeepsWhatIsNotItsOwn(t *testing.T) {
	shot := dataURL(pngType, file(t, pngType, 9, 9))
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.StringMatching(`[a-z0-9 .,;(){}"'\n%\\+/=-]{0,60}`)
		before, after := words.Draw(t, "before"), rapid.SampledFrom([]string{"", "\"", ")", "<", ". ", "\n\n* "}).Draw(t, "mark")+words.Draw(t, "after")
		if before != "" {
			before += " "
		}
		if after != "" && after[0] != '"' && after[0] != ')' && after[0] != '<' && after[0] != '.' {
			after = "|" + after
		}
		rest, found := Lift(before + shot + after)
		if len(found) != 1 || found[0].Bad || !strings.HasPrefix(rest, before+"[picture 1") || !strings.HasSuffix(rest, "]"+after) {
			t.Fatalf("%q around a picture became %q", before+"…"+after, rest)
		}
	})
}

func FuzzLift(f *testing.F) {
	f.Add("data:image/png;base64,iVBORw0KGgo= data:image/jpeg;base64,/9j/2Q==")
	f.Add(`data:image/gif;base64,R0lGODlh\u002b%2F %zz`)
	f.Add("data:image/webp;base64,UklGRgQAAABXRUJQ")
	f.Fuzz(func(t *testing.T, text string) {
		rest, found := Lift(text)
		for _, l := range found {
			if l.Bad == (len(l.Data) > 0) {
				t.Errorf("bad and with data, or good and without: %+v", l)
			}
		}
		if len(found) == 0 && rest != text && len(rest) > len(text) {
			t.Errorf("a text without pictures grew to %q", rest)
		}
	})
}
