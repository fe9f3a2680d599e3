package gateway

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/packing"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

// packed is a request as it goes out, and what became of its pictures.
type packed struct {
	request   provider.Request
	shown     []provider.Picture // with the bytes that are sent
	worded    []worded
	changes   map[string]traffic.Replacement // by view: pictures that are not as they came
	tokens    int64                          // of the shown pictures, estimated
	textBytes int
}

// worded is a picture that went as words.
type worded struct {
	picture provider.Picture
	how     string      // job.HowDescribed or job.HowDropped
	by      catalog.Ref // who looked, when described
}

// strain is what a refusal asks of the same request when it is sent once more.
type strain struct {
	placement provider.Placement
	limits    *packing.Limits
	words     map[string]bool // by the SHA-256 of what was sent: these as words
	allWords  bool            // every picture as words
}

// slot is one picture of a request that is being packed.
type slot struct {
	picture    provider.Picture
	data       []byte
	tool       bool
	unanswered bool // of the turn that has no answer yet
	aged       bool
	pixels     bool
	foreign    bool   // it came with the request: nobody has looked yet whether it is a picture
	fitted     bool   // it is another picture than the one that came
	why        string // when not: for the model
	packed     bool   // the request's limits say so; why is a packing.Reason
	said       said   // its description, when there is one
	words      string
	how        string
	by         catalog.Ref
}

// viewsIn are the pictures of a transcript.
func viewsIn(messages []provider.Message) map[string]bool {
	out := map[string]bool{}
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Picture != nil {
				out[p.Picture.View.ID] = true
			}
			if p.Result != nil {
				for _, pic := range p.Result.Pictures {
					out[pic.View.ID] = true
				}
			}
		}
	}
	return out
}

// changed reports whether something else than the picture as it came stands in its place.
func (s *slot) changed() bool { return !s.pixels || s.fitted }

func (s *slot) replacement() traffic.Replacement {
	if s.pixels {
		return traffic.Replacement{Picture: &s.picture.Picture}
	}
	return traffic.Replacement{Words: s.words}
}

// pack makes the request that goes out to one model: pictures get their bytes and a
// size that the endpoint takes, or become words. The caller's request stays as it is.
func (g *Gateway) pack(ctx context.Context, c traffic.Call, on attemptOn, s strain) (packed, error) {
	request := c.Request
	_, own := direct(c, on) // a program's own bytes stay as they are but for its pictures
	if !own {
		var err error
		if request, err = g.lift(ctx, request); err != nil {
			return packed{}, err
		}
	}
	slots := collect(request.Messages, keepOf(c.Rules))
	if err := g.fill(slots, on, s); err != nil {
		return packed{}, err
	}
	out := packed{request: request, changes: map[string]traffic.Replacement{}}
	out.request.Model = on.model.ID
	out.request.MaxTokens = maxTokens(request.MaxTokens, on.model.MaxOutput)
	out.request.Placement = g.memory.placement(on.model.Ref)
	if s.placement != "" {
		out.request.Placement = s.placement
	}
	if err := g.squeeze(ctx, slots, textBytes(request), g.limitsOf(on, s), keepOf(c.Rules)); err != nil {
		return packed{}, err
	}
	if err := g.word(ctx, c, on, slots, s); err != nil {
		return packed{}, err
	}
	out.request.Messages = render(request.Messages, slots)
	if !own {
		out.request.Messages = g.compact(out.request, on.model)
	}
	still := viewsIn(out.request.Messages)
	for i := range slots {
		p := &slots[i]
		if p.pixels && !still[p.picture.View.ID] { // the context had no room for it
			p.pixels, p.how = false, job.HowDropped
		}
		if p.changed() {
			out.changes[p.picture.View.ID] = p.replacement()
		}
		if p.pixels {
			out.shown = append(out.shown, p.picture)
			out.tokens += ledger.PictureTokens(p.picture.Width, p.picture.Height)
			continue
		}
		out.worded = append(out.worded, worded{p.picture, p.how, p.by})
	}
	out.textBytes = textBytes(out.request)
	return out, nil
}

func keepOf(r traffic.PictureRules) int {
	if r.Keep <= 0 {
		return keepPictures
	}
	return r.Keep
}

