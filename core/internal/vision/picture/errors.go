package picture

import (
	"context"
	"errors"
	"fmt"
)

// Code says which step refused a picture, in the words of the relo_image tool.
type Code string

// The codes of a refusal.
const (
	NotFound            Code = "not_found"
	OutsideWorkspace    Code = "outside_workspace"
	NotRegular          Code = "not_regular"
	TooLargeBytes       Code = "too_large_bytes"
	TooLargePixels      Code = "too_large_pixels"
	ZeroSize            Code = "zero_size"
	UnsupportedKind     Code = "unsupported_kind"
	SVGIsSource         Code = "svg_is_source"
	Corrupt             Code = "corrupt"
	TooComplex          Code = "too_complex"
	BadRegion           Code = "bad_region"
	Timeout             Code = "timeout"
	Busy                Code = "busy"
	ChangedWhileReading Code = "changed_while_reading"
	NotAllowed          Code = "not_allowed"
)

// Error is a refusal of one picture. Message is for the agent: what, why, and
// what to do next. It never names a path outside the workspace.
type Error struct {
	Code    Code
	Message string
	cause   error
}

// Error is the code and the message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap gives what a library said, if one did.
func (e *Error) Unwrap() error { return e.cause }

func refuse(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Message: fmt.Sprintf(format, args...)}
}

// because keeps the library's error for the log; its words may hold paths.
func (e *Error) because(err error) *Error {
	e.cause = err
	return e
}

// late turns the end of a context into a refusal, and nil into nil.
func late(ctx context.Context) error {
	err := ctx.Err()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return refuse(Timeout, "preparing the picture took too long and was stopped; ask for a smaller file").because(err)
	default:
		return refuse(Timeout, "preparing the picture was cancelled").because(err)
	}
}
