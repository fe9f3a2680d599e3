package packing

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/relo-dev/relo/core/internal/provider"
)

// Saying is what a compaction is told of pictures. Each may be nil.
type Saying struct {
	Tokens func(w, h int) int64              // what a picture costs; nil: Tokens of an unknown model
	Line   func(pic provider.Picture) string // what stands in its place; nil: PictureLine without a description
	Shown  func(pic provider.Picture) bool   // is it sent as a picture; nil: all are
}

// Report is what a compaction did. Sizes are bytes; a picture counts as the text that
// costs as many tokens.
type Report struct {
	Before, After int
	Pictures      int  // became words
	Results       int  // were shortened
	Over          bool // there was no more to take, and it is still larger than the room
}

// RoomOf is the room for a transcript in bytes, for a model with a context of so many tokens, of
// which the answer may take some; fixed is the length of what is sent beside it (the system's words,
// tools). 0: the context is not known, and nothing can be said.
func RoomOf(context, answer, fixed int) int {
	if context <= 0 {
		return 0
	}
	return max(1, (context-max(0, answer))*bytesPerToken-fixed)
}

// Compact makes a transcript that is larger than room smaller, on a copy: first tools' pictures
// become words, then results of tools are shortened to their head and tail, the oldest first each time.
// The first message stays as it is, so do the results that the last freshRounds answers led to, and what a
// person or the model said; calls and results stay paired. It goes to three quarters of the
// room, at the point of the transcript where the room was passed, so the same transcript with more
// behind it begins the same until the next such point. Room of 0 or less: nothing is done.
func Compact(messages []provider.Message, room int, say Saying) ([]provider.Message, Report) {
	c := compaction{messages: messages, room: room, say: say.filled(), short: map[place]bool{}, gone: map[place]bool{}}
	for i, m := range messages {
		if m.Role == provider.RoleAssistant {
			c.point(i)
			c.answers = append(c.answers, i)
		}
		n := c.size(m)
		c.sum, c.report.Before = c.sum+n, c.report.Before+n
	}
	c.point(len(messages))
	c.report.After = c.sum
	c.report.Pictures, c.report.Results = len(c.gone), len(c.short)
	c.report.Over = room > 0 && c.sum > room
	return c.copied(), c.report
}

// Weigh is the size of a transcript in bytes, as Compact counts it.
func Weigh(messages []provider.Message, say Saying) int {
	c := compaction{say: say.filled()}
	n := 0
	for _, m := range messages {
		n += c.size(m)
	}
	return n
}

func (s Saying) filled() Saying {
	if s.Tokens == nil {
		s.Tokens = func(w, h int) int64 { return Tokens("", "", w, h) }
	}
	if s.Line == nil {
		s.Line = func(pic provider.Picture) string { return PictureLine(pic, "", "", true) }
	}
	if s.Shown == nil {
		s.Shown = func(provider.Picture) bool { return true }
	}
	return s
}

// place is a part of a message, and a picture of its result.
type place struct{ message, part, picture int }

type compaction struct {
	messages []provider.Message
	room     int
	say      Saying
	answers  []int // the model's messages so far
	sum      int   // size of what was read so far, as it is now
	short    map[place]bool
	gone     map[place]bool
	report   Report
}

func (c *compaction) size(m provider.Message) int {
	n := 0
	for _, p := range m.Parts {
		n += len(p.Text) + len(p.Signature)
		if p.Picture != nil {
			n += c.picture(*p.Picture)
		}
		if p.Call != nil {
			n += len(p.Call.Args) + len(p.Call.Name)
		}
		if p.Result != nil {
			n += len(p.Result.Text)
			for _, pic := range p.Result.Pictures {
				n += c.picture(pic)
			}
		}
	}
	return n
}

func (c *compaction) picture(pic provider.Picture) int {
	if !c.say.Shown(pic) {
		return 0
	}
	return int(c.say.Tokens(pic.Width, pic.Height)) * bytesPerToken
}

// point is a moment at which a request was, or is now, sent: with the messages before upTo.
func (c *compaction) point(upTo int) {
	if c.room <= 0 || c.sum <= c.room {
		return
	}
	end := upTo
	if n := len(c.answers); n < freshRounds {
		end = 0
	} else {
		end = min(end, c.answers[n-freshRounds])
	}
	target := c.room / 4 * lowWater
	for _, take := range []func(place, *provider.Result){c.words, c.shorten} {
		for i := 1; i < end; i++ {
			for k, p := range c.messages[i].Parts {
				if c.sum <= target {
					return
				}
				if p.Result != nil {
					take(place{message: i, part: k}, p.Result)
				}
			}
		}
	}
}

// words takes the pictures out of a result.
func (c *compaction) words(at place, r *provider.Result) {
	for k, pic := range r.Pictures {
		at.picture = k
		if c.gone[at] || !c.say.Shown(pic) {
			continue
		}
		if won := c.picture(pic) - len(c.say.Line(pic)) - 1; won > 0 {
			c.gone[at] = true
			c.sum -= won
		}
	}
}

func (c *compaction) shorten(at place, r *provider.Result) {
	if c.short[at] || len(r.Text) <= longResult {
		return
	}
	if won := len(r.Text) - len(shortened(r.Text)); won > 0 {
		c.short[at] = true
		c.sum -= won
	}
}

// shortened keeps head and tail, whole characters of both, and says so.
func shortened(text string) string {
	head := clip(text, headKept)
	tail := len(text) - tailKept
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[… %d bytes of this older result are left out to save room; run the tool again if you need them …]\n%s",
		head, tail-len(head), text[tail:])
}

// clip gives at most n bytes of a text, whole characters only.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// copied is the transcript with what was decided; the messages that stay are shared.
func (c *compaction) copied() []provider.Message {
	out := slices.Clone(c.messages)
	for i, m := range out {
		for k, p := range m.Parts {
			if p.Result == nil {
				continue
			}
			r, changed := c.result(place{message: i, part: k}, *p.Result)
			if !changed {
				continue
			}
			if &out[i].Parts[0] == &c.messages[i].Parts[0] {
				out[i].Parts = slices.Clone(m.Parts)
			}
			out[i].Parts[k].Result = &r
		}
	}
	return out
}

func (c *compaction) result(at place, r provider.Result) (provider.Result, bool) {
	changed := c.short[at]
	if changed {
		r.Text = shortened(r.Text)
	}
	var lines []string
	var stay []provider.Picture
	for k, pic := range r.Pictures {
		at.picture = k
		if c.gone[at] {
			lines = append(lines, c.say.Line(pic))
		} else {
			stay = append(stay, pic)
		}
	}
	if len(lines) > 0 {
		changed = true
		r.Text = strings.Join(append([]string{r.Text}, lines...), "\n")
		r.Pictures = stay
	}
	return r, changed
}
