package probe

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/refusal"
	"github.com/relo-dev/relo/core/internal/vision"
)

// saw is the finding of a model that named what was drawn.
func (t *trial) saw() Finding {
	first, second := t.replies[0].card, t.replies[1].card
	words := fmt.Sprintf("it named the colour (%s) and the digit (%s)", first.name, second.name)
	if len(t.replies) > 2 {
		words = t.mixed()
	}
	return Finding{Sight: vision.Sees, Verdict: Saw, Words: words}
}

// mixed tells answers of which half are right.
func (t *trial) mixed() string {
	var missed []string
	for _, r := range t.replies {
		if r.heard != right {
			missed = append(missed, r.miss())
		}
	}
	return fmt.Sprintf("it named %d of 4 pictures, but %s", t.right(), strings.Join(missed, " and "))
}

// miss tells a wrong answer.
func (r reply) miss() string {
	return fmt.Sprintf("said %q of %s", short(r.said, maxQuote), r.card.what)
}

// blind is the finding of a model that did not see: it said so, or it guessed, or
// the picture never came to it.
func (t *trial) blind(ctx context.Context) Finding {
	f := Finding{Sight: vision.Blind, Verdict: Guessed}
	var missed []string
	for _, r := range t.replies {
		if r.heard == noImage && f.Verdict == Guessed {
			f.Verdict = NoImage
			f.Words = fmt.Sprintf("it said that it got no picture or cannot see: %q", short(r.said, 2*maxQuote))
		}
		if r.heard == wrong {
			missed = append(missed, r.miss())
		}
	}
	if f.Verdict == Guessed {
		f.Words = "it " + strings.Join(missed[:min(len(missed), 2)], " and ")
	}
	with, without, lost := t.lost(ctx)
	if err := ctx.Err(); err != nil {
		return Finding{Verdict: Failed, Err: err, Words: noAnswer + "it was stopped"}
	}
	if lost {
		f.Verdict = Dropped
		f.Words = fmt.Sprintf("the picture was lost on the way: %d tokens with it, %d without", with, without)
	}
	return f
}

// lost asks the same question without its picture. When that counts as many tokens,
// the picture was not in the other. A count that is missing or cannot be true says
// nothing.
func (t *trial) lost(ctx context.Context) (with, without int64, lost bool) {
	for _, r := range t.replies {
		if r.heard == right || r.usage.TokensIn == nil {
			continue
		}
		resp, err := t.send(ctx, provider.Text(r.card.question))
		if err != nil || resp.Usage.TokensIn == nil {
			return 0, 0, false
		}
		with, without = *r.usage.TokensIn, *resp.Usage.TokensIn
		grown := with - without
		return with, without, without >= leastTokens && grown <= fewTokens && grown >= -fewTokens
	}
	return 0, 0, false
}

// refused reads the error of a question with a picture.
func (t *trial) refused(ctx context.Context, c card, err error) Finding {
	f := Finding{Verdict: Failed, Err: err, Words: noAnswer + plain(err.Error())}
	if ctx.Err() != nil {
		f.Err, f.Words = ctx.Err(), noAnswer+"it was stopped"
		return f
	}
	e, ok := errors.AsType[*provider.Error](err)
	if !ok {
		return f
	}
	f.Words = noAnswer + failure(e)
	read := reading(e)
	if words := classWords[read.Class]; words != "" {
		f.Words = noAnswer + words + ": " + read.Phrase
	}
	if read.Class != refusal.Blind {
		return f
	}
	if t.right() > 0 { // one that has seen is not blind: another server of the same name answered
		f.Words = noAnswer + "it named a picture and then refused one: " + read.Phrase
		return f
	}
	if read.Unsure {
		_, err := t.send(ctx, provider.Text(c.question))
		if ctx.Err() != nil {
			f.Err, f.Words = ctx.Err(), noAnswer+"it was stopped"
			return f
		}
		if err != nil {
			f.Words = noAnswer + "it refuses the question without the picture too: " + read.Phrase
			return f
		}
	}
	return Finding{Sight: vision.Blind, Verdict: Refused, Err: err, Words: fmt.Sprintf("the picture was refused: %q", read.Phrase)}
}

// reading asks why the request was refused. An error of the key or the connection is
// no refusal, whatever words came with it.
func reading(e *provider.Error) refusal.Reading {
	switch e.Kind {
	case provider.KindKey, provider.KindCut, provider.KindStalled, provider.KindMalformed:
		return refusal.Reading{}
	case provider.KindRefused, provider.KindBusy, provider.KindLarge: // a server may say it with any of its statuses
	}
	r := refusal.Refusal{Status: e.Status, Code: e.Code, Words: e.Body, Model: e.Model}
	read := refusal.Read(r)
	if read == (refusal.Reading{}) { // the body may be empty, or cut before its words
		r.Words = e.Words
		read = refusal.Read(r)
	}
	return read
}

// classWords say what a refusal was about when it was not about sight.
var classWords = map[refusal.Class]string{
	refusal.Shape:      "the request was refused for its form",
	refusal.Unreadable: "the picture could not be read there",
	refusal.Size:       "the picture was refused for its size",
}

// failure is an error for people.
func failure(e *provider.Error) string {
	words := plain(e.Words)
	switch {
	case e.Kind == provider.KindStalled:
		return "nothing more came: " + words
	case e.Kind == provider.KindCut:
		return "the connection broke: " + words
	case e.Status != 0:
		return fmt.Sprintf("it answered %d: %s", e.Status, words)
	}
	return words
}

// unsent reports an error before anything went out.
func unsent(err error) bool {
	e, ok := errors.AsType[*provider.Error](err)
	return ok && !e.Sent && e.Status == 0
}

func plain(s string) string { return httpwire.Plain(s) }

// short makes foreign words plain and cuts them.
func short(s string, most int) string {
	runes := []rune(plain(s))
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}
