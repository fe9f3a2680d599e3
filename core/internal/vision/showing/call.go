package showing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Prepare makes one file ready. It is called from several goroutines at once. An
// error that has a PictureCode is a refusal in words for the agent.
type Prepare func(ctx context.Context, name string, region *vision.Region, maxEdge int) (vision.Picture, vision.Meta, error)

// Coded is a refusal of a picture: a code of contracts §6, and words for the agent.
type Coded interface {
	error
	PictureCode() string
}

// The codes that this package gives by itself.
const (
	codeBusy    = "busy"
	codeTimeout = "timeout"
	codeCorrupt = "corrupt"
)

// Call is one call of relo_image whose arguments fit and that the minute has room for.
type Call struct {
	Args  prompt.ImageArgs // MaxEdge is 0 when the call did not say
	agent *Agent
}

// Call reads the arguments of a call made at now and counts it. refused are the
// words for the agent when there is none; calls with faults are not counted.
func (a *Agent) Call(args json.RawMessage, now time.Time) (c Call, refused string) {
	in, faults := prompt.DecodeImage(args)
	if len(faults) > 0 {
		return Call{}, strings.Join(faults, "; ")
	}
	if refused = a.Count(now); refused != "" {
		return Call{}, refused + fmt.Sprintf(", or show up to %d pictures in one call", PerCall)
	}
	return Call{Args: in, agent: a}, ""
}

// Count counts a call made at now. refused are the words for the agent when the last
// minute had too many.
func (a *Agent) Count(now time.Time) (refused string) {
	if wait, ok := a.allow(now); !ok {
		return fmt.Sprintf("busy: at most %d calls a minute; wait %.0f seconds", CallsPerMinute, math.Ceil(wait.Seconds()))
	}
	return ""
}

// Shown is a picture of an answer.
type Shown struct {
	Picture vision.Picture
	Meta    vision.Meta
	At      int    // its place among the call's paths
	Path    string // as the call named it
}

// Answer is what a call gives: Text is the JSON of contracts §6, Shown are the
// pictures in the order of its indexes. It is a failure when none could be shown.
type Answer struct {
	Text   string
	Shown  []Shown
	Failed bool
}

// prepared is what became of one path.
type prepared struct {
	picture vision.Picture
	meta    vision.Meta
	err     error
}

// Show prepares the call's paths and words the answer; edge is the longest edge when
// the call names none. A path that fails has its error and the others are shown. The
// error is of ctx, or of the answer's making.
func (c Call) Show(ctx context.Context, edge int, prepare Prepare) (Answer, error) {
	if c.Args.MaxEdge != 0 {
		edge = c.Args.MaxEdge
	}
	all := c.prepare(ctx, edge, prepare)
	if err := ctx.Err(); err != nil {
		return Answer{}, err // nobody waits for the answer
	}
	var out Answer
	var entries []entry
	total := 0
	for i, name := range c.Args.Paths {
		p := all[name]
		if p.err == nil && total+len(p.picture.Bytes) > BytesPerCall {
			p.err = leftOut(len(p.picture.Bytes))
		}
		if p.err != nil {
			entries = append(entries, entry{Path: Escape(name), Error: faultOf(p.err)})
			continue
		}
		total += len(p.picture.Bytes)
		meta := p.meta
		meta.Index = len(out.Shown)
		entries = append(entries, entry{shownEntry: &shownEntry{meta, append([]string{}, meta.Notes...)}, Path: Escape(name)})
		out.Shown = append(out.Shown, Shown{Picture: p.picture, Meta: meta, At: i, Path: name})
	}
	text, err := json.Marshal(map[string]any{"images": entries})
	if err != nil {
		return Answer{}, fmt.Errorf("describe the pictures: %w", err)
	}
	out.Text, out.Failed = string(text), len(out.Shown) == 0
	return out, nil
}

// prepare makes every path ready, each once, as many at a time as the room lets in.
func (c Call) prepare(ctx context.Context, edge int, prepare Prepare) map[string]prepared {
	ctx, cancel := context.WithTimeout(ctx, TimePerCall)
	defer cancel()
	all := map[string]*prepared{}
	var work sync.WaitGroup
	for _, name := range c.Args.Paths {
		if all[name] != nil {
			continue
		}
		p := &prepared{}
		all[name] = p
		work.Go(func() { p.picture, p.meta, p.err = c.agent.One(ctx, Wish{name, c.Args.Region, edge}, prepare) })
	}
	work.Wait()
	out := map[string]prepared{}
	for name, p := range all {
		out[name] = *p
	}
	return out
}

// Wish says how one file is wanted.
type Wish struct {
	Name    string
	Region  *vision.Region // nil: the whole
	MaxEdge int            // 0: what prepare takes by itself
}

// One prepares one file in the job's room, for at most TimePerCall.
func (a *Agent) One(ctx context.Context, w Wish, prepare Prepare) (vision.Picture, vision.Meta, error) {
	ctx, cancel := context.WithTimeout(ctx, TimePerCall)
	defer cancel()
	release, err := a.Place(ctx)
	if err != nil {
		return vision.Picture{}, vision.Meta{}, &refusal{codeBusy, "other pictures of this job are being prepared; ask again in a moment"}
	}
	defer release()
	p, meta, err := prepare(ctx, w.Name, w.Region, w.MaxEdge)
	if _, ok := errors.AsType[Coded](err); !ok && errors.Is(err, context.DeadlineExceeded) {
		err = &refusal{codeTimeout, fmt.Sprintf("preparing took longer than %v and was stopped; ask for fewer or smaller pictures", TimePerCall)}
	}
	return p, meta, err
}

// refusal is one of this package's own.
type refusal struct{ code, words string }

func (r *refusal) Error() string       { return r.words }
func (r *refusal) PictureCode() string { return r.code }

func leftOut(size int) error {
	return &refusal{codeBusy, fmt.Sprintf(
		"left out: the pictures of one call may have %d MiB together, and this one has %.1f MiB; show it in a call of its own",
		BytesPerCall>>20, float64(size)/(1<<20))}
}
