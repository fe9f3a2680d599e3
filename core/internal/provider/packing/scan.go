package packing

import (
	"strconv"
	"strings"
)

// scanned is base64 as it stands in a text, without what breaks it.
type scanned struct {
	text   string
	chars  []byte // in the standard alphabet, without padding
	ends   []int  // ends[n]: where the first n characters end in the text
	spaces []int  // the spaces: how many characters stand before each
}

// scan reads on while there is base64 or something that breaks it: spaces, ends of lines,
// their escapes in JSON and URLs. It stops at padding and at everything else.
func scan(text string, at int) scanned {
	s := scanned{text: text, ends: []int{at}}
	for i := at; i < len(text); {
		c, n := letter(text[i:])
		switch {
		case c == ' ' && text[i] == ' ':
			s.spaces = append(s.spaces, len(s.chars))
		case c == ' ':
		case c == 0, c == '=':
			return s
		default:
			s.chars = append(s.chars, c)
			s.ends = append(s.ends, i+n)
		}
		i += n
	}
	return s
}

// letter reads one character: of base64 in the standard alphabet, '=' for padding, ' ' for what
// breaks it, 0 for what ends it; n is its length in the text.
func letter(text string) (c byte, n int) {
	c, n = text[0], 1
	switch c {
	case '%':
		if len(text) >= 3 {
			if v, err := strconv.ParseUint(text[1:3], 16, 8); err == nil {
				c, n = byte(v), 3
			}
		}
	case '\\':
		switch {
		case len(text) >= 6 && text[1] == 'u':
			if v, err := strconv.ParseUint(text[2:6], 16, 8); err == nil {
				c, n = byte(v), 6
			}
		case len(text) >= 2 && text[1] == '/':
			c, n = '/', 2
		case len(text) >= 2 && strings.IndexByte("nrt", text[1]) >= 0:
			c, n = ' ', 2
		}
	}
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '+', c == '/', c == '=':
		return c, n
	case c == '-':
		return '+', n
	case c == '_':
		return '/', n
	case c == ' ', c == '\n', c == '\r', c == '\t':
		return ' ', n
	}
	return 0, n
}

// solid is how many characters are base64 for sure, when no picture says where it ends: the
// first run, and what follows while the runs are long as lines of base64 are and words are not.
func (s scanned) solid() int {
	const line = 40
	run, n := 0, 0
	for i := range s.chars {
		if i > 0 && s.broken(i) {
			if n > 0 && run < line {
				return n
			}
			n, run = i, 0
		}
		run++
	}
	if n == 0 || run >= line {
		return len(s.chars)
	}
	return n
}

// broken tells whether something stands before character i that is none of base64.
func (s scanned) broken(i int) bool {
	between := s.text[s.ends[i]:s.ends[i+1]]
	_, n := letter(between)
	return n != len(between)
}

// withPlus reads the spaces as plus signs.
func (s scanned) withPlus() (chars []byte, ends []int) {
	chars, ends = make([]byte, 0, len(s.chars)+len(s.spaces)), make([]int, 0, len(s.ends)+len(s.spaces))
	ends = append(ends, s.ends[0])
	k := 0
	for i := 0; i <= len(s.chars); i++ {
		for ; k < len(s.spaces) && s.spaces[k] == i; k++ {
			chars, ends = append(chars, '+'), append(ends, ends[len(ends)-1]+1)
		}
		if i < len(s.chars) {
			chars, ends = append(chars, s.chars[i]), append(ends, s.ends[i+1])
		}
	}
	return chars, ends
}

// behind is the place behind the padding that may follow.
func (s scanned) behind(at int) int {
	for at < len(s.text) {
		c, n := letter(s.text[at:])
		if c != '=' {
			break
		}
		at += n
	}
	return at
}
