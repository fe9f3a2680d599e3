package job

import (
	"encoding/json"
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
		for _, f := range v.Fields() {
			fill(f)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case reflect.String:
		v.SetString("<\"ü\u2028\x1b" + v.Type().Name())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1<<40 + 7)
	case reflect.Uint8:
		v.SetUint(uint64(vision.Blind))
	case reflect.Float64:
		v.SetFloat(0.1)
	default:
		panic("fill does not know " + v.Kind().String())
	}
}

func filled(k Kind) any {
	body := bodies[k]()
	fill(reflect.ValueOf(body).Elem())
	return body
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 123456789, time.UTC)

func TestEveryKindIsFlatInJSONAndComesBack(t *testing.T) {
	heads := keys(t, Event{Task: "t", Attempt: "a", Worker: "w", Model: "m"})
	for k := range bodies {
		t.Run(string(k), func(t *testing.T) {
			for _, body := range []any{filled(k), bodies[k]()} {
				want := Event{Seq: 7, Time: noon, Job: "j", Kind: k, Task: "t", Attempt: "a", Worker: "w", Model: "m", Body: body}
				text, err := json.Marshal(want)
				if err != nil {
					t.Fatal(err)
				}
				var got Event
				if err := json.Unmarshal(text, &got); err != nil {
					t.Fatalf("%v in %s", err, text)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("it came back otherwise (-sent +got):\n%s", diff)
				}
				if strings.Contains(string(text), `"body"`) || strings.Contains(string(text), `"Body"`) {
					t.Errorf("not flat: %s", text)
				}
			}
			for name := range keys(t, bodies[k]()) {
				if _, twice := heads[name]; twice {
					t.Errorf("the body's %q hides the header's", name)
				}
			}
		})
	}
}

// keys gives the names of an object's fields.
func keys(t *testing.T, v any) map[string]json.RawMessage {
	t.Helper()
	if rv := reflect.ValueOf(v); rv.Kind() == reflect.Pointer {
		fill(rv.Elem()) // so that omitempty leaves nothing out
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]json.RawMessage
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEveryNamedKindHasABody(t *testing.T) {
	for _, k := range []Kind{
		KindSubmitted, KindPlanned, KindJobStatus, KindFinished, KindApplied, KindTaskAdded, KindRouted, KindTaskWaiting, KindEscalated,
		KindTaskStatus, KindMerged, KindStarted, KindStep, KindLook, KindUsage, KindCheck, KindAttemptFinished, KindVerdict, KindNotice,
	} {
		if bodies[k] == nil {
			t.Errorf("%s has no body type", k)
		}
	}
}

func TestTimesAreWrittenInUTC(t *testing.T) {
	e := Event{Seq: 1, Time: noon.In(time.FixedZone("far", 9*3600)), Job: "j", Kind: KindNotice, Body: &Notice{Level: "info", Words: "x"}}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"seq":1,"time":"2026-11-30T12:00:00.123456789Z","job":"j","kind":"notice","level":"info","words":"x"}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestUnknownCostIsNullAndNeverZero(t *testing.T) {
	text, err := json.Marshal(Event{Kind: KindUsage, Body: &UsageBody{Outcome: "busy"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"cost":null`, `"tokensIn":null`, `"tokensOut":null`, `"tokensCached":null`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}

func TestAKindOfALaterVersionSurvives(t *testing.T) {
	var e Event
	if err := json.Unmarshal([]byte(`{"seq":2,"time":"2026-11-30T12:00:00Z","job":"j","kind":"task.sung","task":"t","song":["la"]}`), &e); err != nil {
		t.Fatal(err)
	}
	if e.Kind != "task.sung" || e.Seq != 2 || e.Task != "t" || e.Body != nil {
		t.Errorf("%+v", e)
	}
	text, err := json.Marshal(e)
	if err != nil || !strings.Contains(string(text), `"kind":"task.sung"`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestFieldsOfALaterVersionAreReadOver(t *testing.T) {
	var e Event
	if err := json.Unmarshal([]byte(`{"seq":1,"kind":"notice","level":"warn","words":"w","volume":11}`), &e); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Notice{Level: "warn", Words: "w"}, e.Body); diff != "" {
		t.Error(diff)
	}
}

func TestDamagedEventsAreErrors(t *testing.T) {
	for _, text := range []string{``, `[]`, `{"seq":"one"}`, `{"seq":1,"kind":"notice","level":7}`, `{"seq":1,"kind":"task.routed","sight":"perhaps"}`} {
		var e Event
		if err := e.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%q was read as %+v", text, e)
		}
	}
	if _, err := json.Marshal(Event{Kind: "odd", Body: []int{1}}); err == nil {
		t.Error("a body that is no object was written")
	}
}
