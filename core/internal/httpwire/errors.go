package httpwire

import (
	"errors"
	"fmt"
)

// The ways in which an exchange fails. They are found with errors.Is.
var (
	ErrIdle  = errors.New("nothing arrived for the idle timeout")
	ErrQuiet = errors.New("only keep-alives arrived")
	ErrLarge = errors.New("the answer is over the size limit")
	ErrCut   = errors.New("the connection broke")
)

// Error is a failure of the transport: no whole answer arrived.
type Error struct {
	Sent bool  // the request was written whole, so it may have been worked on and paid for
	Why  error // one of this package's sentinels, or the context's cause
	Err  error // the transport's own error; may be nil
}

// Error gives one sentence; it never holds the URL or a header of the request.
func (f *Error) Error() string {
	if f.Err == nil || errors.Is(f.Why, f.Err) {
		return f.Why.Error()
	}
	return fmt.Sprintf("%v: %v", f.Why, f.Err)
}

// Unwrap gives both the reason and the transport's error.
func (f *Error) Unwrap() []error {
	if f.Err == nil {
		return []error{f.Why}
	}
	return []error{f.Why, f.Err}
}
