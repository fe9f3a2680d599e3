package bedrock

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

// ContentType is what a stream of frames is called.
const ContentType = "application/vnd.amazon.eventstream"

// errorPrefix begins the name of a frame that is an error of the framing itself, with
// a code that the API does not define.
const errorPrefix = "error:"

// Frames reads the frames of an event stream (AWS's "Event stream encoding"), one
// after another, each at most limit bytes.
type Frames struct {
	r     io.Reader
	limit int
	buf   bytes.Buffer
}

// NewFrames reads frames from r; limit 0 is the default of 8 MiB.
func NewFrames(r io.Reader, limit int) *Frames {
	if limit <= 0 {
		limit = maxFrame
	}
	return &Frames{r: r, limit: limit}
}

// Next gives the next frame: the name of its event or exception, and its payload,
// which is valid until the next call. After the last it returns io.EOF. A frame that
// fails its checksum is a *provider.Error of KindMalformed, one that ends too soon is
// KindCut, one over the limit httpwire.ErrLarge; other errors are those of the reader.
func (f *Frames) Next() (name string, data []byte, err error) {
	f.buf.Reset()
	n, err := io.CopyN(&f.buf, f.r, preludeLen)
	switch {
	case n == 0 && errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return "", nil, io.EOF
	case err != nil:
		return "", nil, broken(err)
	}
	// The lengths are believed only after their checksum: what is no frame at all would
	// look like a huge one.
	prelude := f.buf.Bytes()
	length := binary.BigEndian.Uint32(prelude)
	switch {
	case crc32.ChecksumIEEE(prelude[:8]) != binary.BigEndian.Uint32(prelude[8:]):
		return "", nil, malformed(nil, errors.New("a frame's length fails its checksum"))
	case length < leastFrame:
		return "", nil, malformed(nil, fmt.Errorf("a frame of %d bytes", length))
	case int64(length) > int64(f.limit):
		return "", nil, fmt.Errorf("a frame of %d bytes: %w", length, httpwire.ErrLarge)
	}
	// Bytes are kept as they come, so that a length alone takes no memory.
	if _, err := io.CopyN(&f.buf, f.r, int64(length)-preludeLen); err != nil {
		return "", nil, broken(err)
	}
	m, err := eventstream.NewDecoder().Decode(bytes.NewReader(f.buf.Bytes()), nil)
	if err != nil {
		return "", nil, malformed(nil, fmt.Errorf("a frame cannot be read: %w", err))
	}
	return read(m)
}

// broken tells a stream that ended within a frame from a reader that failed. It does not
// wrap io.EOF, which would mean a proper end.
func broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if _, own := errors.AsType[*httpwire.Error](err); !own {
			return &provider.Error{Kind: provider.KindCut, Status: http.StatusOK, Words: "the stream ended within a frame"}
		}
	}
	return err
}

// read names a frame by its headers (smithy's event stream specification: message-type
// is event, exception or error).
func read(m eventstream.Message) (name string, data []byte, err error) {
	header := func(name string) string {
		s, ok := m.Headers.Get(name).(eventstream.StringValue)
		if !ok {
			return ""
		}
		return string(s)
	}
	switch kind := header(":message-type"); kind {
	case "event":
		return header(":event-type"), m.Payload, nil
	case "exception":
		if name = header(":exception-type"); !isFault(name) {
			name = errorPrefix + name
		}
		return name, m.Payload, nil
	case "error":
		data, err = json.Marshal(map[string]string{"message": header(":error-message")})
		return errorPrefix + header(":error-code"), data, err
	default:
		return "", nil, malformed(nil, fmt.Errorf("a frame of the kind %.40q", kind))
	}
}
