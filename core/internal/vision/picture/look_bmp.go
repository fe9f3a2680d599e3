package picture

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
	switch bits, compression := le16(data[28:]), le32(data[30:]); {
	case compression == 1:
		return nil, bmpFeature(name, "a run-length coded BMP (RLE8)")
	case compression == 2:
		return nil, bmpFeature(name, "a run-length coded BMP (RLE4)")
	case compression == 4:
		return nil, bmpFeature(name, "a BMP with a JPEG inside")
	case compression == 5:
		return nil, bmpFeature(name, "a BMP with a PNG inside")
	case bits == 16:
		return nil, bmpFeature(name, "a BMP of 16 bits a pixel")
	}
	return s, nil
}

func bmpFeature(name, what string) *Error {
	return refuse(UnsupportedKind, "%q is %s, which cannot be decoded here; save it as a PNG", name, what)
}
