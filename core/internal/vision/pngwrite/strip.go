package pngwrite

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/flate"
)

// The zlib stream's first bytes (deflate, 32 KiB window, no dictionary) and its last block, empty.
const (
	zlibHead = "\x78\x01"
	zlibTail = "\x03\x00"
)

// strip is some rows that are filtered and packed by themselves.
type strip struct {
	first, rows int
	bytes       int // of its filtered rows
	plan        plan
	warm        int // rows of the strip before whose bytes are packed with the same eyes
	packed      *bytes.Buffer
	adler       uint32
	cost        int // in the file, chunk included
}

// cut divides the rows. Where depends on the picture's size only, how on its content.
func cut(src *source) []*strip {
	line := src.rowBytes() + 1
	rows := max(1, stripBytes/line)
	n := max(1, (src.h+rows/2)/rows)
	strips := make([]*strip, n)
	each(n, func(i int) bool {
		from, to := i*src.h/n, (i+1)*src.h/n
		s := &strip{first: from, rows: to - from, bytes: (to - from) * line}
		s.plan = choose(look(src, from, to), src.form)
		strips[i] = s
		return true
	})
	for i, s := range strips[1:] {
		if s.plan.filter == none && strips[i].plan.filter == none {
			s.warm = min(windowBytes/line, strips[i].rows)
		}
	}
	return strips
}

// each calls do with the numbers below n from as many goroutines as there are cores, in order
// of beginning, until do says no or all are done.
func each(n int, do func(i int) bool) {
	var next atomic.Int64
	work := func() {
		for {
			if i := int(next.Add(1)) - 1; i >= n || !do(i) {
				return
			}
		}
	}
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

// pack packs all strips, the costliest first, and stops when their cost is certain to be more
// than room. It gives the cost of all, or of what was enough to be too much.
func pack(ctx context.Context, src *source, strips []*strip, room int) (int, error) {
	order := slices.Clone(strips)
	slices.SortStableFunc(order, func(a, b *strip) int { return b.plan.guess - a.plan.guess })
	var sum atomic.Int64
	sum.Store(int64(len(zlibHead) + len(zlibTail) + 4))
	for _, s := range strips {
		sum.Add(int64(s.least()))
	}
	errs := make([]error, len(order))
	each(len(order), func(i int) bool {
		if sum.Load() > int64(room) {
			return false
		}
		if errs[i] = ctx.Err(); errs[i] != nil {
			return false
		}
		w := workers.Get().(*worker) //nolint:errcheck // the pool makes nothing else
		defer workers.Put(w)
		if errs[i] = w.pack(src, order[i]); errs[i] != nil {
			return false
		}
		sum.Add(int64(order[i].cost - order[i].least()))
		return true
	})
	return int(sum.Load()), errors.Join(errs...)
}

// least is a cost that the strip has for certain.
func (s *strip) least() int {
	if s.plan.way == coding {
		return chunkCost + s.bytes/8 // a code has at least one bit
	}
	return chunkCost
}

// release gives the strips' buffers back.
func release(strips []*strip) {
	for _, s := range strips {
		if s.packed != nil {
			buffers.Put(s.packed)
			s.packed = nil
		}
	}
}

var (
	buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}
	workers = sync.Pool{New: func() any { return new(worker) }}
)

// worker is what packing a strip needs again and again. Its size is bounded by the strip's.
type worker struct {
	lines   []byte // filtered rows
	raw     []byte // two rows
	matcher *matcher
	flates  [coding + 1]*flate.Writer
}

func (w *worker) pack(src *source, s *strip) error {
	line := src.rowBytes() + 1
	all := (s.warm + s.rows) * line
	w.lines = grown(w.lines, all+slack)
	clear(w.lines[all:])
	w.filter(src, s)
	s.adler = adler(w.lines[s.warm*line : all])
	s.packed = buffers.Get().(*bytes.Buffer) //nolint:errcheck // the pool makes nothing else
	s.packed.Reset()
	if s.plan.way == matching {
		if w.matcher == nil {
			w.matcher = new(matcher)
		}
		s.packed.Write(w.matcher.lines(w.lines, s.warm*line, line, src.form.depth()))
	} else if err := w.flate(s, w.lines[:s.warm*line], w.lines[s.warm*line:all]); err != nil {
		return err
	}
	s.cost = chunkCost + s.packed.Len()
	return nil
}

// flate packs rows after warm ones.
func (w *worker) flate(s *strip, warm, rows []byte) error {
	p := w.flates[s.plan.way]
	if p == nil {
		level := [...]int{general: generalLevel, quick: quickLevel, coding: flate.HuffmanOnly}[s.plan.way]
		var err error
		if p, err = flate.NewWriter(io.Discard, level); err != nil {
			return err
		}
		w.flates[s.plan.way] = p
	}
	p.ResetDict(s.packed, warm)
	if _, err := p.Write(rows); err != nil {
		return err
	}
	return p.Flush()
}

// filter fills w.lines with the strip's rows, after the warm ones before it.
func (w *worker) filter(src *source, s *strip) {
	n := src.rowBytes()
	rest := w.lines
	if s.plan.filter == none {
		for y := s.first - s.warm; y < s.first+s.rows; y++ {
			rest[0] = byte(none)
			src.row(rest[1:n+1], y)
			rest = rest[n+1:]
		}
		return
	}
	w.raw = grown(w.raw, 2*n)
	row, before := w.raw[:n], w.raw[n:]
	clear(before)
	if s.first > 0 {
		src.row(before, s.first-1)
	}
	for y := s.first; y < s.first+s.rows; y++ {
		src.row(row, y)
		rest[0] = byte(s.plan.filter)
		s.plan.filter.apply(rest[1:n+1], row, before, src.form.depth())
		rest = rest[n+1:]
		row, before = before, row
	}
}

// grown is b with length n; what it held is lost when it was too short.
func grown(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}
