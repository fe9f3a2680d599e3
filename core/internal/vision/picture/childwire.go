package picture

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/relo-dev/relo/core/internal/vision"
)

// order is what a child is asked, followed by the file.
type order struct {
	Name   string `json:"name"`
	Params Params `json:"params"`
	Limits limits `json:"limits"`
	// Fit is what a place takes; Params say nothing then. nil: the picture is prepared by Params.
	Fit *vision.Fit `json:"fit,omitempty"`
}

// limits are the options that bind behind the opening.
type limits struct {
	MaxEdge   int           `json:"maxEdge"`
	MaxPixels int64         `json:"maxPixels"`
	MaxMemory int64         `json:"maxMemory"`
	MaxScans  int           `json:"maxScans"`
	MaxSent   int           `json:"maxSent"`
	MaxCPU    time.Duration `json:"maxCPU"`
}

// reply is a child's answer, followed by the sent bytes.
type reply struct {
	Picture vision.Picture `json:"picture"`
	Meta    vision.Meta    `json:"meta"`
	Code    Code           `json:"code,omitempty"`
	Message string         `json:"message,omitempty"`
	Cause   string         `json:"cause,omitempty"`
}

// maxHead of a frame in bytes: a name of a file and some numbers.
const maxHead = 1 << 20

var (
	errFrameSize  = errors.New("a frame is larger than its limit")
	errFrameWords = errors.New("the head of a frame cannot be read")
)

// writeFrame writes a JSON head and a body, each behind its length.
func writeFrame(w io.Writer, head any, body []byte) error {
	text, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("write to the picture process: %w", err)
	}
	if len(text) > maxHead {
		return errFrameSize
	}
	front := binary.BigEndian.AppendUint32(nil, uint32(len(text))) //nolint:gosec // at most maxHead
	front = binary.BigEndian.AppendUint64(front, uint64(len(body)))
	for _, b := range [][]byte{append(front, text...), body} {
		if _, err := w.Write(b); err != nil {
			return fmt.Errorf("write to the picture process: %w", err)
		}
	}
	return nil
}

// readFrame reads a frame; room gives the memory for its body, or refuses it. io.EOF: there
// was none.
func readFrame(r io.Reader, head any, room func(n uint64) ([]byte, error)) ([]byte, error) {
	var front [12]byte
	if _, err := io.ReadFull(r, front[:]); err != nil {
		return nil, err //nolint:wrapcheck // io.EOF is the answer
	}
	size, length := binary.BigEndian.Uint32(front[:4]), binary.BigEndian.Uint64(front[4:])
	if size > maxHead {
		return nil, errFrameSize
	}
	text := make([]byte, size)
	body, err := room(length)
	if err != nil {
		return nil, err
	}
	for _, b := range [][]byte{text, body} {
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, fmt.Errorf("a frame is cut off: %w", errors.Join(io.ErrUnexpectedEOF, err))
		}
	}
	if err := json.Unmarshal(text, head); err != nil {
		return nil, fmt.Errorf("%w: %w", errFrameWords, err)
	}
	return body, nil
}
