package jpegread

import (
	"errors"
	"fmt"
)

// ErrDamaged is wrapped by every refusal of what is no whole, sound JPEG.
var ErrDamaged = errors.New("damaged JPEG")

// ErrOther is given by Decode when only a later part of the file shows that it is of a sort that is left to the
// standard decoder, which Open could not know: an Adobe marker after the first scan that makes it RGB.
var ErrOther = errors.New("a sort of JPEG that is left to the standard decoder")

// errEnd is given when the file stops before its end marker.
var errEnd = fmt.Errorf("%w: it ends too early", ErrDamaged)

func damaged(what string) error { return fmt.Errorf("%w: %s", ErrDamaged, what) }
