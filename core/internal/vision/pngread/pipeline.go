package pngread

import (
	"context"
	"fmt"
	"sync"
)

// shared inflates, unfilters and gives in three goroutines, of which only the caller's is left when it returns.
// On two cores the steps share themselves out, whichever is slowest.
func (j *job) shared(ctx context.Context) error {
	inner, stop := context.WithCancel(ctx)
	free := make(chan *block, ringBlocks)
	packed, ready := make(chan *block, ringBlocks), make(chan *block, ringBlocks)
	for range ringBlocks {
		free <- nil // made when first needed
	}
	var sum uint32
	var inflated, unfiltered error
	var all sync.WaitGroup
	all.Go(func() {
		defer close(packed)
		sum, inflated = j.inflateAll(inner, free, packed)
	})
	all.Go(func() {
		defer close(ready)
		unfiltered = j.unfilterAll(inner, packed, ready)
		if unfiltered != nil {
			stop()
		}
	})
	given := j.giveAll(ctx, ready, free)
	stop()
	all.Wait()
	for _, err := range []error{given, unfiltered, inflated} { // a later one may have been stopped by an earlier one
		if err != nil {
			return err
		}
	}
	return j.rows.check(sum)
}

// inflateAll inflates all blocks and gives the checksum behind them.
func (j *job) inflateAll(ctx context.Context, free <-chan *block, packed chan<- *block) (uint32, error) {
	tail := new([window]byte)
	for y := 0; y < j.height; {
		var b *block
		select {
		case b = <-free:
		case <-ctx.Done():
			return 0, stopped(ctx)
		}
		if b == nil {
			b = j.newBlock()
		}
		n := min(j.perBlock(), j.height-y)
		if err := j.inflate(b, n, tail); err != nil {
			return 0, err
		}
		packed <- b // has room for all there are
		y += n
	}
	return j.in.end()
}

// unfilterAll unfilters all blocks that come.
func (j *job) unfilterAll(ctx context.Context, packed <-chan *block, ready chan<- *block) error {
	for b := range packed {
		if ctx.Err() != nil {
			return stopped(ctx)
		}
		if err := j.rows.unfilter(b); err != nil {
			return err
		}
		ready <- b // has room for all there are
	}
	return nil
}

// giveAll gives the rows of all blocks that come.
func (j *job) giveAll(ctx context.Context, ready <-chan *block, free chan<- *block) error {
	y := 0
	for b := range ready {
		if ctx.Err() != nil {
			return stopped(ctx)
		}
		if err := j.rows.give(y, b); err != nil {
			return err
		}
		y += b.rows
		free <- b // has room for all there are
	}
	return nil
}

func stopped(ctx context.Context) error { return fmt.Errorf("read a PNG: %w", ctx.Err()) }
