package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/relo-dev/relo/core/internal/vision/jpegread"
)

// The markers of a JPEG (ITU-T T.81, table B.1).
const (
	mSOF0, mSOF1, mSOF2 = 0xc0, 0xc1, 0xc2
	mDHT, mSOI, mEOI    = 0xc4, 0xd8, 0xd9
	mSOS, mDQT, mDRI    = 0xda, 0xdb, 0xdd
	mAPP0, mAPP1, mAPP2 = 0xe0, 0xe1, 0xe2
	mAPP14, mTEM, mRST0 = 0xee, 0x01, 0xd0
	mJPGA, mDAC         = 0xc8, 0xcc
)

// jpegSegment is one marker: body is what follows its length, and entropy, behind
// a scan's header, the coded pixels.
type jpegSegment struct {
	marker        byte
	body, entropy []byte
}

// jpegSegments walks the markers from SOI to EOI, which is missing in what is cut
// off. It holds none of them: a file of 40 MiB can have millions. Bytes between
// markers belong to none and are counted in junk.
func jpegSegments(data []byte, junk *int) iter.Seq[jpegSegment] {
	return func(yield func(jpegSegment) bool) { walkJPEG(data, junk, yield) }
}

func walkJPEG(data []byte, junk *int, yield func(jpegSegment) bool) {
	at := 2 // behind SOI
	for {
		gap := bytes.IndexByte(data[min(at, len(data)):], 0xff)
		if gap < 0 {
			return
		}
		*junk += gap
		at += gap + 1
		for at < len(data) && data[at] == 0xff { // fill bytes
			at, *junk = at+1, *junk+1
		}
		if at >= len(data) {
			return
		}
		marker := data[at]
		at++
		switch {
		case marker == mEOI:
			*junk += len(data) - at
			yield(jpegSegment{marker: mEOI})
			return
		case marker == 0 || marker == mTEM || marker >= mRST0 && marker <= mSOI:
			*junk += 2
			continue
		}
		if at+2 > len(data) {
			return
		}
		length := int(be16(data[at:]))
		if length < 2 || at+length > len(data) {
			return
		}
		seg := jpegSegment{marker: marker, body: data[at+2 : at+length]}
		at += length
		if marker == mSOS {
			end := at + entropyLength(data[at:])
			seg.entropy, at = data[at:end], end
		}
		if !yield(seg) {
			return
		}
	}
}

// entropyLength is how far coded pixels reach: to the first marker that is no restart.
func entropyLength(data []byte) int {
	for i := 0; ; {
		next := bytes.IndexByte(data[i:], 0xff)
		if next < 0 || i+next+1 >= len(data) {
			return len(data)
		}
		i += next
		if m := data[i+1]; m != 0 && (m < mRST0 || m > mRST0+7) && m != 0xff {
			return i
		}
		i++
		if data[i] != 0xff {
			i++
		}
	}
}

func lookJPEG(data []byte, name string) (*sight, error) {
	s := &sight{kind: "jpeg", orientation: 1}
	junk, complete := 0, false
	frames, adobe, exif, scans := 0, false, false, progress{}
	for seg := range jpegSegments(data, &junk) {
		switch {
		case seg.marker == mEOI:
			complete = true
		case seg.marker == mSOS:
			s.scans++
			scans.scan(seg.body)
		case isFrame(seg.marker):
			frames++
			if err := s.readFrame(seg, name); err != nil {
				return nil, err
			}
		case seg.marker == mAPP1 && bytes.HasPrefix(seg.body, []byte("Exif\x00")):
			if !exif && len(seg.body) > 6 {
				exif, s.orientation = true, tiffOrientation(seg.body[6:])
			}
			s.hidden.metadata = true
		case seg.marker == mAPP2 && bytes.HasPrefix(seg.body, []byte("ICC_PROFILE")):
			s.hidden.profile = true
		default:
			kept, keep := keptSegment(seg)
			adobe = adobe || keep && seg.marker == mAPP14
			s.hidden.metadata = s.hidden.metadata || !keep || len(kept) < len(seg.body)
		}
	}
	s.hidden.metadata = s.hidden.metadata || junk > 0
	s.bareInk = s.ink && !adobe
	switch {
	case frames > 0 && (s.width == 0 || s.height == 0 || s.width*s.height > maxPixels || s.scans > maxScans):
		return s, nil // the limits speak first
	case frames == 0:
		return nil, corrupt(name, "the JPEG has no frame")
	case s.scans == 0:
		return nil, corrupt(name, "the JPEG holds no pixels")
	case !complete || s.layered && !scans.complete(s.channels):
		return nil, corrupt(name, "the JPEG is cut off")
	}
	return s, nil
}