// lift takes pictures out of the text of tools' results: base64 is no prose. The
// request comes back as it is when there is none.
func (g *Gateway) lift(ctx context.Context, r provider.Request) (provider.Request, error) {
	var messages []provider.Message
	for i, m := range r.Messages {
		for k, p := range m.Parts {
			if p.Result == nil || !strings.Contains(p.Result.Text, dataURL) {
				continue
			}
			rest, found := packing.Lift(p.Result.Text)
			if len(found) == 0 && rest == p.Result.Text {
				continue
			}
			result := *p.Result
			result.Text = rest
			result.Pictures = append([]provider.Picture{}, result.Pictures...)
			for n, one := range found {
				pic, err := g.lifted(ctx, result, n, one)
				if err != nil {
					return r, err
				}
				if pic != nil {
					result.Pictures = append(result.Pictures, *pic)
				}
			}
			if messages == nil {
				messages = append([]provider.Message{}, r.Messages...)
			}
			parts := append([]provider.Part{}, messages[i].Parts...)
			parts[k].Result = &result
			messages[i].Parts = parts
		}
	}
	if messages != nil {
		r.Messages = messages
	}
	return r, nil
}

// dataURL is in every text that holds a picture.
const dataURL = ";base64,"

// lifted prepares one picture that stood in a text and puts it into the album, so that
// a person can look at what the model saw. It is nil for one that cannot be read; the
// text says so.
func (g *Gateway) lifted(ctx context.Context, r provider.Result, n int, one packing.Lifted) (*provider.Picture, error) {
	if one.Bad {
		return nil, nil
	}
	name := fmt.Sprintf("inline picture %d of %s", n+1, r.Name)
	pic, err := g.fit(ctx, one.Data, name, vision.Fit{MaxEdge: liftedEdge})
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, nil
	}
	return &provider.Picture{Picture: pic, View: vision.View{
		ID: fmt.Sprintf("%s#%d", r.ID, n), Path: name, Role: vision.Other, Source: vision.Size{Width: pic.Width, Height: pic.Height},
	}}, nil
}

// liftedEdge is relo_image's own default.
const liftedEdge = 1568

// fit has a picture made to fit, once for the same bytes and the same wish, and puts
// what comes out into the album.
func (g *Gateway) fit(ctx context.Context, data []byte, name string, f vision.Fit) (vision.Picture, error) {
	key := fmt.Sprintf("%s %+v", sumOf(data), f)
	pic, _, err := g.fits.get(ctx, key, func(ctx context.Context) (vision.Picture, int64, error) {
		pic, err := g.dark.Fit(ctx, data, name, f)
		if err == nil {
			_, err = g.album.PutBlob(pic.Bytes)
		}
		return pic, int64(len(pic.Bytes)), err
	})
	return pic, err
}

// collect lists the pictures of a transcript in their order.
func collect(messages []provider.Message, keep int) []slot {
	answered := -1
	for i, m := range messages {
		if m.Role == provider.RoleAssistant {
			answered = i
		}
	}
	aged := packing.Aged(messages, keep)
	var out []slot
	add := func(i int, p provider.Picture, tool bool) {
		out = append(out, slot{picture: p, tool: tool, unanswered: i > answered, aged: aged[p.View.ID] && i <= answered})
	}
	for i, m := range messages {
		for _, p := range m.Parts {
			if p.Picture != nil {
				add(i, *p.Picture, false)
			}
			if p.Result != nil {
				for _, pic := range p.Result.Pictures {
					add(i, pic, true)
				}
			}
		}
	}
	return out
}

// fill decides who is shown as pixels as far as the model and its endpoint's memory
// go, and fetches their bytes.
func (g *Gateway) fill(slots []slot, on attemptOn, s strain) error {
	var missing []string
	for i := range slots {
		p := &slots[i]
		switch {
		case !on.model.MayShow(), s.allWords:
			p.why = blindReason
		case p.aged:
			p.why = agedReason
		case s.words[p.picture.SHA256], g.memory.isUnreadable(on.model.Ref, p.picture.SHA256):
			p.why = unreadableReason
		default:
			p.pixels = true
		}
		if len(p.picture.Bytes) > 0 { // of a request that came whole
			p.data, p.foreign = p.picture.Bytes, true
			continue
		}
		data, err := g.album.Blob(p.picture.SHA256)
		switch {
		case err == nil:
			p.data = data
		case p.pixels:
			missing = append(missing, p.picture.SHA256)
		}
		p.picture.Bytes = p.data
	}
	if len(missing) > 0 {
		return &traffic.MissingError{SHA256: missing}
	}
	return nil
}

// limitsOf are the endpoint's, what refusals taught of them, and what this try is held to.
func (g *Gateway) limitsOf(on attemptOn, s strain) packing.Limits {
	l := g.book.Limits(on.model.Ref)
	if learned, ok := g.memory.limits(on.model.Ref); ok {
		l = tighter(l, learned)
	}
	if s.limits != nil {
		l = tighter(l, *s.limits)
	}
	return l
}

