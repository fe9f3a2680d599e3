package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goFile reads a picture that comes with Go.
func goFile(t *testing.T, name string) []byte {
	t.Helper()
	return mustRead(t, filepath.Join(goDir(t), "testdata", name))
}

// goLike is a picture that comes with Go, and what another decoding of it gives.
func goLike(t *testing.T, name string, within int, notes ...string) pictureFile {
	t.Helper()
	data := goFile(t, name)
	want, err := jpeg.Decode(bytes.NewReader(data))
	must(t, err)
	return shows(name, data, "jpeg", want.Bounds().Dx(), want.Bounds().Dy(), notes...).like(want, within)
}

func jpegCases() []pictureCase {
	return []pictureCase{
		{name: "P24 JPEG baseline, all samplings, restart markers", files: func(t *testing.T) (all []pictureFile) {
			for why, luma := range map[string]byte{"4:4:4": 0x11, "4:2:2": 0x21, "4:2:0": 0x22, "4:1:1": 0x41, "4:4:0": 0x12, "4:1:0": 0x42} {
				for _, restart := range []int{0, 1, 3} {
					s := ycc(75, 43, luma)
					s.restart = restart
					all = append(all, shows(fmt.Sprint(why, " restart ", restart), s.bytes(), "jpeg", 75, 43).like(s.picture(), 2).asIs())
				}
			}
			for _, name := range []string{"411", "420", "422", "440", "444", "410"} {
				all = append(all, goLike(t, "video-001.q50."+name+".jpeg", 0).asIs())
			}
			return append(all, goLike(t, "video-001.restart2.jpeg", 0).asIs(), goLike(t, "video-001.221212.jpeg", 0).asIs())
		}},
		{name: "P25 JPEG progressive", files: func(t *testing.T) (all []pictureFile) {
			for _, name := range []string{"q50.411", "q50.420", "q50.422", "q50.440", "q50.444", "q50.410", "separate.dc.progression"} {
				all = append(all, goLike(t, "video-001."+name+".progressive.jpeg", 0).asIs())
			}
			// The same pixels as the baseline file.
			want, err := jpeg.Decode(bytes.NewReader(goFile(t, "video-001.q50.420.jpeg")))
			must(t, err)
			all[1] = all[1].like(want, 0)
			return append(all, goLike(t, "video-005.gray.q50.progressive.jpeg", 0).asIs(), goLike(t, "video-001.progressive.jpeg", 0).asIs())
		}},
		{name: "P26 JPEG CMYK, inverted CMYK, YCCK", files: func(t *testing.T) (all []pictureFile) {
			for adobe, why := range map[int]string{-1: "CMYK without a marker", 0: "inverted CMYK", 2: "YCCK"} {
				for _, first := range []byte{0x11, 0x22} {
					s := jpegSpec{w: 70, h: 50, sampling: []byte{first, 0x11, 0x11, first}, adobe: adobe, value: mosaic}
					f := shows(fmt.Sprintf("%s %x", why, first), s.bytes(), "jpeg", 70, 50, "cmyk-converted").like(s.picture(), 8)
					if all = append(all, f); adobe == 0 && first == 0x22 {
						all = all[:len(all)-1] // no program writes inks of two sizes, and the decoder knows them as YCCK only
					}
				}
			}
			rgb, err := png.Decode(bytes.NewReader(goFile(t, "video-001.cmyk.png")))
			must(t, err)
			f := shows("a photo", goFile(t, "video-001.cmyk.jpeg"), "jpeg", 150, 103, "cmyk-converted").like(rgb, 8)
			return append(all, f)
		}},
		{name: "P27 JPEG RGB, grey", files: func(t *testing.T) []pictureFile {
			rgb := ycc(70, 50, 0x11)
			rgb.adobe = 0
			grey := jpegSpec{w: 70, h: 50, sampling: []byte{0x11}, adobe: -1, value: mosaic}
			odd := jpegSpec{w: 70, h: 50, sampling: []byte{0x22}, adobe: -1, value: mosaic}
			want, err := png.Decode(bytes.NewReader(goFile(t, "video-001.rgb.png")))
			must(t, err)
			f := shows("RGB", rgb.bytes(), "jpeg", 70, 50).like(rgb.picture(), 1).asIs()
			return []pictureFile{
				f, shows("grey", grey.bytes(), "jpeg", 70, 50).like(grey.picture(), 1).asIs(),
				shows("a photo in RGB", goFile(t, "video-001.rgb.jpeg"), "jpeg", 150, 103).like(want, 8).asIs(),
				goLike(t, "video-005.gray.q50.2x2.jpeg", 0).asIs(), goLike(t, "video-005.gray.jpeg", 0).asIs(),
				shows("grey, sampled twice", greyTwice(odd), "jpeg", 70, 50).like(grey.picture(), 1).asIs(),
			}
		}},
	}
}

