package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image"
	"io"
	"slices"
	"strings"
	"testing"
)

// planted is a file with a marker in a place that holds no pixels.
type planted struct {
	where string
	data  []byte
}

// marker is nothing that pixels or tables give by chance.
const marker = "MARKER-b7c1-WHERE-I-LIVE"

// tiffWith is EXIF with entries: a text that stands behind the directory, for each tag.
func tiffWith(tags ...uint16) []byte {
	b := binary.LittleEndian.AppendUint16([]byte("II*\x00\x08\x00\x00\x00"), uint16(len(tags)))
	at := uint32(8 + 2 + 12*len(tags) + 4)
	for _, tag := range tags {
		b = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(b, tag), 2)
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, uint32(len(marker))), at)
	}
	return append(append(b, 0, 0, 0, 0), marker...)
}

func plantedPNGs(t *testing.T, base []byte) (all []planted) {
	t.Helper()
	text := string(zlibOf([]byte(marker)))
	for where, chunk := range map[string][]byte{
		"tEXt": chunkOf("tEXt", []byte("Comment\x00"+marker)), "zTXt, plain": chunkOf("zTXt", []byte(marker+"\x00\x00"+text)), "zTXt": chunkOf("zTXt", []byte("a\x00\x00"+text)), "iTXt": chunkOf("iTXt", []byte("XML:com.adobe.xmp\x00\x00\x00\x00\x00"+marker)),
		"iTXt, packed": chunkOf("iTXt", []byte("a\x00\x01\x00\x00\x00"+text)), "eXIf": chunkOf("eXIf", tiffWith(0x010e)), "iCCP": chunkOf("iCCP", []byte(marker+"\x00\x00"+text)), "a private chunk": chunkOf("prVt", []byte(marker)), "a private critical-looking chunk": chunkOf("vpAg", []byte(marker)),
		"sPLT": chunkOf("sPLT", []byte(marker+"\x00\x08")), "caBX": chunkOf("caBX", []byte(marker)), "dSIG": chunkOf("dSIG", []byte(marker)), "a palette beside true colours": chunkOf("PLTE", []byte(strings.Repeat(marker, 2))), "hIST": chunkOf("hIST", []byte(marker)),
		"fcTL": chunkOf("fcTL", []byte(marker)), "fdAT": chunkOf("fdAT", []byte(marker)), "tIME": chunkOf("tIME", []byte(marker)), "bKGD": chunkOf("bKGD", []byte(marker)), "pCAL": chunkOf("pCAL", []byte(marker)),
	} {
		all = append(all, planted{where, withChunks(base, chunk)})
		if end := len(base) - 12; where != "a palette beside true colours" {
			all = append(all, planted{where + ", behind the pixels", slices.Concat(base[:end], chunk, base[end:])})
		}
	}
	return append(all, planted{"behind IEND", append(bytes.Clone(base), marker...)}, planted{"a chunk behind IEND", append(bytes.Clone(base), chunkOf("tEXt", []byte(marker))...)},
		planted{"a ZIP behind IEND", append(bytes.Clone(base), "PK\x03\x04"+marker...)})
}

