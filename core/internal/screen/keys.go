package screen

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/relo-dev/relo/core/internal/board"
)

// sequences are what terminals send for keys that are not characters.
var sequences = map[string]string{
	"[A": board.Up, "[B": board.Down, "OA": board.Up, "OB": board.Down, "[H": board.Home, "[F": board.End, "OH": board.Home, "OF": board.End,
	"[1~": board.Home, "[4~": board.End, "[7~": board.Home, "[8~": board.End, "[5~": board.PageUp, "[6~": board.PageDown,
}

const (
	pasteBegin = "[200~"
	pasteEnd   = "\x1b[201~"
)

// decoder makes keys out of bytes. What a read cut in two waits for the rest.
type decoder struct {
	rest    []byte
	pasting bool
}

// feed takes what was read and gives the keys in it. A pasted text is one key.
func (d *decoder) feed(data []byte) []string {
	buf := append(d.rest, data...)
	var keys []string
	for len(buf) > 0 {
		key, n := d.next(buf)
		if n == 0 {
			break
		}
		if key != "" {
			keys = append(keys, key)
		}
		buf = buf[n:]
	}
	d.rest = bytes.Clone(buf)
	return keys
}

// next gives the first key and its length in bytes; 0 waits for more.
func (d *decoder) next(buf []byte) (string, int) {
	if d.pasting {
		at := bytes.Index(buf, []byte(pasteEnd))
		if at < 0 {
			return "", 0
		}
		d.pasting = false
		return strings.ToValidUTF8(string(buf[:at]), ""), at + len(pasteEnd)
	}
	switch c := buf[0]; {
	case c == 0x1b:
		return d.escape(buf)
	case c == '\r' || c == '\n':
		return board.Enter, 1
	case c == 0x7f || c == 0x08:
		return board.Back, 1
	case c == 0x03:
		return board.CtrlC, 1
	case c < ' ':
		return "", 1
	}
	if !utf8.FullRune(buf) {
		return "", 0
	}
	r, n := utf8.DecodeRune(buf)
	if r == utf8.RuneError {
		return "", n
	}
	return string(r), n
}

// escape reads a sequence. An escape with nothing behind it is the key itself:
// a terminal sends a sequence in one piece.
func (d *decoder) escape(buf []byte) (string, int) {
	if len(buf) == 1 {
		return board.Esc, 1
	}
	if buf[1] != '[' && buf[1] != 'O' {
		return "", 2 // Alt and a character: no key of ours
	}
	for i := 2; i < len(buf); i++ {
		if buf[i] < '@' || buf[i] > '~' {
			continue
		}
		seq := string(buf[1 : i+1])
		d.pasting = seq == pasteBegin
		return sequences[seq], i + 1
	}
	return "", 0
}