// greyTwice codes a single component whose header says two by two: a scan of one component
// is not interleaved, so its blocks come row by row (ITU-T T.81, A.2.2).
func greyTwice(s jpegSpec) []byte {
	single := s
	single.sampling = []byte{0x11}
	out := append(append(s.head(), s.frame(mSOF0)...), s.scan()...)
	return append(append(out, single.entropy()...), 0xff, mEOI)
}

// unusualJPEGs are of sorts that no program here decodes, and one that looks as if it were.
func unusualJPEGs(*testing.T) (all []pictureFile) {
	frame := func(marker byte, precision string) []byte {
		s := ycc(16, 16, 0x11)
		f := s.frame(marker)
		f[4] = precision[0]
		return slices.Concat(s.head(), f, s.scan(), s.entropy(), []byte{0xff, mEOI})
	}
	for _, c := range []struct {
		marker    byte
		precision string
		says      string
	}{
		{mSOF1, "\x0c", "12 bits"},
		{mSOF0, "\x10", "16 bits"},
		{mSOF2, "\x0c", "12 bits"},
		{0xc9, "\x08", "arithmetic"},
		{0xca, "\x08", "arithmetic"},
		{0xc3, "\x08", "lossless"},
		{0xc7, "\x08", "lossless"},
		{0xcb, "\x08", "lossless"},
		{0xc5, "\x08", "hierarchical"},
		{0xc6, "\x08", "hierarchical"},
		{0xcd, "\x08", "arithmetic"},
		{0xf7, "\x08", "JPEG-LS"},
	} {
		all = append(all, refuses(fmt.Sprintf("%x %x", c.marker, c.precision), frame(c.marker, c.precision), UnsupportedKind, c.says, "save it as"))
	}
	return append(all, shows("extended, of 8 bits", frame(mSOF1, "\x08"), "jpeg", 16, 16).asIs())
}

func jpegHeaders() []pictureCase {
	return []pictureCase{
		{name: "P28 JPEG of 12 bits, arithmetic, lossless", files: unusualJPEGs},
		{name: "P29 JPEG turned by EXIF", files: func(*testing.T) (all []pictureFile) {
			base := ycc(48, 32, 0x11)
			for o := 1; o <= 8; o++ {
				s := base
				if o >= 5 {
					s.w, s.h = s.h, s.w
				}
				s.value = func(c, x, y int) uint8 { // block x, y of the stored picture is that one of the upright picture
					for by := range 4 {
						for bx := range 6 {
							if stored(image.Rect(bx, by, bx+1, by+1), o, s.w/8, s.h/8).Min == image.Pt(x, y) {
								return base.value(c, bx, by)
							}
						}
					}
					return 0
				}
				for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
					data := withSegments(s.bytes(), segmentOf(mAPP1, "Exif\x00\x00"+string(exif(uint16(o), order))))
					f := shows(fmt.Sprint("orientation ", o), data, "jpeg", 48, 32, "metadata-removed", "orientation-applied").like(base.picture(), 1)
					if o == 1 {
						f.notes = f.notes[:1]
					}
					all = append(all, f)
				}
			}
			return all
		}},
		{name: "P30 JPEG with odd EXIF", files: oddExif},
		{name: "P31 JPEG with a place, notes and a thumbnail", files: func(t *testing.T) (all []pictureFile) {
			base := ycc(48, 32, 0x22).bytes()
			thumb := string(jpegOf(t, corners(16, 16), 50))
			for why, seg := range map[string][]byte{
				"GPS": segmentOf(mAPP1, "Exif\x00\x00"+string(exif(1, binary.BigEndian))), "a thumbnail": segmentOf(mAPP1, "Exif\x00\x00"+string(exif(1, binary.BigEndian))+thumb),
				"XMP": segmentOf(mAPP1, "http://ns.adobe.com/xap/1.0/\x00<x:xmpmeta>"), "IPTC": segmentOf(0xed, "Photoshop 3.0\x008BIM\x04\x04"),
				"a comment": segmentOf(0xfe, "here"), "JFXX": segmentOf(mAPP0, "JFXX\x00\x10"+thumb), "MPF": segmentOf(mAPP2, "MPF\x00x"), "C2PA": segmentOf(0xeb, "JP\x00\x00"),
			} {
				all = append(all, shows(why, withSegments(base, seg), "jpeg", 48, 32, "metadata-removed").as(base))
			}
			return all
		}},
		{name: "P32 JPEG with a profile", files: func(*testing.T) []pictureFile {
			base := ycc(48, 32, 0x22).bytes()
			parts := make([][]byte, 255)
			for i := range parts {
				parts[i] = segmentOf(mAPP2, "ICC_PROFILE\x00"+string([]byte{byte(i + 1), 255})+strings.Repeat("p", 65519))
			}
			grey := jpegSpec{w: 48, h: 32, sampling: []byte{0x11}, adobe: -1, value: mosaic}
			return []pictureFile{
				shows("one", withSegments(base, parts[0]), "jpeg", 48, 32, "profile-dropped").as(base), shows("255 parts of 64 KiB", withSegments(base, parts...), "jpeg", 48, 32, "profile-dropped").as(base),
				shows("broken", withSegments(base, segmentOf(mAPP2, "ICC_PROFILE\x00")), "jpeg", 48, 32, "profile-dropped").as(base),
				shows("of greys", withSegments(grey.bytes(), parts[7]), "jpeg", 48, 32, "profile-dropped").as(grey.bytes()),
			}
		}},
	}
}

