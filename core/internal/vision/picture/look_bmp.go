package picture

import "fmt"

// bmpHeaderSizes are the sizes of the headers that a BMP can have after its
// file header ("Bitmap Header Types", Microsoft).
var bmpHeaderSizes = map[uint32]bool{12: true, 16: true, 40: true, 52: true, 56: true, 64: true, 108: true, 124: true}

func lookBMP(data []byte, name string) (*sight, error) {
	size := le32(data[14:])
	if size == 12 || size == 16 || size == 64 {
		return nil, bmpFeature(name, "an OS/2 bitmap")
	}
	if len(data) < 14+40 {
		return nil, corrupt(name, "the BMP has no header")
	}
	s := &sight{kind: "bmp", orientation: 1, channels: 4}
	s.width, s.height = int64(int32(le32(data[18:]))), int64(int32(le32(data[22:]))) //nolint:gosec // signed in the format
	if s.height < 0 {
		s.height = -s.height // stored from the top down
	}
	if s.width < 0 {
		return nil, corrupt(name, "the BMP's header gives a negative width")
	}
	if s.width == 0 || s.height == 0 || s.width*s.height > maxPixels {
		return s, nil // the limits speak first
	}
	if what := bmpOddity(data, size); what != "" {
		return nil, bmpFeature(name, what)
	}
	return s, nil
}

// bmpOddity names what x/image's decoder does not read, "" when it reads the file. Size is that of the header.
func bmpOddity(data []byte, size uint32) string {
	const usual, none, masked = 40, 0, 3
	bits, compression, start := le16(data[28:]), le32(data[30:]), le32(data[10:])
	switch {
	case compression == 1:
		return "a run-length coded BMP (RLE8)"
	case compression == 2:
		return "a run-length coded BMP (RLE4)"
	case compression == 4:
		return "a BMP with a JPEG inside"
	case compression == 5:
		return "a BMP with a PNG inside"
	case bits == 16:
		return "a BMP of 16 bits a pixel"
	case size == 52 || size == 56:
		return fmt.Sprintf("a BMP with a header of %d bytes", size)
	case compression == masked && !usualMasks(data, size):
		return "a BMP with colour masks of its own"
	case compression != none && compression != masked:
		return fmt.Sprintf("a BMP of compression %d", compression)
	case bits != 1 && bits != 2 && bits != 4 && bits != 8 && bits != 24 && bits != 32:
		return fmt.Sprintf("a BMP of %d bits a pixel", bits)
	}
	colours := le32(data[46:])
	if bits > 8 {
		colours = 0
	} else if colours == 0 {
		colours = 1 << bits
	}
	if bits <= 8 && colours > 1<<bits {
		return "a BMP with more colours than its pixels can name"
	}
	if int64(start) != 14+int64(size)+4*int64(colours) {
		return "a BMP with a gap before its pixels"
	}
	return ""
}

// usualMasks tells whether masks say what is so without them: red, green, blue and alpha from the highest byte.
func usualMasks(data []byte, size uint32) bool {
	return size > 56 && len(data) >= 70 && le32(data[54:]) == 0xff0000 && le32(data[58:]) == 0xff00 && le32(data[62:]) == 0xff && le32(data[66:]) == 0xff000000
}

func bmpFeature(name, what string) *Error {
	return refuse(UnsupportedKind, "%q is %s, which cannot be decoded here; save it as a PNG", name, what)
}
