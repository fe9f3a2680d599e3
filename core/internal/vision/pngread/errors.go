package pngread

import (
	"errors"
	"fmt"
)

// ErrDamaged is wrapped by every refusal of what is no whole, sound PNG.
var ErrDamaged = errors.New("damaged PNG")

var (
	errShort    = damaged("it ends too early")
	errOrder    = damaged("a chunk is out of order")
	errSum      = damaged("a checksum is wrong")
	errPixels   = damaged("not enough pixel data")
	errTooMuch  = damaged("too much pixel data")
	errFilter   = damaged("a row has an unknown filter")
	errDeflate  = damaged("its pixel data cannot be unpacked")
	errZlibHead = damaged("its pixel data has no zlib header")
)

func damaged(what string) error { return fmt.Errorf("%w: %s", ErrDamaged, what) }
