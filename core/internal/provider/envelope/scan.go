package envelope

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// kind says what a value is; the zero kind is a value that is not there.
type kind uint8

const (
	kindNone kind = iota
	kindNull
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

// node is a value and where it stands in the body. Nodes refer to each other by number;
// 0, which is the document itself, stands for none.
type node struct {
	start, end       int32 // the value's bytes
	keyStart, keyEnd int32 // of the member's key with its quotes; equal: an element or the document
	child, next      int32 // the first value inside, and the next one beside
	kind             kind
	escaped          bool // a string with a backslash
	keyEscaped       bool
}

// document is a body of which every value's place is known.
type document struct {
	src   []byte
	nodes []node
}

// scanner reads a body once, from its first byte to its last.
type scanner struct {
	document
	at int
}

// scan reads src, which is kept. It is as strict as httpwire.Strict: one whole document,
// no doubled keys; and bounded in depth and in values.
func scan(src []byte) (*document, error) {
	if len(src) > maxBody {
		return nil, fmt.Errorf("the body is over %d bytes", maxBody)
	}
	if !utf8.Valid(src) {
		return nil, errors.New("the body is not UTF-8")
	}
	s := scanner{document: document{src: src}}
	if bytes.HasPrefix(src, []byte("\xef\xbb\xbf")) {
		s.at = 3 // a byte order mark, which some programs on Windows write, and readers may pass over
	}
	s.blank()
	if _, err := s.value(0); err != nil {
		return nil, err
	}
	if s.blank(); s.at != len(src) {
		return nil, s.fault("something stands after the document")
	}
	return &s.document, nil
}

func (s *scanner) fault(words string) error { return fmt.Errorf("%s, at byte %d", words, s.at) }

// blank passes over white space.
func (s *scanner) blank() {
	for s.at < len(s.src) {
		switch s.src[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// value reads one value and gives its node.
func (s *scanner) value(depth int) (int32, error) {
	switch {
	case s.at == len(s.src):
		return 0, s.fault("the document ends too early")
	case depth > maxDepth:
		return 0, s.fault(fmt.Sprintf("values are nested deeper than %d", maxDepth))
	case len(s.nodes) == maxValues:
		return 0, s.fault(fmt.Sprintf("there are more than %d values", maxValues))
	}
	n := int32(len(s.nodes)) //nolint:gosec // at most maxValues
	s.nodes = append(s.nodes, node{start: s.offset()})
	var err error
	switch c := s.src[s.at]; {
	case c == '{':
		s.nodes[n].kind = kindObject
		err = s.object(n, depth)
	case c == '[':
		s.nodes[n].kind = kindArray
		err = s.array(n, depth)
	case c == '"':
		s.nodes[n].kind = kindString
		s.nodes[n].escaped, err = s.text()
	case c == '-' || c >= '0' && c <= '9':
		s.nodes[n].kind = kindNumber
		err = s.scalar()
	default:
		s.nodes[n].kind = kindBool
		if c == 'n' {
			s.nodes[n].kind = kindNull
		}
		err = s.scalar()
	}
	s.nodes[n].end = s.offset()
	return n, err
}

func (s *scanner) offset() int32 { return int32(s.at) } //nolint:gosec // at most maxBody

// text reads a string with its quotes.
func (s *scanner) text() (escaped bool, err error) {
	for s.at++; s.at < len(s.src); s.at++ {
		switch c := s.src[s.at]; {
		case c == '"':
			s.at++
			return escaped, nil
		case c < ' ':
			return false, s.fault("a string holds a control character")
		case c == '\\':
			escaped = true
			if err := s.escape(); err != nil {
				return false, err
			}
		}
	}
	return false, s.fault("the document ends inside of a string")
}

// escape passes to the last byte of a backslash and what it escapes.
func (s *scanner) escape() error {
	if s.at++; s.at == len(s.src) {
		return s.fault("the document ends inside of a string")
	}
	switch s.src[s.at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		for range 4 {
			if s.at++; s.at == len(s.src) || !bytes.ContainsRune([]byte("0123456789abcdefABCDEF"), rune(s.src[s.at])) {
				return s.fault("a string holds an escape that is none")
			}
		}
		return nil
	}
	return s.fault("a string holds an escape that is none")
}

// scalar reads a number, true, false or null: as far as such a word can go, which the
// standard library then judges.
func (s *scanner) scalar() error {
	begin := s.at
	for s.at < len(s.src) {
		c := s.src[s.at]
		if c != '-' && c != '+' && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && c != 'E' {
			break
		}
		s.at++
	}
	if word := s.src[begin:s.at]; len(word) == 0 || !json.Valid(word) {
		s.at = begin
		return s.fault("a value is expected")
	}
	return nil
}

func (s *scanner) array(n int32, depth int) error {
	last := int32(0)
	for s.at++; ; s.at++ { // over the bracket, later over the comma
		s.blank()
		if last == 0 && s.at < len(s.src) && s.src[s.at] == ']' {
			break
		}
		v, err := s.value(depth + 1)
		if err != nil {
			return err
		}
		s.chain(n, &last, v)
		s.blank()
		if s.at == len(s.src) || (s.src[s.at] != ',' && s.src[s.at] != ']') {
			return s.fault("a comma or the end of a list is expected")
		}
		if s.src[s.at] == ']' {
			break
		}
	}
	s.at++
	return nil
}

func (s *scanner) object(n int32, depth int) error {
	last := int32(0)
	for s.at++; ; s.at++ {
		s.blank()
		if last == 0 && s.at < len(s.src) && s.src[s.at] == '}' {
			break
		}
		if s.at == len(s.src) || s.src[s.at] != '"' {
			return s.fault("a key is expected")
		}
		keyStart := s.offset()
		keyEscaped, err := s.text()
		if err != nil {
			return err
		}
		keyEnd := s.offset()
		if s.blank(); s.at == len(s.src) || s.src[s.at] != ':' {
			return s.fault("a colon is expected")
		}
		s.at++
		s.blank()
		v, err := s.value(depth + 1)
		if err != nil {
			return err
		}
		s.nodes[v].keyStart, s.nodes[v].keyEnd, s.nodes[v].keyEscaped = keyStart, keyEnd, keyEscaped
		s.chain(n, &last, v)
		s.blank()
		if s.at == len(s.src) || (s.src[s.at] != ',' && s.src[s.at] != '}') {
			return s.fault("a comma or the end of an object is expected")
		}
		if s.src[s.at] == '}' {
			break
		}
	}
	s.at++
	return s.once(n)
}

func (s *scanner) chain(parent int32, last *int32, v int32) {
	if *last == 0 {
		s.nodes[parent].child = v
	} else {
		s.nodes[*last].next = v
	}
	*last = v
}

// once refuses a key that an object has twice: two readers would understand it in two ways.
func (s *scanner) once(n int32) error {
	var few [fewKeys]string
	keys, seen := few[:0], map[string]bool(nil)
	for v := s.nodes[n].child; v != 0; v = s.nodes[v].next {
		key := s.key(v)
		twice := seen[key]
		for _, k := range keys {
			twice = twice || k == key
		}
		if twice {
			return s.fault(fmt.Sprintf("the field %.40q is there twice", key))
		}
		switch {
		case seen != nil:
			seen[key] = true
		case len(keys) < fewKeys:
			keys = append(keys, key)
		default:
			seen = map[string]bool{key: true}
			for _, k := range keys {
				seen[k] = true
			}
			keys = nil
		}
	}
	return nil
}

// key gives the key of a member.
func (d *document) key(n int32) string {
	v := &d.nodes[n]
	return unquote(d.src[v.keyStart:v.keyEnd], v.keyEscaped)
}

// unquote gives the text of a string that the scanner has read.
func unquote(raw []byte, escaped bool) string {
	if len(raw) < 2 {
		return ""
	}
	if !escaped {
		return string(raw[1 : len(raw)-1])
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return "" // cannot be: the scanner has read it
	}
	return text
}