func plantedJPEGs(t *testing.T, base []byte) (all []planted) {
	t.Helper()
	thumb := string(jpegOf(t, corners(16, 16), 40)) + marker
	for where, segment := range map[string][]byte{
		"EXIF, a place": segmentOf(mAPP1, "Exif\x00\x00"+string(tiffWith(0x8825))), "EXIF, a maker's note": segmentOf(mAPP1, "Exif\x00\x00"+string(tiffWith(0x010f, 0x927c))), "EXIF, a thumbnail": segmentOf(mAPP1, "Exif\x00\x00"+string(exif(1, binary.BigEndian))+thumb),
		"XMP": segmentOf(mAPP1, "http://ns.adobe.com/xap/1.0/\x00"+marker), "more XMP": segmentOf(mAPP1, "http://ns.adobe.com/xmp/extension/\x00"+marker), "ICC": segmentOf(mAPP2, "ICC_PROFILE\x00\x01\x01"+marker), "MPF": segmentOf(mAPP2, "MPF\x00"+marker), "FlashPix": segmentOf(mAPP2, "FPXR\x00"+marker),
		"IPTC": segmentOf(0xed, "Photoshop 3.0\x008BIM\x04\x04\x00\x00\x00\x00\x00\x18"+marker), "COM": segmentOf(0xfe, marker), "JFXX": segmentOf(mAPP0, "JFXX\x00\x10"+thumb), "a thumbnail in JFIF": segmentOf(mAPP0, "JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x02\x04"+marker),
		"behind Adobe's words": segmentOf(mAPP14, "Adobe\x00\x64\x00\x00\x00\x00\x01"+marker), "another APP14": segmentOf(mAPP14, marker), "APP11": segmentOf(0xeb, "JP"+marker), "APP15": segmentOf(0xef, marker), "APP3": segmentOf(0xe3, "Meta\x00\x00"+marker),
		"between segments": []byte(marker), "a stuffed zero and words": []byte("\xff\x00" + marker),
	} {
		if where != "between segments" { // at the front it would be no JPEG
			all = append(all, planted{where, withSegments(base, segment)})
		}
		at := bytes.Index(base, []byte{0xff, mSOF0})
		all = append(all, planted{where + ", before the frame", slices.Concat(base[:at], segment, base[at:])})
	}
	return append(all, planted{"behind EOI", append(bytes.Clone(base), marker...)}, planted{"a second picture behind EOI", slices.Concat(base, base, []byte(marker))})
}

func plantedOthers(t *testing.T) (all []planted) {
	t.Helper()
	g := gifSpec{"GIF89a", 37, 29, 4, []gifFrame{{at: image.Rect(0, 0, 37, 29), clear: -1}}}.bytes()
	at := 13 + 12
	for where, block := range map[string]string{"a comment": "!\xfe\x18" + marker + "\x00", "an application's block": "!\xff\x0bXMP DataXMP\x18" + marker + "\x00", "plain text": "!\x01\x0c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x18" + marker + "\x00"} {
		all = append(all, planted{"GIF, " + where, slices.Concat(g[:at], []byte(block), g[at:])})
	}
	all = append(all, planted{"GIF, behind its end", append(bytes.Clone(g), marker...)})
	for _, name := range []string{"blue-purple-pink.lossy.webp", "tux.lossless.webp"} {
		px, _, w, h := pixelsOf(t, name)
		for _, kind := range []string{"EXIF", "XMP ", "ICCP", "ABCD"} {
			body := []byte(marker)
			if kind == "EXIF" {
				body = tiffWith(0x010e)
			}
			all = append(all, planted{"WebP, " + kind, riff(vp8x(0x2c, w, h), riffChunk{kind, body}, px)}, planted{"WebP, behind the pixels, " + kind, riff(vp8x(0x2c, w, h), px, riffChunk{kind, body})})
		}
		all = append(all, planted{"WebP, behind its end", append(riff(px), marker...)}, planted{"WebP, behind its frame", riff(vp8x(2, w, h), frameOf(0, 0, riffChunk{px.kind, append(bytes.Clone(px.body), marker...)}))})
	}
	bmp := bmpSpec{w: 9, h: 9, bits: 24, header: 124}.bytes()
	copy(bmp[14+60:], marker)                                                 // the gammas and the profile's place
	all = append(all, planted{"BMP, behind its end", append(bmp, marker...)}) // where a profile stands
	low := bmpSpec{w: 9, h: 9, bits: 24, header: 40}.bytes()
	for y := range 9 { // the filling of each row: nine pixels take 27 bytes of 28
		low[54+28*y+27] = marker[y]
	}
	return append(all, planted{"BMP, in the filling of rows", low})
}

