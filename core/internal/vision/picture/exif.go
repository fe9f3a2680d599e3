package picture

import "encoding/binary"

// tiffOrientation reads the orientation (tag 274) of the first directory of
// TIFF-formed metadata, as EXIF in a JPEG and eXIf in a PNG hold it. Everything
// odd is 1, upright: a wrong type, a value out of range, a directory behind the
// end. No offset but the first is followed, so nothing can run in circles.
// (Exif 2.32, JEITA CP-3451X, 4.6.4)
func tiffOrientation(b []byte) int {
	const upright, tag, short, entry = 1, 274, 3, 12
	if len(b) < 8 {
		return upright
	}
	var order binary.ByteOrder
	switch string(b[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return upright
	}
	at := int64(order.Uint32(b[4:]))
	if at+2 > int64(len(b)) {
		return upright
	}
	count := int64(order.Uint16(b[at:]))
	at += 2
	for range count {
		if at+entry > int64(len(b)) {
			return upright
		}
		e := b[at : at+entry]
		if order.Uint16(e) == tag {
			if v := int(order.Uint16(e[8:])); order.Uint16(e[2:]) == short && order.Uint32(e[4:]) == 1 && v >= 1 && v <= 8 {
				return v
			}
			return upright
		}
		at += entry
	}
	return upright
}