// isFrame tells whether the marker opens a frame: every SOF but those numbers
// that mean tables.
func isFrame(marker byte) bool {
	return marker >= mSOF0 && marker <= 0xcf && marker != mDHT && marker != mJPGA && marker != mDAC || marker == 0xf7
}

// readFrame reads a frame's header and names what Relo's decoder cannot read.
func (s *sight) readFrame(seg jpegSegment, name string) error {
	if len(seg.body) < 6 {
		return corrupt(name, "the JPEG's frame has no header")
	}
	feature := ""
	switch {
	case seg.marker == 0xf7:
		feature = "JPEG-LS"
	case seg.marker == 0xc3 || seg.marker == 0xc7 || seg.marker == 0xcb || seg.marker == 0xcf:
		feature = "a lossless JPEG"
	case seg.marker > mSOF2 && seg.marker < mJPGA:
		feature = "a hierarchical JPEG"
	case seg.marker > mJPGA:
		feature = "an arithmetic-coded JPEG"
	case seg.body[0] != 8:
		feature = fmt.Sprintf("a JPEG of %d bits a channel", seg.body[0])
	}
	if feature != "" {
		return refuse(UnsupportedKind, "%q is %s, which cannot be decoded here; save it as a baseline JPEG or PNG", name, feature)
	}
	s.height, s.width, s.channels = int64(be16(seg.body[1:])), int64(be16(seg.body[3:])), int(seg.body[5])
	s.layered, s.ink = seg.marker == mSOF2, s.channels == 4
	s.samples = samplesOf(seg.body[6:], s.channels)
	return nil
}

// samplesOf counts the samples of all components for a hundred pixels: 300 when
// none is subsampled, 150 for 4:2:0. What the header leaves out counts in full.
func samplesOf(components []byte, n int) int64 {
	if n == 0 || len(components) < 3*n {
		return 100 * int64(max(n, 1))
	}
	var sum, across, down int64
	for c := range n {
		h, v := int64(components[3*c+1]>>4), int64(components[3*c+1]&0xf)
		sum, across, down = sum+h*v, max(across, h), max(down, v)
	}
	return 100 * sum / max(1, across*down)
}

// keptSegment gives the part of a segment that pixels need, and whether any is.
// JFIF is kept without its thumbnail, Adobe's marker without what follows it.
func keptSegment(seg jpegSegment) (body []byte, keep bool) {
	const jfif, adobe = 14, 12
	switch seg.marker {
	case mSOF0, mSOF1, mSOF2, mDHT, mDQT, mDRI, mSOS, mEOI:
		return seg.body, true
	case mAPP0:
		if len(seg.body) >= jfif && string(seg.body[:5]) == "JFIF\x00" {
			return seg.body[:jfif], true
		}
	case mAPP14:
		if len(seg.body) >= adobe && string(seg.body[:5]) == "Adobe" {
			return seg.body[:adobe], true
		}
	}
	return nil, false
}

// looseScan tells whether bytes that no pixel needs lie among the coded ones of a JPEG in red, green
// and blue. What the colours mean does not matter to that, so it is read as if they were the
// usual ones. What cannot be read so counts as loose.
func looseScan(ctx context.Context, data []byte) bool {
	const jfif = "JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
	usual := append([]byte{0xff, mSOI, 0xff, mAPP0, 0, byte(2 + len(jfif))}, jfif...)
	var junk int
	for seg := range jpegSegments(data, &junk) {
		if seg.marker == mAPP0 || seg.marker == mAPP14 {
			continue
		}
		usual = append(usual, 0xff, seg.marker)
		if seg.marker != mEOI {
			usual = binary.BigEndian.AppendUint16(usual, uint16(len(seg.body)+2)) //nolint:gosec // a segment has two bytes of length
			usual = append(append(usual, seg.body...), seg.entropy...)
		}
	}
	file, ok := jpegread.Open(usual)
	if !ok {
		return true
	}
	_, err := file.Decode(ctx, 8)
	return err != nil || file.Loose()
}

// stripJPEG keeps what pixels need, the coded pixels byte for byte, and nothing else.
func stripJPEG(data []byte) []byte {
	junk := 0
	out := append(make([]byte, 0, len(data)), 0xff, mSOI)
	for seg := range jpegSegments(data, &junk) {
		body, keep := keptSegment(seg)
		if !keep {
			continue
		}
		out = append(out, 0xff, seg.marker)
		if seg.marker == mEOI {
			break
		}
		out = append(out, byte((len(body)+2)>>8), byte(len(body)+2)) //nolint:gosec // a segment has two bytes of length
		at := len(out)
		out = append(out, body...)
		if seg.marker == mAPP0 {
			out[at+12], out[at+13] = 0, 0 // the thumbnail's size
		}
		out = append(out, seg.entropy...)
	}
	return out
}
