package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/packing"
)

// Why a picture is not shown, as the model is told.
const (
	blindReason      = "this model cannot see images"
	unreadableReason = "it could not be read"
	agedReason       = "aged"
)

// plainLine is the honest note in a picture's place.
func plainLine(s slot) string {
	if s.packed || s.why == agedReason {
		return packing.PictureLine(s.picture, packing.Reason(s.why), s.said.words, s.tool)
	}
	why := s.why
	if why == "" {
		why = blindReason
	}
	return fmt.Sprintf("[The picture %s (%d×%d) is not shown: %s.]", s.picture.View.Path, s.picture.Width, s.picture.Height, why)
}

// nobodyLine says that nobody could look either, and what to do instead.
func nobodyLine(s slot, err error) string {
	return plainLine(s) + "\n[" + err.Error() + "]"
}

// describedBy puts the words of a model that looked in the picture's place.
func (s *slot) describedBy(w said) {
	s.how, s.by, s.said = job.HowDescribed, w.by, w
	if s.packed || s.why == agedReason {
		s.words = plainLine(*s)
		return
	}
	s.words = fmt.Sprintf("[The picture %s (%d×%d) is not shown: %s. %s looked at it.]\n%s",
		s.picture.View.Path, s.picture.Width, s.picture.Height, s.why, w.by, prompt.Described(w.words))
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func maxTokens(asked, most int) int {
	switch {
	case asked <= 0 && most <= 0:
		return ledger.DefaultMaxOutput
	case asked <= 0:
		return min(most, ledger.DefaultMaxOutput)
	case most <= 0:
		return asked
	default:
		return min(asked, most)
	}
}

// textBytes measures the request without its pictures: their bytes never count as prose.
func textBytes(r provider.Request) int {
	n := len(r.System)
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			n += len(p.Text) + len(p.Signature)
			if p.Call != nil {
				n += len(p.Call.Args) + len(p.Call.Name)
			}
			if p.Result != nil {
				n += len(p.Result.Text)
			}
		}
	}
	if tools, err := json.Marshal(r.Tools); err == nil {
		n += len(tools)
	}
	return n
}
