// Package probe finds out whether a model sees by showing it a tiny picture: first
// one of one colour, then one of a digit. It draws the pictures, words the questions
// and reads the answers; who asks, and what is remembered, is not its matter.
package probe

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Verdict is what a probe showed.
type Verdict string

// The verdicts.
const (
	Saw     Verdict = "saw"      // it named what was drawn
	Guessed Verdict = "guessed"  // it named something else: politely, and wrongly
	NoImage Verdict = "no-image" // it said that no picture came, or that it cannot see
	Dropped Verdict = "dropped"  // the picture was lost before the model: usage did not grow
	Refused Verdict = "refused"  // the endpoint refused the picture for want of sight
	Failed  Verdict = "failed"   // something else went wrong: no answer about sight
)

// Finding is the outcome of one probe.
type Finding struct {
	Sight    vision.Sight // Unknown with Failed
	Verdict  Verdict
	Words    string         // for people: what was drawn, what was said
	Requests int            // that were sent
	Usage    provider.Usage // summed; nil where any is unknown
	Err      error          // with Failed and Refused: the provider's own
}

// Ask sends one request to the model; the error is the provider's.
type Ask func(ctx context.Context, r provider.Request) (provider.Response, error)

// Options say whom to ask and how. The zero value of each field but Model is right.
type Options struct {
	Model     string     // the provider's id
	System    string     // empty: one sentence that asks for short answers
	Rand      *rand.Rand // draws colours and digits; nil: a fresh one
	MaxTokens int        // of an answer; 0: enough for a model that thinks first
}

func (o Options) withDefaults() Options {
	if o.System == "" {
		o.System = "This is a test of the connection. Answer in one word."
	}
	if o.Rand == nil {
		o.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())) //nolint:gosec // it draws a colour, no secret
	}
	if o.MaxTokens <= 0 {
		o.MaxTokens = maxTokens
	}
	return o
}

// Run shows the model a colour and a digit. Both right: it sees. Both wrong: it does
// not. One of each: both once more, with a colour and a digit that were not drawn
// before: three right of the four are sight, two say neither that it sees nor that it
// does not, since a wrong no would never be mended.
//
// A model that cannot see and guesses passes with a chance of at most 1.6 %, whatever
// it prefers to guess, since it is the draw that is even: both right at once is
// 1/8 · 1/10 = 1.25 %, and one right (20 %) with both right after it, which is at best
// 1/7 · 1/9, adds 0.32 %. An answer that names several counts as wrong.
//
// An answer about sight needs an answer: silence, a thought that was cut off, a
// failure of the connection or a refusal for another reason is Failed, with Unknown
// sight. A model that did not see is asked once more without the picture, to tell
// whether the picture was lost on the way. At most five requests are sent, one after
// the other.
func Run(ctx context.Context, ask Ask, o Options) Finding {
	t := &trial{ask: ask, o: o.withDefaults()}
	f := t.run(ctx)
	f.Requests, f.Usage, f.Words = t.requests, t.usage, short(f.Words, maxWords)
	return f
}

// trial is one probe under way.
type trial struct {
	ask      Ask
	o        Options
	drawn    []card
	replies  []reply
	requests int
	answered int
	usage    provider.Usage
}

// reply is what came of one picture.
type reply struct {
	card  card
	said  string
	heard heard
	usage provider.Usage
}

func (t *trial) run(ctx context.Context) Finding {
	for range rounds {
		for _, draw := range []func(*rand.Rand, []card) card{drawColour, drawDigit} {
			c := draw(t.o.Rand, t.drawn)
			t.drawn = append(t.drawn, c)
			if f, over := t.show(ctx, c); over {
				return f
			}
		}
		if n := t.right(); n == 2 && len(t.replies) == 2 || n >= enough {
			return t.saw()
		} else if n == 0 {
			return t.blind(ctx)
		}
	}
	if t.right() == undecided {
		return Finding{Verdict: Failed, Words: noAnswer + t.mixed()}
	}
	return t.blind(ctx)
}

func (t *trial) right() int {
	n := 0
	for _, r := range t.replies {
		if r.heard == right {
			n++
		}
	}
	return n
}

// show asks about one picture. over says that no more is to be asked.
func (t *trial) show(ctx context.Context, c card) (f Finding, over bool) {
	pic, err := c.picture()
	if err != nil {
		return Finding{Verdict: Failed, Err: err, Words: noAnswer + "the test picture could not be drawn"}, true
	}
	resp, err := t.send(ctx, provider.Text(c.question), provider.Show(pic))
	if err != nil {
		return t.refused(ctx, c, err), true
	}
	said := answer(resp)
	r := reply{card: c, said: said, heard: c.hear(said), usage: resp.Usage}
	switch {
	case resp.Stop == provider.StopRefusal:
		return Finding{Verdict: Failed, Words: noAnswer + "it declined to answer"}, true
	case r.heard == nothing && resp.Stop == provider.StopLength, r.heard == wrong && resp.Stop == provider.StopLength:
		return Finding{Verdict: Failed, Words: noAnswer + fmt.Sprintf("it was cut off at %d tokens before it named anything", t.o.MaxTokens)}, true
	case r.heard == nothing:
		return Finding{Verdict: Failed, Words: noAnswer + "it answered without a word"}, true
	}
	t.replies = append(t.replies, r)
	return Finding{}, false
}

// noAnswer begins the words of a failure.
const noAnswer = "no answer about sight: "

// send asks once and counts.
func (t *trial) send(ctx context.Context, parts ...provider.Part) (provider.Response, error) {
	if err := ctx.Err(); err != nil {
		return provider.Response{}, err
	}
	resp, err := t.ask(ctx, provider.Request{
		Model: t.o.Model, System: t.o.System, MaxTokens: t.o.MaxTokens,
		Messages: []provider.Message{{Role: provider.RoleUser, Parts: parts}},
	})
	if err != nil && unsent(err) {
		return resp, err
	}
	t.requests++
	if err != nil {
		resp.Usage = provider.Usage{} // what a failure cost is not known
	}
	t.usage = sum(t.usage, resp.Usage, t.answered == 0)
	t.answered++
	return resp, err
}

// sum adds two counts; what one of them does not know is not known.
func sum(a, b provider.Usage, first bool) provider.Usage {
	if first {
		return b
	}
	add := func(x, y *int64) *int64 {
		if x == nil || y == nil {
			return nil
		}
		return new(*x + *y)
	}
	return provider.Usage{TokensIn: add(a.TokensIn, b.TokensIn), TokensOut: add(a.TokensOut, b.TokensOut), TokensCached: add(a.TokensCached, b.TokensCached)}
}
