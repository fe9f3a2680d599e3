package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/refusal"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

// heal sends one request. When it is refused because the model cannot see, it is sent
// once more with words in the pictures' places; only when that is answered is the
// model known to be blind, since the words of a refusal alone prove nothing. A second
// refusal is the turn's error, and nothing is remembered.
func (g *Gateway) heal(ctx context.Context, c traffic.Call, on attemptOn) (traffic.Answer, error) {
	answer, refused, err := g.once(ctx, c, on)
	reading := readRefusal(err)
	if refused.Pictures == 0 || reading.Class != refusal.Blind {
		return answer, err
	}
	blind := on
	blind.model.Sight = vision.Answer{Sight: vision.Blind, Source: vision.Refused, Detail: reading.Phrase}
	answer, proof, second := g.once(ctx, c, blind)
	if second != nil {
		g.log.Warn().Str("job", c.Job).Str("model", string(on.model.Ref)).Err(second).Msg("a refused picture was no reason: its words are refused too")
		return answer, second
	}
	g.book.Blinded(on.model.Ref, reading.Phrase)
	g.log.Warn().Str("job", c.Job).Str("model", string(on.model.Ref)).Str("phrase", reading.Phrase).Msg("a model turned out not to see")
	return answer, g.tell(ctx, refused, on, reading, proof)
}

// tell lets the job know, also when the caller has left.
func (g *Gateway) tell(ctx context.Context, refused ledger.Row, on attemptOn, r refusal.Reading, proof ledger.Row) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleWait)
	defer cancel()
	words := fmt.Sprintf("%s refused a picture (%q) and took the same request without it: it gets words instead of pictures from now on", on.model.Ref, r.Phrase)
	if was := on.model.Sight; was.Source == vision.Configured {
		words += `, although "vision": true is set on it`
	}
	words += "; relo models forget ends that"
	err := g.money.TellBlinded(ctx, refused, job.Blinded{Class: string(r.Class), Phrase: r.Phrase, Proof: proof.ID, Words: words})
	if err != nil {
		return fmt.Errorf("tell that %s does not see: %w", on.model.Ref, err)
	}
	return nil
}

// readRefusal reads why a request was refused.
func readRefusal(err error) refusal.Reading {
	e, ok := errors.AsType[*provider.Error](err)
	if !ok {
		return refusal.Reading{}
	}
	words := e.Body
	if words == "" {
		words = e.Words
	}
	return refusal.Read(refusal.Refusal{Status: e.Status, Code: e.Code, Words: words, Model: e.Model})
}
