package showing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/vision"
)

func raw(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // a test's own value
	}
	return text
}

func of(paths ...string) json.RawMessage { return raw(map[string]any{"paths": paths}) }

// show makes one call with pictures that prepare gives.
func show(t *testing.T, args json.RawMessage, prepare Prepare) Answer {
	t.Helper()
	c, refused := NewRooms().Join("job").Call(args, time.Now())
	if refused != "" {
		t.Fatal(refused)
	}
	a, err := c.Show(t.Context(), 1568, prepare)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// drawn is a picture of n bytes, 20×10 of a source of 40×20.
func drawn(name string, n int) (vision.Picture, vision.Meta) {
	return vision.Picture{Bytes: make([]byte, n), MediaType: "image/png", Width: 20, Height: 10, SHA256: "s-" + Escape(name)}, vision.Meta{
		Path: "clean/" + name, Format: "png", Source: vision.Size{Width: 40, Height: 20}, Sent: vision.Size{Width: 20, Height: 10},
		Scale: vision.Scale{X: 2, Y: 2}, MediaType: "image/png", Bytes: n, SHA256: "s-" + Escape(name), ApproxTokens: 1,
	}
}

func fine(_ context.Context, name string, _ *vision.Region, _ int) (vision.Picture, vision.Meta, error) {
	p, m := drawn(name, 5)
	return p, m, nil
}

func TestTheAnswerIsTheJSONOfTheContract(t *testing.T) {
	t.Parallel()
	a := show(t, of("gone.png", "b.png"), func(ctx context.Context, name string, r *vision.Region, edge int) (vision.Picture, vision.Meta, error) {
		if name == "gone.png" {
			return vision.Picture{}, vision.Meta{}, &refusal{"not_found", "there is no file"}
		}
		p, m, err := fine(ctx, name, r, edge)
		m.Crop = &vision.Region{X: 1, Y: 2, Width: 3, Height: 4}
		return p, m, err
	})
	want := `{"images":[{"path":"gone.png","error":{"code":"not_found","message":"there is no file"}},` +
		`{"index":0,"format":"png","source":{"width":40,"height":20},"sent":{"width":20,"height":10},"crop":{"x":1,"y":2,"width":3,"height":4},` +
		`"scale":{"x":2,"y":2},"mediaType":"image/png","bytes":5,"sha256":"s-b.png","approxTokens":1,"notes":[],"path":"b.png"}]}`
	if d := cmp.Diff(want, a.Text); d != "" {
		t.Error(d)
	}
	if a.Failed || len(a.Shown) != 1 || a.Shown[0].At != 1 || a.Shown[0].Path != "b.png" {
		t.Errorf("%+v", a)
	}
}

func TestTheEdgeIsTheCallsOrTheSetOne(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]int{`{"paths":["a"]}`: 1568, `{"paths":["a"],"maxEdge":256}`: 256} {
		show(t, json.RawMessage(args), func(ctx context.Context, name string, r *vision.Region, edge int) (vision.Picture, vision.Meta, error) {
			if edge != want {
				t.Errorf("%s: %d", args, edge)
			}
			return fine(ctx, name, r, edge)
		})
	}
}

// P90.
func TestTheSamePathIsPreparedOnceAndShownEachTime(t *testing.T) {
	t.Parallel()
	var times atomic.Int32
	a := show(t, of("a", "b", "a", "a"), func(ctx context.Context, name string, r *vision.Region, edge int) (vision.Picture, vision.Meta, error) {
		times.Add(1)
		return fine(ctx, name, r, edge)
	})
	var at []int
	for i, s := range a.Shown {
		at = append(at, s.At)
		if s.Meta.Index != i {
			t.Errorf("picture %d has the index %d", i, s.Meta.Index)
		}
	}
	if times.Load() != 2 || !slices.Equal(at, []int{0, 1, 2, 3}) {
		t.Errorf("prepared %d times, shown %v", times.Load(), at)
	}
}

// P101, the sum: what does not fit is named, what fits is shown.
func TestTwelveMebibytesACall(t *testing.T) {
	t.Parallel()
	sizes := map[string]int{"a": BytesPerCall / 2, "b": BytesPerCall/2 - 10, "c": 11, "d": 10}
	a := show(t, of("a", "b", "c", "d"), func(_ context.Context, name string, _ *vision.Region, _ int) (vision.Picture, vision.Meta, error) {
		p, m := drawn(name, sizes[name])
		return p, m, nil
	})
	var shown []string
	for _, s := range a.Shown {
		shown = append(shown, s.Path)
	}
	if !slices.Equal(shown, []string{"a", "b", "d"}) || !strings.Contains(a.Text, `{"path":"c","error":{"code":"busy","message":"left out: `) {
		t.Errorf("%v %s", shown, a.Text)
	}
}

// P101, the minute.
func TestThirtyCallsAMinuteAnAgent(t *testing.T) {
	t.Parallel()
	rooms, start := NewRooms(), time.Now()
	a, other := rooms.Join("job"), rooms.Join("job")
	for i := range CallsPerMinute {
		if _, no := a.Call(of("a"), start.Add(time.Duration(i)*time.Second)); no != "" {
			t.Fatalf("call %d: %s", i, no)
		}
	}
	if _, no := a.Call(of("a"), start.Add(30*time.Second)); !strings.HasPrefix(no, "busy: at most 30 calls a minute; wait 30 seconds") {
		t.Error(no)
	}
	if _, no := other.Call(of("a"), start.Add(30*time.Second)); no != "" {
		t.Errorf("another agent is kept from its call: %s", no)
	}
	if _, no := a.Call(of("a"), start.Add(time.Minute+time.Millisecond)); no != "" {
		t.Errorf("a minute later: %s", no)
	}
}

