package packing

import (
	"slices"
	"strconv"
	"strings"
)

// plain are the characters of base64 that stand for themselves.
var plain = func() (t [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		t[c] = true
	}
	return t
}()

// scanned is base64 as it stands in a text, without what breaks it.
type scanned struct {
	text   string
	chars  []byte // in the standard alphabet, without padding
	ends   []int  // ends[n]: where the first n characters end in the text
	spaces []int  // the spaces: how many characters stand before each
	breaks []int  // how many characters stand before each place that is broken, once a place
}

// scan reads on while there is base64 or something that breaks it: spaces, ends of lines,
// their escapes in JSON and URLs. It stops at padding and at everything else.
func scan(text string, at int) scanned {
	s := scanned{text: text, ends: []int{at}}
	for i := at; i < len(text); {
		if plain[text[i]] { // nearly all of it
			i++
			s.chars, s.ends = append(s.chars, text[i-1]), append(s.ends, i)
			continue
		}
		c, n := letter(text[i:])
		switch c {
		case ' ':
			if text[i] == ' ' {
				s.spaces = append(s.spaces, len(s.chars))
			}
			if at := len(s.chars); at > 0 && (len(s.breaks) == 0 || s.breaks[len(s.breaks)-1] < at) {
				s.breaks = append(s.breaks, at)
			}
		case 0, '=':
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
	case plain[c], c == '=':
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
	for i, from := range s.breaks {
		to := s.run(i + 1)
		if to-from < line {
			return from
		}
	}
	return len(s.chars)
}

// run is where run i ends, in characters.
func (s scanned) run(i int) int {
	if i < len(s.breaks) {
		return s.breaks[i]
	}
	return len(s.chars)
}

// runOf is where the run ends that holds character n.
func (s scanned) runOf(n int) int {
	i, found := slices.BinarySearch(s.breaks, n)
	if found {
		return n
	}
	return s.run(i)
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
