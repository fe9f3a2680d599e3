package httpwire

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type said struct {
	Name, Data string
	Partial    bool
}

func readAll(e *Events) ([]said, error) {
	var all []said
	for {
		ev, err := e.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, said{ev.Name, string(ev.Data), ev.Partial})
	}
}

func TestEvents(t *testing.T) {
	for _, row := range []struct {
		why, in string
		want    []said
	}{
		{"nothing", "", nil},
		{"one event", "event: a\ndata: x\n\n", []said{{"a", "x", false}}},
		{"only one space is taken off", "data:  x\n\n", []said{{"", " x", false}}},
		{"no space is needed", "data:x\n\n", []said{{"", "x", false}}},
		{"data lines are joined", "data: a\ndata\ndata: b\n\n", []said{{"", "a\n\nb", false}}},
		{"CRLF", "event: a\r\ndata: x\r\n\r\ndata: y\r\n\r\n", []said{{"a", "x", false}, {"", "y", false}}},
		{"CR alone", "data: x\r\rdata: y\r\r", []said{{"", "x", false}, {"", "y", false}}},
		{"comments, id and retry are passed over", ": c\nid: 1\nretry: 5\ndata: x\n\n: d\n\n", []said{{"", "x", false}}},
		{"an event without data is none, and its name is forgotten", "event: a\n\ndata: x\n\n", []said{{"", "x", false}}},
		{"a byte order mark", "\xef\xbb\xbfdata: x\n\n", []said{{"", "x", false}}},
		{"the end closes the last event, and says so", "data: x", []said{{"", "x", true}}},
		{"the end after a whole line too", "data: x\n", []said{{"", "x", true}}},
		{"an unknown field", "daten: x\n\n", nil},
	} {
		t.Run(row.why, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(row.in), iotest.OneByteReader(strings.NewReader(row.in))} {
				got, err := readAll(NewEvents(r, 0))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(row.want, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestEventsLimits(t *testing.T) {
	for why, in := range map[string]string{
		"a long line":    "data: " + strings.Repeat("x", 200),
		"a long comment": ":" + strings.Repeat("x", 200) + "\n",
		"many lines":     strings.Repeat("data: xxxxxxxxxxxxxxxxxx\n", 20) + "\n",
		"no end at all":  strings.Repeat("data:\n", 500),
	} {
		if _, err := readAll(NewEvents(strings.NewReader(in), 100)); !errors.Is(err, ErrLarge) {
			t.Errorf("%s: %v", why, err)
		}
	}
	broken := iotest.ErrReader(io.ErrUnexpectedEOF)
	if _, err := readAll(NewEvents(broken, 0)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a broken stream is no end: %v", err)
	}
}

// Whatever is written as events is read back, with every line ending.
func TestEventsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "end")
		lines := rapid.SliceOfN(rapid.StringMatching(`[a-z :{}"é]{0,20}`), 1, 4)
		var in strings.Builder
		var want []said
		for range rapid.IntRange(0, 5).Draw(t, "events") {
			data := lines.Draw(t, "lines")
			for _, l := range data {
				in.WriteString("data: " + l + end)
			}
			in.WriteString(rapid.SampledFrom([]string{"", ": keep" + end}).Draw(t, "comment"))
			in.WriteString(end)
			want = append(want, said{"", strings.Join(data, "\n"), false})
		}
		got, err := readAll(NewEvents(strings.NewReader(in.String()), 0))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func FuzzEvents(f *testing.F) {
	for _, s := range []string{"data: x\n\n", "event: a\r\ndata: b\r\n\r\n", "\xef\xbb\xbf:\rdata", "data\rdata:\n\n\n", "\x00\xff:\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := readAll(NewEvents(strings.NewReader(in), 64))
		if err != nil && !errors.Is(err, ErrLarge) {
			t.Fatal(err)
		}
		for _, e := range got {
			if len(e.Data) > 64 || strings.ContainsAny(e.Name, "\r\n") || strings.Contains(e.Data, "\r") {
				t.Fatalf("%#v", e)
			}
		}
	})
}