// P90, P94, P99.
func TestArgumentsThatDoNotFitAreRefusedInWordsAndNotCounted(t *testing.T) {
	t.Parallel()
	a := NewRooms().Join("job")
	for _, args := range []string{
		`{}`, `null`, `[]`, `{"paths":[]}`, `{"paths":["a","b","c","d","e"]}`, `{"paths":[""]}`, `{"paths":"a"}`, `{"paths":[1]}`, `{"paths":null}`,
		`{"paths":["a"],"maxEdge":255}`, `{"paths":["a"],"maxEdge":2577}`, `{"paths":["a"],"maxEdge":0}`, `{"paths":["a"],"maxEdge":-1}`, `{"paths":["a"],"maxEdge":1e9}`,
		`{"paths":["a"],"maxEdge":300.7}`, `{"paths":["a"],"maxEdge":"300"}`, `{"paths":["a"],"maxEdge":null}`, `{"paths":["a"],"key":"k"}`, `{"paths":["a"],"Paths":["b"]}`,
		`{"paths":["a"],"region":{"x":NaN,"y":0,"width":1,"height":1}}`, `{"paths":["a"],"region":{"x":0,"y":0,"width":1e308,"height":1}}`,
		`{"paths":["a"],"region":{"x":1.5,"y":0,"width":1,"height":1}}`, `{"paths":["a"],"region":{"x":"10","y":0,"width":1,"height":1}}`,
		`{"paths":["a"],"region":{"x":null,"y":0,"width":1,"height":1}}`, `{"paths":["a"],"region":{"x":0,"y":0,"width":1}}`, `{"paths":["a"],"region":[0,0,1,1]}`,
	} {
		if _, no := a.Call(json.RawMessage(args), time.Now()); no == "" || strings.HasPrefix(no, "busy") {
			t.Errorf("%s: %q", args, no)
		}
	}
	if len(a.calls) != 0 {
		t.Errorf("%d were counted", len(a.calls))
	}
}

// P87.
func TestNamesAreSaidAgainInSafety(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"shots/a b.png": "shots/a b.png", `dir\a.png`: `dir\a.png`, "bild ü 図.png": "bild ü 図.png", "a\nb": `a\nb`, "a\x00\x1b[2Jb": `a\x00\x1b[2Jb`,
		"gnp.\u202eexe": `gnp.\u202eexe`, "a\xff\\b": `a\xff\\b`, "\u2028\u00a0": `\u2028\u00a0`, "\u2066a\U000e0041": `\u2066a\U000e0041`, "\ufffd": "\ufffd",
	} {
		if got := Escape(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
	a := show(t, of("a\u202e.png", "b\n.png"), func(ctx context.Context, name string, r *vision.Region, edge int) (vision.Picture, vision.Meta, error) {
		if name == "b\n.png" {
			return vision.Picture{}, vision.Meta{}, fmt.Errorf("open %s: input/output error", name)
		}
		return fine(ctx, name, r, edge)
	})
	if strings.ContainsRune(a.Text, '\u202e') || !strings.Contains(a.Text, `"path":"a\\u202e.png"`) || !strings.Contains(a.Text, `open b\\n.png: input/output error`) {
		t.Error(a.Text)
	}
}

// P101: at the deadline those that wait are told so, those under way that it took too long.
func TestAtTheDeadlineEachPathSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := show(t, of("a", "b", "c"), func(ctx context.Context, _ string, _ *vision.Region, _ int) (vision.Picture, vision.Meta, error) {
			<-ctx.Done()
			return vision.Picture{}, vision.Meta{}, fmt.Errorf("prepare: %w", ctx.Err())
		})
		if !a.Failed || strings.Count(a.Text, `"timeout"`) < AtOnce || strings.Count(a.Text, `"code"`) != 3 {
			t.Error(a.Text)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		rooms := NewRooms()
		busy, late := rooms.Join("job"), rooms.Join("job")
		for range AtOnce {
			take(t, busy, func() {})
		}
		c, _ := late.Call(of("a"), time.Now())
		start := time.Now()
		a, err := c.Show(t.Context(), 1568, fine)
		if err != nil || !a.Failed || !strings.Contains(a.Text, `"busy"`) || time.Since(start) != TimePerCall {
			t.Errorf("after %v: %v %s", time.Since(start), err, a.Text)
		}
	})
}

func TestACallThatIsCancelledEndsAtOnceAndWaitsForItsWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var under sync.WaitGroup
		started := make(chan struct{}, PerCall)
		c, _ := NewRooms().Join("job").Call(of("a", "b", "c"), time.Now())
		var running atomic.Int32
		under.Go(func() {
			_, err := c.Show(ctx, 1568, func(ctx context.Context, _ string, _ *vision.Region, _ int) (vision.Picture, vision.Meta, error) {
				running.Add(1)
				defer running.Add(-1)
				started <- struct{}{}
				<-ctx.Done()
				return vision.Picture{}, vision.Meta{}, ctx.Err()
			})
			if !errors.Is(err, context.Canceled) || running.Load() != 0 {
				t.Errorf("%v, %d still run", err, running.Load())
			}
		})
		<-started
		cancel()
		under.Wait()
	})
}
