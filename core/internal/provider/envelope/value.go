package envelope

import (
	"encoding/json"
	"iter"
	"strconv"
)

// value is a value of a document, or one that is not there: every question may be put to
// that too.
type value struct {
	d *document
	n int32
}

func (d *document) root() value { return value{d, 0} }

func (v value) node() node {
	if v.d == nil {
		return node{}
	}
	return v.d.nodes[v.n]
}

func (v value) kind() kind { return v.node().kind }

// given reports whether a value is there and not null: most programs write null for what
// they leave out.
func (v value) given() bool { return v.kind() > kindNull }

// at gives the member of an object with a key.
func (v value) at(key string) value {
	if v.kind() == kindObject {
		for name, m := range v.members() {
			if name == key {
				return m
			}
		}
	}
	return value{}
}

// members gives an object's keys and values in order; of anything else nothing.
func (v value) members() iter.Seq2[string, value] {
	return func(yield func(string, value) bool) {
		if v.kind() != kindObject {
			return
		}
		for n := v.node().child; n != 0; n = v.d.nodes[n].next {
			if !yield(v.d.key(n), value{v.d, n}) {
				return
			}
		}
	}
}

// items gives a list's values in order; of anything else nothing.
func (v value) items() iter.Seq2[int, value] {
	return func(yield func(int, value) bool) {
		if v.kind() != kindArray {
			return
		}
		i := 0
		for n := v.node().child; n != 0; n = v.d.nodes[n].next {
			if !yield(i, value{v.d, n}) {
				return
			}
			i++
		}
	}
}

// text gives a string's text; of anything else "".
func (v value) text() string {
	n := v.node()
	if n.kind != kindString {
		return ""
	}
	return unquote(v.d.src[n.start:n.end], n.escaped)
}

// raw gives the bytes as they came; they must not be written to.
func (v value) raw() json.RawMessage {
	n := v.node()
	if n.kind == kindNone {
		return nil
	}
	return v.d.src[n.start:n.end:n.end]
}

// truth reports whether it is true.
func (v value) truth() bool { return v.kind() == kindBool && string(v.raw()) == "true" }

// whole gives a number that is whole and not negative; ok is false for anything else.
func (v value) whole() (n int, ok bool) {
	if v.kind() != kindNumber {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v.raw()), 64) // 4096.0 and 1e3 are whole numbers in JSON
	if err != nil || f < 0 || f > 1<<31 || f != float64(int(f)) {
		return 0, false
	}
	return int(f), true
}

// empty reports a value that says nothing: not there, null, false, 0, "", [] or {}.
func (v value) empty() bool {
	switch v.kind() {
	case kindNone, kindNull:
		return true
	case kindBool:
		return !v.truth()
	case kindNumber:
		n, ok := v.whole()
		return ok && n == 0
	case kindString:
		return v.text() == ""
	default:
		return v.node().child == 0
	}
}
