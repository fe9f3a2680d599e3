package pngread

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
)

// small and large are read in one and in two goroutines.
var shapes = map[string][2]int{"small": {20, 30}, "large": {500, 900}}

// In a bubble a goroutine that is left behind is a deadlock and fails the test.
func TestRowsStopsWithItsSinkAndLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	errSink := errors.New("the sink has enough")
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := sorts[len(sorts)-1].draw(shape[0], shape[1], anyFilter)
			for _, stop := range []int{0, 1, shape[1] / 2, shape[1] - 1} {
				synctest.Test(t, func(t *testing.T) {
					r, _ := Open(data)
					last := -1
					err := r.Rows(t.Context(), func(y int, _ []byte) error {
						last = y
						if y == stop {
							return errSink
						}
						return nil
					})
					if !errors.Is(err, errSink) || last != stop {
						t.Errorf("stopped at %d with %v, want %d", last, err, stop)
					}
				})
			}
		})
	}
}

func TestRowsStopsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := sorts[len(sorts)-1].draw(shape[0], shape[1], anyFilter)
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				r, _ := Open(data)
				err := r.Rows(ctx, func(int, []byte) error { t.Error("a row was given"); return nil })
				if !errors.Is(err, context.Canceled) {
					t.Errorf("ended before: %v", err)
				}
			})
		})
	}
	data := sorts[len(sorts)-1].draw(500, 900, anyFilter)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r, _ := Open(data)
		err := r.Rows(ctx, func(int, []byte) error { cancel(); return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("ended meanwhile: %v", err)
		}
	})
}

func TestDamageIsCalledSo(t *testing.T) {
	t.Parallel()
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := sorts[len(sorts)-1].draw(shape[0], shape[1], anyFilter)
			synctest.Test(t, func(t *testing.T) {
				for _, keep := range []int{len(data) / 2, len(data) - 13, len(data) - 1} {
					r, _ := Open(data[:keep])
					if err := r.Rows(t.Context(), func(int, []byte) error { return nil }); !errors.Is(err, ErrDamaged) {
						t.Errorf("%d of %d bytes: %v", keep, len(data), err)
					}
				}
			})
		})
	}
}

// The same Reader may be read again, and by several at a time.
func TestAReaderCanBeReadAgain(t *testing.T) {
	t.Parallel()
	r, _ := Open(sorts[len(sorts)-1].draw(500, 900, anyFilter))
	first, err := all(t, r)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		t.Run("again", func(t *testing.T) {
			t.Parallel()
			if again, err := all(t, r); err != nil || string(again) != string(first) {
				t.Errorf("other pixels, or %v", err)
			}
		})
	}
}

// What a picture costs does not grow with its height. Not parallel: all that is allocated counts.
func TestMemoryIsNotThePictures(t *testing.T) {
	s := sorts[len(sorts)-1]
	cost := func(h int) uint64 {
		r, _ := Open(s.draw(1000, h, anyFilter))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := r.Rows(t.Context(), func(int, []byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if small, large := cost(200), cost(800); large > small+small/4 || large > 2<<20 {
		t.Errorf("200 rows cost %d bytes, 800 cost %d", small, large)
	}
}
