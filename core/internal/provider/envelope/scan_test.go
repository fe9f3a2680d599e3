package envelope

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/httpwire"
)

func TestWhatIsNoDocumentIsRefusedWithItsPlace(t *testing.T) {
	for _, c := range []struct{ body, words string }{
		{``, "ends too early, at byte 0"},
		{`{`, "a key is expected, at byte 1"},
		{`{"a"`, "a colon is expected, at byte 4"},
		{`{"a":}`, "a value is expected, at byte 5"},
		{`{"a":1`, "a comma or the end of an object is expected, at byte 6"},
		{`{"a":1,}`, "a key is expected, at byte 7"},
		{`[1,]`, "a value is expected, at byte 3"},
		{`[1 2]`, "a comma or the end of a list is expected, at byte 3"},
		{`{"a":1} {}`, "something stands after the document, at byte 8"},
		{`{"a":"x`, "ends inside of a string"},
		{`{"a":"\`, "ends inside of a string"},
		{`{"a":"\x"}`, "an escape that is none"},
		{`{"a":"\u12g4"}`, "an escape that is none"},
		{"{\"a\":\"\n\"}", "a control character"},
		{"{\"a\":\"\xff\"}", "not UTF-8"},
		{`{"a":01}`, "a value is expected"},
		{`{"a":nul}`, "a value is expected"},
		{`{"a":-}`, "a value is expected"},
		{`{"a":1,"a":2}`, `the field "a" is there twice`},
		{`{"a":1,"\u0061":2}`, `the field "a" is there twice`},
		{`{"x":[{"b":{"a":1,"c":0,"a":2}}]}`, `the field "a" is there twice`},
		{strings.Repeat("[", maxDepth+2) + strings.Repeat("]", maxDepth+2), "nested deeper than 256"},
		{"[" + strings.Repeat("0,", maxValues) + "0]", "more than 1048576 values"},
	} {
		if _, err := scan([]byte(c.body)); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%.40q: %v, want %q", c.body, err, c.words)
		}
	}
}

func TestDoubledFieldsAreFoundAmongMany(t *testing.T) {
	keys := make([]string, 3*fewKeys)
	for i := range keys {
		keys[i] = `"` + strings.Repeat("k", i+1) + `":0`
	}
	if _, err := scan([]byte("{" + strings.Join(keys, ",") + "}")); err != nil {
		t.Errorf("no key is doubled: %v", err)
	}
	for i := range keys {
		doubled := append(append([]string(nil), keys...), keys[i])
		if _, err := scan([]byte("{" + strings.Join(doubled, ",") + "}")); err == nil {
			t.Errorf("key %d is doubled, and that was not seen", i)
		}
	}
}

// drawn is any JSON document, with white space and escapes as programs write them.
func drawn() *rapid.Generator[string] {
	blank := rapid.SampledFrom([]string{"", "", "", " ", "\n\t", "\r\n  "})
	text := rapid.OneOf(
		rapid.SampledFrom([]string{`""`, `"a"`, `"\u00e9\ud83d\ude00"`, `"data:image\/png;base64,AAAA"`, `"\ud800"`, `"é\\\"\n"`}),
		rapid.Map(rapid.String(), func(s string) string { return string(encoded(s)) }),
	)
	leaf := rapid.OneOf(text, rapid.SampledFrom([]string{"null", "true", "false", "0", "-1.50", "1e3", "12345678901234567890", "1.0E+2"}))
	var node func(depth int) *rapid.Generator[string]
	node = func(depth int) *rapid.Generator[string] {
		if depth == 0 {
			return leaf
		}
		return rapid.Custom(func(t *rapid.T) string {
			b := func() string { return blank.Draw(t, "blank") }
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				parts := rapid.SliceOfN(node(depth-1), 0, 4).Draw(t, "list")
				return b() + "[" + b() + strings.Join(parts, b()+","+b()) + b() + "]" + b()
			case 1:
				var members []string
				for i, v := range rapid.SliceOfN(node(depth-1), 0, 4).Draw(t, "object") {
					members = append(members, b()+`"k\u0030`+strings.Repeat("x", i)+`"`+b()+":"+b()+v)
				}
				return b() + "{" + b() + strings.Join(members, b()+",") + b() + "}" + b()
			default:
				return leaf.Draw(t, "leaf")
			}
		})
	}
	return node(4)
}

// The scanner agrees with the standard library about what is in a document.
func TestWhatIsReadIsWhatTheStandardLibraryReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := drawn().Draw(t, "body")
		d, err := scan([]byte(body))
		if err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		var want any
		dec := json.NewDecoder(strings.NewReader(body))
		dec.UseNumber()
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		got, _ := json.Marshal(rebuilt(d.root()))
		if again, _ := json.Marshal(want); !bytes.Equal(got, again) {
			t.Fatalf("%q was read as %s, want %s", body, got, again)
		}
	})
}

// rebuilt gives a value as the standard library would.
func rebuilt(v value) any {
	switch v.kind() {
	case kindObject:
		all := map[string]any{}
		for name, m := range v.members() {
			all[name] = rebuilt(m)
		}
		return all
	case kindArray:
		all := []any{}
		for _, m := range v.items() {
			all = append(all, rebuilt(m))
		}
		return all
	case kindString:
		return v.text()
	case kindNumber:
		return json.Number(v.raw())
	case kindBool:
		return v.truth()
	default:
		return nil
	}
}

// FuzzScan holds the scanner against the house's strict reader: what one takes the other
// takes, but for the bounds and for text that is not UTF-8.
func FuzzScan(f *testing.F) {
	for _, s := range []string{`{"a":[1,2,{"b":null}],"c":"\u0041"}`, `{"a":1,"a":2}`, `[]`, `"x"`, ` 1 `, `{"a":tru}`, "\xef\xbb\xbf{}", `{"a":"\ud83d\ude00"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		_, err := scan(body)
		var v any
		strict := httpwire.Strict(body, &v)
		if err != nil && strict == nil && !strings.Contains(err.Error(), "UTF-8") && !strings.Contains(err.Error(), "deeper") && !strings.Contains(err.Error(), "more than") {
			t.Errorf("%q is refused: %v", body, err)
		}
		if err == nil && strict != nil {
			t.Errorf("%q is taken, and is %v", body, strict)
		}
	})
}
