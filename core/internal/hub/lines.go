package hub

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lines is MCP's transport over a pair of streams. Unlike the library's own it goes on
// after a line that is no message, bounds what it keeps of a line, answers what was
// asked before the client closed its end, and can be waited for.
type lines struct {
	in  io.ReadCloser
	out io.Writer

	messages chan jsonrpc.Message
	closed   chan struct{}
	closing  sync.Once
	reading  sync.WaitGroup

	writing sync.Mutex // over out

	mu      sync.Mutex // over what is below
	broken  error      // why messages ended; set before it is closed
	asked   int        // calls that were read and are not answered
	settled chan struct{}
}

func newLines(in io.ReadCloser, out io.Writer) *lines {
	l := &lines{in: in, out: out, messages: make(chan jsonrpc.Message), closed: make(chan struct{})}
	l.reading.Go(l.read)
	return l
}

// wait waits for the goroutine that reads; it ends with Close.
func (l *lines) wait() { l.reading.Wait() }

// Connect gives the connection: lines is one itself, for one use.
func (l *lines) Connect(context.Context) (mcp.Connection, error) { return l, nil }

// SessionID is empty: streams have one client.
func (l *lines) SessionID() string { return "" }

// Read gives the next message; io.EOF when there will be none.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-l.messages:
		if ok {
			return m, nil
		}
		l.settle(ctx)
		l.mu.Lock()
		defer l.mu.Unlock()
		return nil, l.broken
	case <-l.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// settle waits a little until everything that was asked is answered: after the end of
// reading the library answers nothing.
func (l *lines) settle(ctx context.Context) {
	l.mu.Lock()
	settled := make(chan struct{})
	if l.settled = settled; l.asked == 0 {
		close(settled)
	}
	l.mu.Unlock()
	late := time.NewTimer(lastWord)
	defer late.Stop()
	select {
	case <-settled:
	case <-late.C:
	case <-l.closed:
	case <-ctx.Done():
	}
}

// count keeps the number of open questions.
func (l *lines) count(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked += n; l.asked == 0 && l.settled != nil && n < 0 {
		close(l.settled)
		l.settled = nil
	}
}

// Write sends one message.
func (l *lines) Write(_ context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	err = l.send(data)
	if r, ok := m.(*jsonrpc.Response); ok && r.ID.IsValid() {
		l.count(-1)
	}
	return err
}

func (l *lines) send(data []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	_, err := l.out.Write(append(data, '\n'))
	return err
}

// Close ends the reading.
func (l *lines) Close() error {
	var err error
	l.closing.Do(func() {
		close(l.closed)
		err = l.in.Close()
	})
	return err
}

// read takes in's lines apart until it ends.
func (l *lines) read() {
	defer close(l.messages)
	in := bufio.NewReaderSize(l.in, 64<<10)
	for {
		line, whole, err := oneLine(in)
		if line = bytes.TrimSpace(line); len(line) > 0 || !whole {
			if !l.take(line, whole) {
				err = io.EOF
			}
		}
		if err != nil {
			l.mu.Lock()
			l.broken = err
			l.mu.Unlock()
			return
		}
	}
}

// oneLine reads a line, and passes over one that is longer than maxLine.
func oneLine(in *bufio.Reader) (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := in.ReadSlice('\n')
		if whole = whole && len(line)+len(part) <= maxLine; whole {
			line = append(line, part...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, whole, err
		}
	}
}

// take hands a line on as a message, or answers that it is none. False: nobody is
// there any more.
func (l *lines) take(line []byte, whole bool) bool {
	if !whole {
		return l.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the line is longer than %d bytes and was passed over", maxLine))
	}
	if line[0] == '[' {
		return l.refuse(jsonrpc.CodeInvalidRequest, "batches are not taken: send one message a line")
	}
	m, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return l.refuse(jsonrpc.CodeParseError, "the line is no JSON-RPC message: "+err.Error())
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		l.count(1)
	}
	select {
	case l.messages <- m:
		return true
	case <-l.closed:
		return false
	}
}

// refuse answers a line that has no id to answer to.
func (l *lines) refuse(code int, words string) bool {
	return l.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`, code, ascii(words))) == nil
}

// ascii keeps a text such that Go's quoting is JSON's too.
func ascii(words string) string {
	return string(bytes.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, []byte(words)))
}
