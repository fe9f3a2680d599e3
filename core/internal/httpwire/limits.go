package httpwire

import "time"

// The limits of a wire. Each can be set in Limits; these are the defaults.
const (
	// maxEvent bounds one server-sent event: the longest seen is a whole tool call
	// that writes a file, far below it.
	maxEvent = 8 << 20
	// maxStream bounds everything read of one answer, after decompression, so a
	// gzip bomb or an endless stream ends.
	maxStream = 64 << 20
	// maxComplaint is how much of an error body is read.
	maxComplaint = 64 << 10
	// maxRetryAfter bounds what a server may ask us to wait.
	maxRetryAfter = 24 * time.Hour
	// defaultIdle is how long a connection may be silent: providers that think long
	// send keep-alives well within it.
	defaultIdle = 2 * time.Minute
	// quietFactor times the idle timeout is how long a stream may hold nothing but keep-alives.
	quietFactor = 5
	// maxBlank is how much blank space is looked through for a body's first byte.
	maxBlank = 64
	// namesShown is how many of a certificate's names are told.
	namesShown = 3
	// maxWords bounds the words taken from a body that is no JSON.
	maxWords = 400
)

// Limits bound one exchange. A zero field means its default.
type Limits struct {
	Idle   time.Duration // no byte in either direction: 2 minutes
	Quiet  time.Duration // bytes, but no Progress: five times Idle
	Event  int           // bytes of one event: 8 MiB
	Stream int64         // bytes of one answer: 64 MiB
}

func (l Limits) withDefaults() Limits {
	if l.Idle <= 0 {
		l.Idle = defaultIdle
	}
	if l.Quiet <= 0 {
		l.Quiet = quietFactor * l.Idle
	}
	if l.Event <= 0 {
		l.Event = maxEvent
	}
	if l.Stream <= 0 {
		l.Stream = maxStream
	}
	return l
}