// leaks looks for the marker in what is sent: as it is, and in whatever can be unpacked.
func leaks(sent []byte) bool {
	if bytes.Contains(sent, []byte(marker[:12])) {
		return true
	}
	for at := range sent {
		if sent[at] != 0x78 {
			continue
		}
		z, err := zlib.NewReader(bytes.NewReader(sent[at:]))
		if err != nil {
			continue
		}
		if text, _ := io.ReadAll(io.LimitReader(z, 1<<10)); bytes.Contains(text, []byte(marker)) { // cut short is no matter
			return true
		}
	}
	return false
}

func TestNothingButPixelsLeaves(t *testing.T) {
	basePNG, baseJPEG := pngOf(t, page(300, 200)), ycc(300, 200, 0x22).bytes()
	sets := []struct {
		base []byte
		all  []planted
	}{
		{basePNG, plantedPNGs(t, basePNG)}, {baseJPEG, plantedJPEGs(t, baseJPEG)}, {nil, plantedOthers(t)},
	}
	count := 0
	for _, set := range sets {
		for _, p := range set.all {
			count++
			if !bytes.Contains(p.data, []byte(marker)) && !leaks(p.data) && !strings.HasPrefix(p.where, "BMP, in") {
				t.Errorf("%s: nothing is planted", p.where)
			}
			for _, params := range []Params{{}, {MaxEdge: 256}} {
				pic, _, err := New(Options{}).PrepareBytes(t.Context(), p.data, "a.bin", params)
				if err != nil {
					t.Errorf("%s: %v", p.where, err)
					continue
				}
				if leaks(pic.Bytes) {
					t.Errorf("%s: the marker leaves", p.where)
				}
				if own := strings.HasSuffix(p.where, "JFIF") || strings.Contains(p.where, "in JFIF") || strings.Contains(p.where, "Adobe"); set.base != nil && params.MaxEdge == 0 && !own && !bytes.Equal(pic.Bytes, set.base) {
					t.Errorf("%s: sent %d bytes, the file without the marker has %d", p.where, len(pic.Bytes), len(set.base))
				}
			}
		}
	}
	if t.Logf("%d places", count); count < 90 {
		t.Errorf("only %d places", count)
	}
}

func TestFilesThatNeedNothingLeaveAsTheyAre(t *testing.T) {
	files := map[string][]byte{"page": pngOf(t, page(700, 500)), "baseline": ycc(300, 200, 0x22).bytes(), "progressive": scansOf(64, 3), "photo": jpegOf(t, photo(300, 200), 80)}
	for _, s := range everyPNG(31, 17, true) {
		if s.depth < 16 {
			files[string(rune('a'+s.colour))+string(rune('a'+s.depth))] = s.bytes()
		}
	}
	for name, data := range files {
		pic, meta, err := New(Options{}).PrepareBytes(t.Context(), data, "a.bin", Params{})
		if err != nil || !bytes.Equal(pic.Bytes, data) || slices.Contains(meta.Notes, "metadata-removed") {
			t.Errorf("%s: %v, %d bytes of %d, %v", name, err, len(pic.Bytes), len(data), meta.Notes)
		}
	}
}

func TestBytesAmongTheCodedPixelsDoNotLeave(t *testing.T) {
	t.Parallel()
	base := pngOf(t, page(300, 200))
	end := len(base) - 12
	s := pngSpec{w: 33, h: 21, depth: 8, colour: 2}
	j := ycc(300, 200, 0x22).bytes()
	for where, data := range map[string][]byte{
		"an IDAT behind the stream":      slices.Concat(base[:end], chunkOf("IDAT", []byte(marker)), base[end:]),
		"in the last IDAT":               s.around(chunkOf("IDAT", append(zlibOf(s.raw()), marker...))),
		"behind the last unit of a JPEG": slices.Concat(j[:len(j)-2], []byte(marker), j[len(j)-2:]),
	} {
		pic, meta, err := New(Options{}).PrepareBytes(t.Context(), data, "a.bin", Params{})
		if err != nil || leaks(pic.Bytes) || !slices.Contains(meta.Notes, "metadata-removed") {
			t.Errorf("%s: %v, notes %v, leaks %v", where, err, meta.Notes, leaks(pic.Bytes))
		}
	}
}
