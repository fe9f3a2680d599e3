package toolbox

import (
	"bytes"
	"encoding/hex"
	"strconv"
)

// The values of a PDF (ISO 32000-1, 7.3). A number is a float64, a string a
// []byte, an array a []any, true and null are keywords.
type (
	name       string
	keyword    string
	reference  int
	dictionary map[name]any
)

// lexer reads values one after another. At the end, and where a closing bracket
// stands that nobody opened, it gives nil.
type lexer struct {
	data []byte
	at   int
}

const delimiters = "()<>[]{}/% \t\r\n\f\x00"

func (l *lexer) skip() {
	for l.at < len(l.data) {
		switch c := l.data[l.at]; {
		case c == '%':
			for l.at < len(l.data) && l.data[l.at] != '\n' && l.data[l.at] != '\r' {
				l.at++
			}
		case bytes.IndexByte([]byte(" \t\r\n\f\x00"), c) >= 0:
			l.at++
		default:
			return
		}
	}
}

func (l *lexer) word() string {
	start := l.at
	for l.at < len(l.data) && bytes.IndexByte([]byte(delimiters), l.data[l.at]) < 0 {
		l.at++
	}
	return string(l.data[start:l.at])
}

func (l *lexer) value(depth int) any {
	l.skip()
	if l.at >= len(l.data) || depth > maxNesting {
		l.at = len(l.data)
		return nil
	}
	switch c := l.data[l.at]; {
	case c == '/':
		l.at++
		return name(l.word())
	case c == '(':
		return l.literal()
	case bytes.HasPrefix(l.data[l.at:], []byte("<<")):
		l.at += 2
		return l.dictionary(depth)
	case c == '<':
		return l.hex()
	case c == '[':
		l.at++
		return l.array(depth)
	case bytes.IndexByte([]byte(delimiters), c) >= 0:
		return nil // a closing one: whoever opened it steps over it
	}
	return l.numberOrWord()
}

// numberOrWord reads a number, a reference (12 0 R) or a keyword.
func (l *lexer) numberOrWord() any {
	w := l.word()
	n, err := strconv.ParseFloat(w, 64)
	if err != nil {
		return keyword(w)
	}
	after := lexer{data: l.data, at: l.at}
	after.skip()
	if g := after.word(); len(g) == 0 || len(g) > 5 || g[0] < '0' || g[0] > '9' {
		return n
	}
	after.skip()
	if after.word() == "R" && n >= 0 && n < 1e7 {
		l.at = after.at
		return reference(int(n))
	}
	return n
}

func (l *lexer) array(depth int) []any {
	list := []any{}
	for {
		l.skip()
		if l.at >= len(l.data) {
			return list
		}
		if l.data[l.at] == ']' {
			l.at++
			return list
		}
		before := l.at
		list = append(list, l.value(depth+1))
		if l.at == before {
			l.at++ // something that does not belong here
		}
	}
}

func (l *lexer) dictionary(depth int) dictionary {
	dict := dictionary{}
	for {
		l.skip()
		switch {
		case l.at >= len(l.data):
			return dict
		case bytes.HasPrefix(l.data[l.at:], []byte(">>")):
			l.at += 2
			return dict
		}
		before := l.at
		if key, ok := l.value(depth + 1).(name); ok {
			dict[key] = l.value(depth + 1)
		}
		if l.at == before {
			l.at++
		}
	}
}

// literal reads (a string) with its escapes.
func (l *lexer) literal() []byte {
	out, open := []byte{}, 0
	for ; l.at < len(l.data); l.at++ {
		switch c := l.data[l.at]; c {
		case '(':
			if open++; open > 1 {
				out = append(out, c)
			}
		case ')':
			if open--; open == 0 {
				l.at++
				return out
			}
			out = append(out, c)
		case '\\':
			out = l.escape(out)
		default:
			out = append(out, c)
		}
	}
	return out
}

var escaped = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f'}

// escape reads what follows a backslash, and leaves at on its last byte.
func (l *lexer) escape(out []byte) []byte {
	if l.at+1 >= len(l.data) {
		return out
	}
	l.at++
	c := l.data[l.at]
	if plain, ok := escaped[c]; ok {
		return append(out, plain)
	}
	if c == '\n' || c == '\r' {
		return out // a line that goes on
	}
	end := l.at
	for end < len(l.data) && end < l.at+3 && l.data[end] >= '0' && l.data[end] <= '7' {
		end++
	}
	if end == l.at {
		return append(out, c)
	}
	n, _ := strconv.ParseUint(string(l.data[l.at:end]), 8, 16) // three octal digits fit
	l.at = end - 1
	return append(out, byte(n&0xff)) // a high bit is ignored (7.3.4.2)
}

// hex reads <68 65 78>.
func (l *lexer) hex() []byte {
	end := bytes.IndexByte(l.data[l.at:], '>')
	if end < 0 {
		end = len(l.data) - l.at
	}
	var digits []byte
	for _, c := range l.data[l.at+1 : l.at+end] {
		if bytes.IndexByte([]byte("0123456789abcdefABCDEF"), c) >= 0 {
			digits = append(digits, c)
		}
	}
	l.at = min(l.at+end+1, len(l.data))
	if len(digits)%2 == 1 {
		digits = append(digits, '0')
	}
	out := make([]byte, len(digits)/2)
	if _, err := hex.Decode(out, digits); err != nil {
		return nil
	}
	return out
}