func oddExif(*testing.T) (all []pictureFile) {
	base := ycc(48, 32, 0x11)
	change := func(f func(b []byte) []byte) []byte { return f(exif(6, binary.LittleEndian)) }
	for why, meta := range map[string][]byte{
		"0": exif(0, binary.BigEndian), "9": exif(9, binary.BigEndian), "65535": exif(65535, binary.LittleEndian),
		"a wrong type":           change(func(b []byte) []byte { b[12] = 4; return b }),
		"text":                   change(func(b []byte) []byte { b[12] = 2; return b }),
		"two values":             change(func(b []byte) []byte { b[14] = 2; return b }),
		"a huge count of values": change(func(b []byte) []byte { copy(b[14:], "\xff\xff\xff\xff"); return b }),
		"a huge count":           change(func(b []byte) []byte { b[10], b[8], b[9] = 0, 0xff, 0xff; return b }),
		"behind the end":         change(func(b []byte) []byte { b[7] = 0x7f; return b }),
		"a directory in itself":  change(func(b []byte) []byte { b[10], b[11] = 0, 0; copy(b[22:], "\x08\x00\x00\x00"); return b }),
		"no such order":          change(func(b []byte) []byte { b[0] = 'X'; return b }),
		"cut":                    exif(6, binary.BigEndian)[:15],
		"empty":                  nil,
	} {
		data := withSegments(base.bytes(), segmentOf(mAPP1, "Exif\x00\x00"+string(meta)))
		all = append(all, shows(why, data, "jpeg", 48, 32, "metadata-removed").like(base.picture(), 1))
	}
	return all
}

func jpegDamage() []pictureCase {
	return []pictureCase{
		{name: "P33 JPEG cut at every percent", files: func(t *testing.T) (all []pictureFile) {
			for _, name := range []string{"video-001.q50.420.jpeg", "video-001.q50.420.progressive.jpeg", "video-001.restart2.jpeg"} {
				data := goFile(t, name)
				for percent := 1; percent < 100; percent++ {
					cut := data[:max(4, len(data)*percent/100)]
					all = append(all, refuses(fmt.Sprint(name, " at ", percent), cut, Corrupt, "anew"),
						refuses(fmt.Sprint(name, " closed at ", percent), append(bytes.Clone(cut), 0xff, mEOI), Corrupt))
				}
			}
			return append(all, refuses("from Go's set", goFile(t, "video-001.progressive.truncated.jpeg"), Corrupt))
		}},
		{name: "P34 JPEG of 36 megapixels with data for 16 × 16", files: func(*testing.T) (all []pictureFile) {
			small := ycc(16, 16, 0x22)
			big := ycc(6000, 6000, 0x22)
			return []pictureFile{refuses("6000 × 6000", slices.Concat(big.head(), big.frame(mSOF0), small.scan(), small.entropy(), []byte{0xff, mEOI}), Corrupt)}
		}},
		// Its computing is bounded with the check switched off too: TestAChildHasNoMoreComputingThanItsLimit.
		{name: "P36 JPEG of 1001 scans", files: func(*testing.T) []pictureFile {
			bomb := scanBomb(4000, 1000)
			return []pictureFile{refuses("120 KB", bomb, TooComplex, "scans", "anew")}
		}},
		{name: "P37 JPEG of 18 scans", files: func(*testing.T) []pictureFile {
			flat := jpegSpec{w: 64, h: 64, sampling: []byte{0x11, 0x11, 0x11}, adobe: -1, value: func(int, int, int) uint8 { return 128 }}
			return []pictureFile{
				shows("18 scans", scansOf(64, 5), "jpeg", 64, 64).like(flat.picture(), 0).asIs(), shows("63 scans", scansOf(64, 20), "jpeg", 64, 64).asIs(),
				refuses("66 scans", scansOf(64, 21), TooComplex),
			}
		}},
		{name: "P38 JPEG of many restarts, fill bytes, junk", files: messyJPEGs},
		{name: "P39 JPEG with bad tables, without frame or scan", files: brokenJPEGs},
	}
}

