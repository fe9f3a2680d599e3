package hub

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// raw speaks in lines.
type raw struct {
	t *testing.T
	wires
	lines *bufio.Reader
}

func talk(t *testing.T, w wires) *raw { return &raw{t, w, bufio.NewReaderSize(w.out, 1<<20)} }

func (r *raw) say(line string) {
	r.t.Helper()
	if _, err := r.in.Write([]byte(line + "\n")); err != nil {
		r.t.Fatal(err)
	}
}

// hear reads one line, which holds want.
func (r *raw) hear(want string) string {
	r.t.Helper()
	line, err := r.lines.ReadString('\n')
	if err != nil || !strings.Contains(line, want) {
		r.t.Fatalf("%q %v, want %s", line, err, want)
	}
	return line
}

// leave closes the client's end and expects a quiet end.
func (r *raw) leave() {
	r.t.Helper()
	if err := r.in.Close(); err != nil {
		r.t.Error(err)
	}
	if err := <-r.ended; err != nil {
		r.t.Error(err)
	}
}

func TestLinesThatAreNoMessageAreAnsweredAndPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := talk(t, serve(t.Context(), hubOf(files{"a.png": "A"}, nil)))
		for line, want := range map[string]string{
			`nonsense`:   `"code":-32700`,
			`{"id":`:     `"code":-32700`,
			`{"a":1}`:    `"code":-32700`,
			"\x00\xff é": `"code":-32700`,
			`[]`:         `"code":-32600`,
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"relo_image","arguments":{"paths":["a"],"maxEdge":NaN}}}`: `"code":-32700`,
			strings.Repeat("x", maxLine+1): `"code":-32600,"message":"the line is longer than 1048576 bytes`,
		} {
			r.say(line)
			r.hear(`{"jsonrpc":"2.0","id":null,"error":{` + want)
		}
		for range 2 { // and an empty line is nothing
			r.say("")
			r.say("\r")
		}
		r.say(hello + "\r")
		r.hear(`"protocolVersion":"2025-06-18"`)
		r.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"relo_image","arguments":{"paths":["a.png"]}}}`)
		r.hear(`"type":"image"`)
		r.leave()
	})
}

func TestALineOfJustTheLimitIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := talk(t, serve(t.Context(), hubOf(files{}, nil)))
		r.say(hello + strings.Repeat(" ", maxLine-len(hello)-1))
		r.hear(`"protocolVersion"`)
		r.leave()
	})
}

func TestWhatWasAskedBeforeTheEndIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serve(t.Context(), hubOf(files{"a.png": "A"}, nil))
		r := talk(t, w)
		go func() {
			_, err := w.in.Write([]byte(hello + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
				`{"jsonrpc":"2.0","id":"last","method":"tools/list"}` + "\n"))
			if err := errors.Join(err, w.in.Close()); err != nil {
				t.Error(err)
			}
		}()
		r.hear(`"id":1`)
		r.hear(`"id":"last"`)
		if err := <-w.ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAMessageWithoutAnEndIsStillOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serve(t.Context(), hubOf(files{}, nil))
		r := talk(t, w)
		go func() {
			_, err := w.in.Write([]byte(hello))
			if err := errors.Join(err, w.in.Close()); err != nil {
				t.Error(err)
			}
		}()
		r.hear(`"protocolVersion"`)
		if err := <-w.ended; err != nil {
			t.Error(err)
		}
	})
}

func TestLongLinesAreNotKept(t *testing.T) {
	t.Parallel()
	in := bufio.NewReaderSize(strings.NewReader(strings.Repeat("x", 5*maxLine)+"\nshort\n"+strings.Repeat("y", maxLine-1)+"\nend"), 4096)
	type got struct {
		Size  int
		Whole bool
	}
	var all []got
	for {
		line, whole, err := oneLine(in)
		all = append(all, got{len(line), whole})
		if err != nil {
			break
		}
	}
	if d := cmp.Diff([]got{{0, false}, {6, true}, {maxLine, true}, {3, true}}, all); d != "" {
		t.Error(d)
	}
}

func FuzzLines(f *testing.F) {
	for _, seed := range []string{hello, "[]", "{", "\n\n", hello + "\n" + `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"relo_image","arguments":{"paths":["a",""]}}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, said string) {
		w := serve(t.Context(), hubOf(files{"a": "A"}, looker{}))
		go func() {
			_, _ = w.in.Write([]byte(said))
			_ = w.in.Close() // a pipe's never fails
		}()
		if _, err := io.Copy(io.Discard, w.out); err != nil {
			t.Error(err)
		}
		if err := <-w.ended; err != nil {
			t.Error(err)
		}
	})
}
