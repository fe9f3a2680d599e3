package exchange

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

// readLines feeds the decoder with a stream of JSON lines. A blank line keeps the
// connection open and says nothing.
func (c *Client) readLines(answer *httpwire.Answer, dec Decoder, say func(provider.Delta)) error {
	lines := answer.Lines()
	for {
		l, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		d, err := dec.Event("", l.Data)
		if err != nil && l.Partial && !json.Valid(l.Data) {
			return nil // half a line at the end: Finish says that it was cut
		}
		if err != nil {
			return err
		}
		answer.Progress()
		say(d)
	}
}
