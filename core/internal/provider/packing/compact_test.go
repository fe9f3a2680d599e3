package packing

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/provider"
)

// talk is a job of n rounds, each with a picture and so many bytes of text.
func talk(n, bytes int) []provider.Message {
	out := []provider.Message{user(provider.Text("Make it so."), provider.Show(shown("reference")))}
	for i := range n {
		out = append(out, round(i, strings.Repeat("ü", bytes/2), shown(fmt.Sprint(i)))...)
	}
	return out
}

func TestCompactTakesPicturesFirst(t *testing.T) {
	messages := talk(8, 10_000)
	whole := Weigh(messages, Saying{})
	for _, c := range []struct {
		why               string
		room              int
		pictures, results int
		over              bool
	}{
		{"no room is known", 0, 0, 0, false},
		{"there is room", whole, 0, 0, false},
		{"a little too much", whole - 1, 6, 1, false},
		{"much too much", whole / 2, 6, 6, false},
		{"nothing helps", 1000, 6, 6, true},
	} {
		got, report := Compact(messages, c.room, Saying{})
		if report.Before != whole || report.Pictures != c.pictures || report.Results != c.results || report.Over != c.over {
			t.Errorf("%s: %+v", c.why, report)
		}
		if report.After != Weigh(got, Saying{}) {
			t.Errorf("%s: it says %d and weighs %d", c.why, report.After, Weigh(got, Saying{}))
		}
	}
}

func TestCompactSaysWhatItTook(t *testing.T) {
	say := Saying{Line: func(p provider.Picture) string { return "[words for " + p.View.ID + "]" }}
	got, _ := Compact(talk(8, 10_000), 30_000, say)
	first := got[2].Parts[0].Result
	if !strings.Contains(first.Text, "bytes of this older result are left out") || !strings.HasSuffix(first.Text, "\n[words for 0]") || len(first.Pictures) != 0 {
		t.Errorf("%.200q … %q", first.Text, first.Text[len(first.Text)-100:])
	}
	if !utf8.ValidString(first.Text) || len(first.Text) > headKept+tailKept+200 {
		t.Errorf("%d bytes, or half a letter", len(first.Text))
	}
}

// paired tells whether each call has its result and all else is in its place.
func paired(t *rapid.T, was, is []provider.Message) {
	if len(was) != len(is) {
		t.Fatalf("%d messages became %d", len(was), len(is))
	}
	for i := range was {
		if was[i].Role != is[i].Role || len(was[i].Parts) != len(is[i].Parts) {
			t.Fatalf("message %d has another shape", i)
		}
		for k, p := range was[i].Parts {
			q := is[i].Parts[k]
			if p.Result == nil {
				if diff := cmp.Diff(p, q); diff != "" {
					t.Fatalf("what is no result changed: %s", diff)
				}
			} else if q.Result == nil || q.Result.ID != p.Result.ID || q.Result.Name != p.Result.Name {
				t.Fatalf("the result of %s is gone", p.Result.ID)
			}
		}
	}
}

func TestCompactKeepsTheShapeTheNewestAndTheBeginning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := drawJob(t)
		room := rapid.IntRange(1, 400_000).Draw(t, "room")
		original, err := json.Marshal(messages)
		if err != nil {
			t.Fatal(err)
		}
		got, report := Compact(messages, room, Saying{})
		if after, err := json.Marshal(messages); err != nil || string(after) != string(original) {
			t.Fatal("the caller's transcript was changed")
		}
		paired(t, messages, got)
		if report.Over != (report.After > room) || report.After > report.Before || report.After != Weigh(got, Saying{}) {
			t.Fatalf("%+v for a room of %d, it weighs %d", report, room, Weigh(got, Saying{}))
		}
		answers := 0
		for i := len(messages) - 1; i >= 0 && answers < freshRounds; i-- {
			if diff := cmp.Diff(messages[i], got[i]); diff != "" {
				t.Fatalf("message %d of the newest rounds changed: %s", i, diff)
			}
			if messages[i].Role == provider.RoleAssistant {
				answers++
			}
		}
		if again, _ := Compact(messages, room, Saying{}); !cmp.Equal(again, got) {
			t.Fatal("the same transcript became another one")
		}
	})
}

func TestCompactIsStableBetweenItsPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := drawJob(t)
		room := rapid.IntRange(20_000, 200_000).Draw(t, "room")
		var before []provider.Message
		var taken Report
		for n, m := range messages {
			if m.Role != provider.RoleAssistant {
				continue
			}
			got, report := Compact(messages[:n], room, Saying{})
			if report.Pictures < taken.Pictures || report.Results < taken.Results {
				t.Fatalf("what was taken came back: %+v, then %+v", taken, report)
			}
			if report.Pictures == taken.Pictures && report.Results == taken.Results && len(before) > 0 && !cmp.Equal(got[:len(before)], before) {
				t.Fatalf("the beginning changed after %d messages though nothing more was taken", n)
			}
			before, taken = got, report
		}
	})
}

func TestRoomOf(t *testing.T) {
	for _, c := range []struct{ context, answer, fixed, want int }{
		{0, 8000, 100, 0}, {200_000, 8_000, 20_000, 748_000}, {1000, 2000, 0, 1}, {1000, -1, 0, 4000},
	} {
		if got := RoomOf(c.context, c.answer, c.fixed); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