// scansOf tells the means, then every coefficient in so many bands, of three components each.
func scansOf(side, bands int) []byte {
	blocks := (side / 8) * (side / 8)
	return progressive(side, 3, func(out []byte) []byte {
		for c := range byte(3) {
			out = append(append(out, segmentOf(mSOS, string([]byte{1, c + 1, 0, 0, 0, 0}))...), make([]byte, blocks/8)...)
			for b := range bands {
				first, last := 1+b*63/bands, (b+1)*63/bands
				out = append(append(out, segmentOf(mSOS, string([]byte{1, c + 1, 0, byte(first), byte(last), 0}))...), make([]byte, blocks/8)...)
			}
		}
		return out
	})
}

func messyJPEGs(*testing.T) []pictureFile {
	s := ycc(400, 300, 0x11)
	s.restart = 1
	want := s.picture()
	data := s.bytes()
	at := bytes.Index(data, []byte{0xff, mSOF0})
	filled := slices.Concat(data[:at], bytes.Repeat([]byte{0xff}, 100_000), data[at:])
	junk := slices.Concat(data[:at], bytes.Repeat([]byte("junk\x00"), 20_000), data[at:])
	many := withSegments(data, bytes.Repeat(segmentOf(0xfe, ""), 2_000_000))
	plainOne := ycc(400, 300, 0x11)
	lost := bytes.Clone(data)
	lost[bytes.LastIndex(lost[:len(lost)-4], []byte{0xff, mRST0 + 3})+1] = mRST0 + 6
	return []pictureFile{
		shows("a restart at each unit", data, "jpeg", 400, 300).like(want, 2).asIs(),
		shows("fill bytes", filled, "jpeg", 400, 300, "metadata-removed").like(want, 2).as(data),
		shows("junk between markers", junk, "jpeg", 400, 300, "metadata-removed").like(want, 2).as(data),
		shows("two million segments", many, "jpeg", 400, 300, "metadata-removed").like(want, 2).as(data),
		shows("a restart marker where none belongs", withSegments(plainOne.bytes(), []byte{0xff, mRST0}), "jpeg", 400, 300, "metadata-removed").as(plainOne.bytes()),
		refuses("a restart out of its order", lost, Corrupt),
	}
}

func brokenJPEGs(*testing.T) []pictureFile {
	s := ycc(48, 32, 0x11)
	end := []byte{0xff, mEOI}
	all := func(parts ...[]byte) []byte { return slices.Concat(append(parts, s.entropy(), end)...) }
	soi := []byte{0xff, mSOI}
	tables := flatTables()
	quant := segmentOf(mDQT, "\x00"+strings.Repeat("\x01", 64))
	many := segmentOf(mDHT, "\x00"+strings.Repeat("\xff", 16)+strings.Repeat("x", 300))
	over := segmentOf(mDHT, "\x00\x03"+strings.Repeat("\x00", 15)+"\x00\x01\x02") // three codes of one bit
	scan := bytes.Clone(s.scan())
	scan[5] = 9
	wild := all(soi, tables, s.frame(mSOF0), s.scan(), bytes.Repeat([]byte{0xfe}, 400)) // 1111 is no code
	none := s.frame(mSOF0)
	none[9] = 0
	return []pictureFile{
		refuses("a table of too many codes", all(soi, quant, many, s.frame(mSOF0), s.scan()), Corrupt), refuses("a table that is too full", all(soi, quant, over, s.frame(mSOF0), s.scan()), Corrupt),
		refuses("a code that is none", wild, Corrupt), refuses("no table", all(soi, quant, s.frame(mSOF0), s.scan()), Corrupt),
		refuses("no frame", all(soi, tables, s.scan()), Corrupt, "frame"), refuses("no scan", slices.Concat(soi, tables, s.frame(mSOF0), end), Corrupt, "no pixels"),
		refuses("two frames", all(soi, tables, s.frame(mSOF0), s.frame(mSOF0), s.scan()), Corrupt), refuses("a scan before its frame", all(soi, tables, s.scan(), s.frame(mSOF0)), Corrupt),
		refuses("a component that is not there", all(soi, tables, s.frame(mSOF0), scan), Corrupt), refuses("no components", all(soi, tables, none, s.scan()), Corrupt),
		refuses("nothing but its end", []byte{0xff, mSOI, 0xff, mEOI}, Corrupt), refuses("three bytes", []byte{0xff, mSOI, 0xff}, Corrupt),
		refuses("a segment of length 1", slices.Concat(soi, []byte{0xff, 0xfe, 0, 1}, s.bytes()[2:]), Corrupt),
	}
}
