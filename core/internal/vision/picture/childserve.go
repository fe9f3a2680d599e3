package picture

import (
	"context"
	"errors"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/vision"
)

// Serve is the child: it prepares the pictures that come over in, one after
// another, and writes each answer to out, until in ends. It limits its own
// memory and CPU first; when it cannot, it does not begin. The process it runs
// in must do nothing else.
func Serve(in io.Reader, out io.Writer) error {
	debug.SetMemoryLimit(childHeap)
	if err := limitProcess(childMemory); err != nil {
		return err
	}
	var keep buffer
	rest := time.AfterFunc(childSettle, keep.rest)
	defer rest.Stop()
	for {
		var o order
		data, err := readFrame(in, &o, keep.take)
		rest.Stop()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := limitCPU(o.Limits.MaxCPU); err != nil {
			return err
		}
		answer, body := fill(o, data)
		if err := writeFrame(out, answer, body); err != nil {
			return err
		}
		rest.Reset(childSettle)
	}
}

// buffer holds the files, one after another: fresh memory costs more than filling it.
type buffer struct {
	mu sync.Mutex
	b  []byte
}

// take gives room for n bytes; what was given before is overwritten.
func (k *buffer) take(n uint64) ([]byte, error) {
	if n > maxBytes {
		return nil, errFrameSize
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if uint64(cap(k.b)) < n {
		k.b = make([]byte, n)
	}
	return k.b[:n], nil
}

// rest gives memory back that a large picture took, when nobody has asked for a while.
func (k *buffer) rest() {
	k.mu.Lock()
	k.b = nil // whoever reads into it just now keeps it
	k.mu.Unlock()
	debug.FreeOSMemory()
}

// fill carries one order out.
func fill(o order, data []byte) (reply, []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), maxTime+time.Second) // the parent kills at its own deadline
	defer cancel()
	p := New(o.Limits.options())
	var pic vision.Picture
	var meta vision.Meta
	var err error
	if o.Fit != nil {
		pic, meta, err = p.fit(ctx, data, o.Name, *o.Fit)
	} else {
		pic, meta, err = p.prepare(ctx, data, o.Name, o.Params)
	}
	answer := reply{Picture: pic, Meta: meta}
	if e, ok := errors.AsType[*Error](err); ok {
		answer.Code, answer.Message = e.Code, e.Message
		if e.cause != nil {
			answer.Cause = e.cause.Error()
		}
	} else if err != nil {
		answer.Code, answer.Message, answer.Cause = Corrupt, "the picture could not be prepared", err.Error()
	}
	return answer, pic.Bytes
}

func (l limits) options() Options {
	return Options{MaxEdge: l.MaxEdge, MaxPixels: l.MaxPixels, MaxMemory: l.MaxMemory, MaxScans: l.MaxScans, MaxSent: l.MaxSent, MaxCPU: l.MaxCPU}
}
