package httpwire

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

type took struct {
	Data    string
	Partial bool
}

func linesOf(r io.Reader, limit int) (all []took, err error) {
	lines := NewLines(r, limit)
	for {
		l, err := lines.Next()
		if err != nil {
			return all, err
		}
		all = append(all, took{string(l.Data), l.Partial})
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 10<<10) // over the buffer of bufio
	for _, row := range []struct {
		why, in string
		limit   int
		want    []took
		err     error
	}{
		{"nothing", "", 0, nil, io.EOF},
		{"blank lines alone", "\n\r\n  \n", 0, nil, io.EOF},
		{"two lines, with CR and blanks between", "{}\r\n\n {\"a\":1}\n", 0, []took{{"{}", false}, {`{"a":1}`, false}}, io.EOF},
		{"the last without its end", "{}\n{\"a\"", 0, []took{{"{}", false}, {`{"a"`, true}}, io.EOF},
		{"a byte order mark", "\xef\xbb\xbf{}\n", 0, []took{{"{}", false}}, io.EOF},
		{"a line longer than the buffer", long + "\n{}\n", 0, []took{{long, false}, {"{}", false}}, io.EOF},
		{"a line over the limit", "{}\n" + long, 100, []took{{"{}", false}}, ErrLarge},
	} {
		got, err := linesOf(strings.NewReader(row.in), row.limit)
		if diff := cmp.Diff(row.want, got); diff != "" || !errors.Is(err, row.err) {
			t.Errorf("%s: %v\n%s", row.why, err, diff)
		}
		slow, err := linesOf(iotest.OneByteReader(strings.NewReader(row.in)), row.limit)
		if diff := cmp.Diff(row.want, slow); diff != "" || !errors.Is(err, row.err) {
			t.Errorf("%s, byte by byte: %v\n%s", row.why, err, diff)
		}
	}
	broken := io.MultiReader(strings.NewReader("{}\n{"), iotest.ErrReader(ErrCut))
	if got, err := linesOf(broken, 0); len(got) != 1 || !errors.Is(err, ErrCut) {
		t.Errorf("%v, %v", got, err)
	}
}
