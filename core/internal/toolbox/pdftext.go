package toolbox

import (
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// font turns the codes of a string into characters.
type font struct {
	wide  bool           // codes of two bytes
	chars map[int]string // what the font says of itself; nil: it says nothing
	sets  int            // how often a code was set: a table may say the same for ever
}

const (
	maxSets  = 1 << 18 // there are 65,536 codes; a table that sets more is not one
	maxUnits = 64      // bytes of what one code shows: ligatures are short
)

// learn reads a ToUnicode table (ISO 32000-1, 9.10.3): lists between
// beginbfchar and endbfchar, beginbfrange and endbfrange.
func (f *font) learn(table []byte) {
	l := lexer{data: table}
	var args []any
	f.chars = map[int]string{}
	for l.at < len(table) {
		before := l.at
		v := l.value(0)
		if l.at == before {
			l.at++
		}
		k, isWord := v.(keyword)
		if !isWord {
			args = append(args, v)
			continue
		}
		switch k {
		case "endcodespacerange":
			if code, ok := last(args).([]byte); ok {
				f.wide = len(code) == 2
			}
		case "endbfchar":
			for i := 0; i+1 < len(args); i += 2 {
				f.set(code(args[i]), args[i+1], 0)
			}
		case "endbfrange":
			for i := 0; i+2 < len(args); i += 3 {
				f.setRange(code(args[i]), code(args[i+1]), args[i+2])
			}
		}
		args = nil
	}
}

func (f *font) setRange(from, to int, target any) {
	list, isList := target.([]any)
	if isList {
		to = min(to, from+len(list)-1)
	}
	for c := from; c <= to && f.sets < maxSets; c++ {
		if isList {
			f.set(c, list[c-from], 0)
		} else {
			f.set(c, target, c-from)
		}
	}
}

// set says that a code shows the UTF-16 of target, its last unit raised by plus.
func (f *font) set(code int, target any, plus int) {
	raw, ok := target.([]byte)
	if f.sets++; !ok || len(raw) < 2 || len(raw) > maxUnits || code < 0 || f.sets > maxSets {
		return
	}
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = uint16(raw[2*i])<<8 | uint16(raw[2*i+1])
	}
	units[len(units)-1] += uint16(plus & 0xffff)
	f.chars[code] = string(utf16.Decode(units))
}

func code(v any) int {
	raw, ok := v.([]byte)
	if !ok || len(raw) == 0 || len(raw) > 2 {
		return -1
	}
	n := 0
	for _, b := range raw {
		n = n<<8 | int(b)
	}
	return n
}

func last(args []any) any {
	if len(args) == 0 {
		return nil
	}
	return args[len(args)-1]
}

// windows are the characters of WinAnsi between 0x80 and 0x9f; the rest is Latin-1.
var windows = []rune("€•‚ƒ„…†‡ˆ‰Š‹Œ•Ž••‘’“”•–—˜™š›œ•žŸ")

func (f *font) decode(raw []byte) string {
	var out strings.Builder
	size := 1
	if f != nil && f.wide {
		size = 2
	}
	for i := 0; i+size <= len(raw); i += size {
		n := code(raw[i : i+size])
		switch {
		case f != nil && f.chars[n] != "":
			out.WriteString(f.chars[n])
		case size == 2:
			out.WriteRune(utf8.RuneError)
		case n >= 0x80 && n < 0xa0:
			out.WriteRune(windows[n-0x80])
		case n >= ' ' || n == '\t':
			out.WriteRune(rune(raw[i]))
		}
	}
	return clean([]byte(out.String()))
}

// writer follows the operators of a page that show and place text (9.4).
type writer struct {
	out   *strings.Builder
	fonts map[name]*font
	font  *font
	y     float64
	fresh bool // a line was just begun
}

func (w *writer) run(content []byte) {
	l := lexer{data: content}
	var args []any
	for l.at < len(content) && w.out.Len() < maxPDFText {
		before := l.at
		v := l.value(0)
		if l.at == before {
			l.at++
		}
		if op, ok := v.(keyword); ok {
			w.do(op, args)
			args = args[:0]
			continue
		}
		args = append(args, v)
	}
	w.newLine()
}

func (w *writer) do(op keyword, args []any) {
	switch op {
	case "Tf":
		if len(args) == 2 {
			n, _ := args[0].(name)
			w.font = w.fonts[n]
		}
	case "Tj":
		w.show(last(args))
	case "'", "\"":
		w.newLine()
		w.show(last(args))
	case "TJ":
		list, _ := last(args).([]any)
		for _, v := range list {
			if n, ok := v.(float64); ok && n < -180 { // thousandths of the font's size: a gap as wide as a space
				w.space()
			}
			w.show(v)
		}
	case "T*":
		w.newLine()
	case "Td", "TD":
		if dy, ok := last(args).(float64); ok && math.Abs(dy) > 0.5 {
			w.newLine()
		} else {
			w.space()
		}
	case "Tm":
		if y, ok := last(args).(float64); ok && math.Abs(y-w.y) > 0.5 {
			w.newLine()
			w.y = y
		} else {
			w.space()
		}
	}
}

func (w *writer) show(v any) {
	if raw, ok := v.([]byte); ok {
		text := w.font.decode(raw)
		w.out.WriteString(text)
		w.fresh = w.fresh && text == ""
	}
}

func (w *writer) newLine() {
	if !w.fresh {
		w.out.WriteByte('\n')
		w.fresh = true
	}
}

func (w *writer) space() {
	if s := w.out.String(); !w.fresh && !strings.HasSuffix(s, " ") {
		w.out.WriteByte(' ')
	}
}
