package secret

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestASecretIsNeverPrinted(t *testing.T) {
	const text = "hunter2"
	v := New(text)
	holder := struct {
		Key  Value
		Keys []Value
		By   map[string]Value
		At   *Value
		own  Value
		more []Value
	}{v, []Value{v}, map[string]Value{"a": v}, &v, v, []Value{v}}
	for verb := range strings.FieldsSeq("%v %+v %#v %s %q %x %X %d %t %T %10s %-10v %.3s %p %c %U %e %b %o %w") {
		for _, what := range []any{v, &v, holder, &holder, []any{v}} {
			got := fmt.Sprintf(verb, what)
			for _, leak := range []string{text, "68756e7465723", "68756E7465723", "hun", "0x68"} {
				if strings.Contains(got, leak) {
					t.Errorf("%s of %T shows %q", verb, what, got)
				}
			}
		}
	}
	for _, got := range []string{fmt.Sprint(v), v.String(), fmt.Errorf("key %v: %w", v, errors.New("x")).Error(), fmt.Sprintf("%s", v)} {
		if !strings.Contains(got, mask) {
			t.Errorf("%q", got)
		}
	}
	out, err := json.Marshal(holder)
	if err != nil || strings.Contains(string(out), text) || strings.Count(string(out), mask) != 4 {
		t.Errorf("%s %v", out, err)
	}
}

func TestOnlyRevealGivesItOut(t *testing.T) {
	if v := New("x"); v.Reveal() != "x" || v.Empty() {
		t.Error("not what was wrapped")
	}
	if v := (Value{}); v.Reveal() != "" || !v.Empty() || v.String() != mask {
		t.Error("the zero value is empty, and does not say so to a reader of logs")
	}
}
