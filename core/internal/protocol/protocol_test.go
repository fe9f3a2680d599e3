package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/vision"
)

// fill sets every field that v reaches to something that is not its zero value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 11, 30, 12, 0, 0, 5, time.UTC)))
			return
		}
		for _, f := range v.Fields() {
			fill(f)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"a":1}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"k": "v"}))
	case reflect.String:
		v.SetString("<\"ü" + v.Type().Name())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1<<33 + 7)
	case reflect.Uint8:
		v.SetUint(uint64(vision.Blind))
	case reflect.Float64:
		v.SetFloat(0.1)
	case reflect.Interface: // an event's body; the events' own tests fill it
	default:
		panic("fill does not know " + v.Kind().String())
	}
}

var documents = []any{
	&Error{}, &Attachment{}, &Submit{}, &Accepted{}, &Ref{}, &Resolved{}, &JobList{}, &EventsQuery{}, &EventPage{}, &JobDoc{}, &WhyList{}, &DiffDoc{},
	&ApplyDoc{}, &CostsQuery{}, &CostsDoc{}, &ModelsDoc{}, &StatusDoc{}, &BlobChunk{}, &BlobQuery{}, &CancelQuery{}, &Empty{},
	&Hold{}, &Hello{}, &Welcome{}, &Assignment{}, &Report{}, &Finish{}, &Received{}, &Ask{}, &Order{},
}

func TestEveryDocumentComesBackAsItWas(t *testing.T) {
	for _, doc := range documents {
		typ := reflect.TypeOf(doc).Elem()
		t.Run(typ.Name(), func(t *testing.T) {
			for _, full := range []bool{false, true} {
				want := reflect.New(typ)
				if full {
					fill(want.Elem())
					blank(want.Elem())
				}
				text, err := json.Marshal(want.Interface())
				if err != nil {
					t.Fatal(err)
				}
				got := reflect.New(typ)
				if err := json.Unmarshal(text, got.Interface()); err != nil {
					t.Fatalf("%v in %s", err, text)
				}
				if diff := cmp.Diff(want.Interface(), got.Interface()); diff != "" {
					t.Errorf("(-sent +got):\n%s", diff)
				}
			}
		})
	}
}

// blank empties what never travels in JSON: the bytes of pictures.
func blank(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			blank(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			blank(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[vision.Picture]() {
			v.FieldByName("Bytes").SetBytes(nil)
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				blank(v.Field(i))
			}
		}
	default:
	}
}

func TestKeysAreCamelCase(t *testing.T) {
	for _, doc := range documents {
		v := reflect.New(reflect.TypeOf(doc).Elem())
		fill(v.Elem())
		text, err := json.Marshal(v.Interface())
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		for name := range fields {
			if name == "" || strings.ContainsAny(name, "_- ") || name[0] < 'a' || name[0] > 'z' {
				t.Errorf("%T has the key %q", doc, name)
			}
		}
	}
}

func TestUnknownMoneyIsNullAndNeverZero(t *testing.T) {
	for _, doc := range []any{JobLine{}, JobDoc{}, AttemptDoc{}, CostRow{}, CostsDoc{}} {
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), `"cost":null`) && !strings.Contains(string(text), `"total":null`) {
			t.Errorf("%T: %s", doc, text)
		}
	}
}

func TestAnErrorIsItsMessage(t *testing.T) {
	err := fmt.Errorf("call: %w", &Error{Code: CodeKey, Message: "no key", Hint: "set it"})
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != CodeKey || err.Error() != "call: no key" {
		t.Errorf("%v", err)
	}
	text, merr := json.Marshal(&Error{Code: "x", Message: "m"})
	if merr != nil || string(text) != `{"code":"x","message":"m","retryable":false}` {
		t.Errorf("%s %v", text, merr)
	}
}
