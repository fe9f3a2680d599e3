package tool

import (
	"encoding/json"
	"strings"
	"testing"
)

const testSchema = `{"type":"object","additionalProperties":false,"required":["path"],"properties":{
"path":{"type":"string","minLength":1},"limit":{"type":"integer","minimum":1,"maximum":10},"deep":{"type":"boolean"},
"kind":{"type":"string","enum":["a","b"]},"list":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string"}},
"region":{"type":"object","additionalProperties":false,"required":["x"],"properties":{"x":{"type":"integer"}}}}}`

func TestCheckNamesEveryFault(t *testing.T) {
	rows := []struct{ args, want, why string }{
		{`{"path":"a"}`, "", "the least that fits"},
		{`{"path":"a","limit":10,"deep":true,"kind":"b","list":["x"],"region":{"x":-3}}`, "", "everything"},
		{``, "path is missing", "no arguments at all"},
		{`{}`, "path is missing; pass a string", "a required one is not there"},
		{`{"path":""}`, "path is empty", "an empty one is as good as none"},
		{`{"path":1}`, "path is 1; pass a string", "no number for a string"},
		{`{"Path":"a"}`, "Path is not known here", "names are exact"},
		{`{"path":"a","colour":1}`, "colour is not known here; pass path, deep, kind, limit", "unknown names list the known"},
		{`{"path":"a","limit":"10"}`, `limit is "10"; pass a whole number from 1 to 10`, "no string for a number"},
		{`{"path":"a","limit":1.5}`, "limit is 1.5", "no fraction"},
		{`{"path":"a","limit":1e1}`, "limit is 1e1", "no exponent"},
		{`{"path":"a","limit":11}`, "limit is 11", "over the top"},
		{`{"path":"a","limit":99999999999999999999}`, "limit is 9", "does not fit"},
		{`{"path":"a","limit":null}`, "limit is null", "null is not absent"},
		{`{"path":1,"list":null}`, "path is 1", "null for an optional list is no fault of its own"},
		{`{"path":"a","limit":NaN}`, "not valid JSON", "not JSON"},
		{`{"path":"a"} {}`, "not valid JSON", "one object only"},
		{`["a"]`, "the whole is", "a list is no object"},
		{`{"path":"a","kind":"c"}`, "one of a, b", "an enum lists its words"},
		{`{"path":"a","list":[]}`, "list has 0 entries", "too few"},
		{`{"path":"a","list":["a","b","c"]}`, "list has 3 entries", "too many"},
		{`{"path":"a","list":["a",2]}`, "list[1] is 2", "the entry is named"},
		{`{"path":"a","region":{"x":"1","y":2}}`, "region.y is not known", "nested names are whole"},
	}
	for _, r := range rows {
		got := strings.Join(Check(json.RawMessage(testSchema), json.RawMessage(r.args)), "\n")
		if r.want == "" && got != "" || !strings.Contains(got, r.want) {
			t.Errorf("%s: Check(%s) = %q, want %q", r.why, r.args, got, r.want)
		}
	}
}

func FuzzCheckNeverPanicsAndFittingArgumentsDecode(f *testing.F) {
	f.Add(`{"path":"a","limit":1}`)
	f.Add(`{"path":"a","region":{"x":1}}`)
	f.Add(`[null]`)
	f.Fuzz(func(t *testing.T, args string) {
		if len(Check(json.RawMessage(testSchema), json.RawMessage(args))) > 0 {
			return
		}
		var v struct {
			Path   string
			Limit  int
			Deep   bool
			Kind   string
			List   []string
			Region *struct{ X int }
		}
		if err := json.Unmarshal([]byte(args), &v); err != nil && args != "" && strings.TrimSpace(args) != "" {
			t.Fatalf("%q fits but does not decode: %v", args, err)
		}
	})
}
