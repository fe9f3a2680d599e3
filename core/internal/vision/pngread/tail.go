package pngread

import (
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
)

// finish checks what follows the zlib stream. Bytes that follow it in its own chunk are an error, unless
// the standard decoder has them in its buffer by then and does not look.
func (s *source) finish(ctx context.Context, r *Reader) error {
	left := len(s.body) - s.pos
	if left >= tailMost {
		return errTooMuch
	}
	if left > 0 || kindAt(s.data, s.next) == "IDAT" {
		r.loose.Store(true)
	}
	if left > 0 {
		if err := overread(ctx, r); err != nil {
			return err
		}
	}
	return finish(s.data, s.next)
}

// overread is nil when the standard decoder's buffer takes in the rest of the chunk in which the zlib stream
// ends. It unpacks the stream once more in the same steps, which hardly a file needs.
func overread(ctx context.Context, r *Reader) error {
	src := &source{data: r.data, next: r.idat}
	z, err := zlib.NewReader(readFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, fmt.Errorf("read a PNG: %w", err)
		}
		return src.Read(p)
	}))
	if err != nil {
		return err
	}
	for !errors.Is(err, io.EOF) { // as many bytes as the picture has: they were counted before
		if _, err = io.CopyN(io.Discard, z, blockBytes); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	if src.pos != len(src.body) {
		return errTooMuch
	}
	return nil
}

// readFunc is a reader that has no other methods, so that the standard library puts its buffer before it.
type readFunc func(p []byte) (int, error)

// Read calls f.
func (f readFunc) Read(p []byte) (int, error) { return f(p) }
