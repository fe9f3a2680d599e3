package picture

func lookGIF(data []byte, name string) (*sight, error) {
	if len(data) < 13 {
		return nil, corrupt(name, "the GIF has no header")
	}
	s := &sight{kind: "gif", width: int64(le16(data[6:])), height: int64(le16(data[8:])), orientation: 1, channels: 5} // indexes, and the screen they are put on
	if s.width == 0 || s.height == 0 || s.width*s.height > maxPixels {
		return s, nil
	}
	at := 13
	if flags := data[10]; flags&0x80 != 0 {
		at += 3 << (flags&7 + 1)
	}
	for at < len(data) {
		block := data[at]
		switch block {
		case ';':
			if s.frames == 0 {
				return nil, corrupt(name, "the GIF holds no frame")
			}
			return s, nil
		case '!':
			at = gifBlocks(data, at+2)
		case ',':
			if at+10 > len(data) {
				return nil, corrupt(name, "the GIF is cut off")
			}
			s.frames++
			flags := data[at+9]
			at += 10
			if flags&0x80 != 0 {
				at += 3 << (flags&7 + 1)
			}
			at = gifBlocks(data, at+1) // behind the code size
		default:
			return nil, corrupt(name, "the GIF holds an unknown block")
		}
	}
	return nil, corrupt(name, "the GIF is cut off")
}

// gifBlocks steps over a chain of sub-blocks to the byte behind its end.
func gifBlocks(data []byte, at int) int {
	for at < len(data) && data[at] != 0 {
		at += 1 + int(data[at])
	}
	return at + 1
}