// squeeze makes the pictures fit into the request.
func (g *Gateway) squeeze(ctx context.Context, slots []slot, text int, l packing.Limits, keep int) error {
	if err := g.inspect(ctx, slots); err != nil {
		return err
	}
	for range packRounds {
		var open []*slot
		var facts []packing.Picture
		for i := range slots {
			p := &slots[i]
			if !p.pixels {
				continue
			}
			open = append(open, p)
			facts = append(facts, packing.Picture{
				Key: p.picture.SHA256, View: p.picture.View.ID, Width: p.picture.Width, Height: p.picture.Height, Bytes: len(p.picture.Bytes),
				MediaType: p.picture.MediaType, Tool: p.tool, Unanswered: p.unanswered,
			})
		}
		changed := false
		for i, fate := range packing.Plan(facts, text, l, keep) {
			p := open[i]
			switch {
			case !fate.Keep:
				p.pixels, p.packed, p.why, changed = false, true, string(fate.Why), true
			case fate.Fit != nil:
				pic, err := g.fit(ctx, p.data, p.picture.View.Path, *fate.Fit)
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if changed = true; err != nil {
					p.pixels, p.why = false, unreadableReason
					continue
				}
				p.fitted = p.fitted || pic.SHA256 != p.picture.SHA256
				p.picture.Picture = pic
			}
		}
		if !changed {
			return nil
		}
	}
	return nil
}

// inspect has pictures decoded that came with the request: what they are is said by their
// bytes, not by who sent them, and one that is none becomes words.
func (g *Gateway) inspect(ctx context.Context, slots []slot) error {
	for i := range slots {
		p := &slots[i]
		if !p.pixels || !p.foreign {
			continue
		}
		pic, err := g.fit(ctx, p.data, p.picture.View.Path, vision.Fit{})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			p.pixels, p.why = false, unreadableReason
			continue
		}
		p.fitted = pic.SHA256 != p.picture.SHA256 || pic.MediaType != p.picture.MediaType
		p.picture.Picture = pic
	}
	return nil
}

// word puts words in the places of the pictures that are not shown.
func (g *Gateway) word(ctx context.Context, c traffic.Call, on attemptOn, slots []slot, s strain) error {
	var work sync.WaitGroup
	places := make(chan struct{}, looksAtOnce)
	for i := range slots {
		p := &slots[i]
		if p.pixels {
			continue
		}
		p.how = job.HowDropped
		key := g.wordsKey(c.Private || on.model.Private, on.model.Ref, p.picture.SHA256, "")
		if said, ok := g.words.peek(key); ok {
			p.describedBy(said)
			continue
		}
		if p.packed || p.why == agedReason || c.Traffic == job.TrafficVision || (s.allWords && !p.unanswered) || len(p.data) == 0 {
			p.words = plainLine(*p)
			continue
		}
		work.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			seen, err := g.Look(ctx, traffic.Look{
				Job: c.Job, Task: c.Task, Attempt: c.Attempt, Asker: on.model.Ref, Private: c.Private, Picture: p.picture, Budget: c.Budget, Rules: c.Rules,
			})
			if err != nil {
				p.words = nobodyLine(*p, err)
				return
			}
			p.describedBy(said{seen.Words, seen.By})
		})
	}
	work.Wait()
	return ctx.Err()
}

// render puts each picture, or its words, where the picture was.
func render(messages []provider.Message, slots []slot) []provider.Message {
	out := make([]provider.Message, len(messages))
	next := 0
	take := func() slot { next++; return slots[next-1] }
	for i, m := range messages {
		parts := make([]provider.Part, len(m.Parts))
		for k, p := range m.Parts {
			parts[k] = renderPart(p, take)
		}
		out[i] = provider.Message{Role: m.Role, Parts: parts}
	}
	return out
}

func renderPart(p provider.Part, take func() slot) provider.Part {
	switch {
	case p.Picture != nil:
		s := take()
		if !s.pixels {
			return provider.Text(s.words)
		}
		p.Picture = &s.picture
	case p.Result != nil && len(p.Result.Pictures) > 0:
		r := *p.Result
		r.Pictures = nil
		for range p.Result.Pictures {
			if s := take(); s.pixels {
				r.Pictures = append(r.Pictures, s.picture)
			} else {
				r.Text = strings.TrimPrefix(r.Text+"\n"+s.words, "\n")
			}
		}
		p.Result = &r
	}
	return p
}

// compact shortens what no longer fits into the model's context.
func (g *Gateway) compact(r provider.Request, m catalog.Model) []provider.Message {
	room := packing.RoomOf(m.Context, r.MaxTokens, textBytes(provider.Request{System: r.System, Tools: r.Tools}))
	if room == 0 {
		return r.Messages
	}
	messages, report := packing.Compact(r.Messages, room, packing.Saying{})
	if report.Pictures+report.Results > 0 {
		g.log.Info().Str("model", string(m.Ref)).Int("before", report.Before).Int("after", report.After).Int("pictures", report.Pictures).
			Int("results", report.Results).Bool("over", report.Over).Msg("a transcript was shortened to the model's context")
	}
	return messages
}
