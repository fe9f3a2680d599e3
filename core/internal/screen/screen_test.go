package screen

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/board"
)

func TestKeysOfATerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		reads []string
		want  []string
	}{
		{"characters", []string{"pq?"}, []string{"p", "q", "?"}},
		{"arrows of both modes", []string{"\x1b[A\x1bOB"}, []string{board.Up, board.Down}},
		{"pages and ends", []string{"\x1b[5~\x1b[6~\x1b[H\x1b[4~"}, []string{board.PageUp, board.PageDown, board.Home, board.End}},
		{"an escape alone", []string{"\x1b"}, []string{board.Esc}},
		{"a wide character in two reads", []string{"\xe5\xb9", "\x85x"}, []string{"幅", "x"}},
		{"enter, backspace, Ctrl-C", []string{"\r\x7f\x08\x03"}, []string{board.Enter, board.Back, board.Back, board.CtrlC}},
		{"what is no key of ours", []string{"\x01\x1bx\x1b[24~\xffp"}, []string{"p"}},
		{"a paste is one text and none of it a key", []string{"\x1b[200~stop\nq", "p\x1b[201~x"}, []string{"stop\nqp", "x"}},
		{"a sequence in two reads", []string{"\x1b[", "Ap"}, []string{board.Up, "p"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var d decoder
			var got []string
			for _, r := range c.reads {
				got = append(got, d.feed([]byte(r))...)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzKeys(f *testing.F) {
	for _, seed := range []string{"\x1b[A", "\x1b[200~x\x1b[201~", "\x1bO", "\xff\x1b[5~", "幅"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var d decoder
		for _, k := range d.feed(data) {
			if k == "" {
				t.Fatal("a key without a name")
			}
		}
	})
}

// A screen that is painted step by step shows the same as one painted at once,
// and what stands still is not written.
func TestOnlyChangedRowsAreWritten(t *testing.T) {
	t.Parallel()
	frame := func(t *rapid.T) []board.Line {
		var lines []board.Line
		for range rapid.IntRange(0, 6).Draw(t, "rows") {
			lines = append(lines, board.Line{{Text: rapid.SampledFrom([]string{"", "a", "bb"}).Draw(t, "text"), Tone: board.Good}})
		}
		return lines
	}
	rapid.Check(t, func(t *rapid.T) {
		var rows []string
		var text string
		var last []board.Line
		for range rapid.IntRange(1, 5).Draw(t, "frames") {
			last = frame(t)
			_, rows = paint(rows, last, 80, true)
		}
		if text, rows = paint(rows, last, 80, true); text != "" {
			t.Fatalf("the same frame again writes %q", text)
		}
		for i, r := range rows {
			want := ""
			if i < len(last) {
				want = Paint(last[i], true)
			}
			if r != want {
				t.Fatalf("row %d shows %q, not %q", i, r, want)
			}
		}
	})
	if text, _ := paint([]string{"a", "b", "c"}, []board.Line{{{Text: "a"}}, {{Text: "x"}}, {{Text: "c"}}}, 80, false); text != "\x1b[2;1Hx\x1b[K" {
		t.Errorf("%q", text)
	}
}

// A terminal whose cursor stands behind the last column clears the character
// that it has just written.
func TestAFullRowKeepsItsLastCharacter(t *testing.T) {
	t.Parallel()
	if text, _ := paint(nil, []board.Line{{{Text: "abcd"}}, {{Text: "幅幅"}}, {{Text: "abc"}}}, 4, false); strings.Count(text, "\x1b[K") != 1 {
		t.Errorf("%q", text)
	}
}

func TestWithoutColoursOnlyWeightRemains(t *testing.T) {
	t.Parallel()
	l := board.Line{{Text: "a", Tone: board.Bold}, {Text: "b", Tone: board.Bad}, {Text: "c", Tone: board.Selected}, {Text: "d"}}
	if got := Paint(l, false); got != "\x1b[1ma\x1b[0mb\x1b[7mc\x1b[0md" {
		t.Errorf("%q", got)
	}
	if got := Paint(l, true); !strings.Contains(got, "\x1b[31mb\x1b[0m") {
		t.Errorf("%q", got)
	}
}

func TestALineIsReadAndNothingBehindIt(t *testing.T) {
	t.Parallel()
	in := strings.NewReader("yes\r\nno")
	for _, want := range []string{"yes", "no"} {
		if got, err := ReadLine(t.Context(), in); err != nil || got != want {
			t.Errorf("%q, %v", got, err)
		}
	}
	if _, err := ReadLine(t.Context(), in); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestAnAnswerIsNotWaitedForAfterASignal(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = w.Close(), r.Close() }()
	gone := errors.New("a signal")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := ReadLine(ctx, r); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
}
