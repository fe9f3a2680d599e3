package double

import (
	"context"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// wire is one provider's side of the double.
type wire interface {
	name() string
	// read parses a request and holds it against the provider's rules.
	read(r *http.Request, body []byte) (*asked, *refusal)
	badKey(key string) *refusal
	noModel(model string) *refusal
	blind() *refusal
	errorBody(r *refusal) string
	// events is the answer as a stream, and the index of the last piece of content.
	events(a *asked, r Reply) (all []event, last int)
	// whole is the answer as one document.
	whole(a *asked, r Reply) string
	keepAlive() string
}

// asked is a request that broke no rule of the wire's.
type asked struct {
	turn         Turn
	stream       bool
	includeUsage bool
	base64       int       // bytes of the body that are pictures
	drops        bool      // the model is one that loses pictures
	charged      []Picture // that it lost and counts
}

// event is one server-sent event.
type event struct{ name, data string }

func (s *Server) handle(w wire) http.HandlerFunc {
	return func(out http.ResponseWriter, r *http.Request) {
		rec := s.arrive(r, w.name())
		defer s.leave(rec)
		body, err := io.ReadAll(http.MaxBytesReader(out, r.Body, maxRequest))
		s.note(func() { rec.Body = body })
		if err != nil {
			if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
				s.refuse(out, w, rec, usualOf(w, http.StatusRequestEntityTooLarge))
			}
			return
		}
		a, no := s.judge(w, r, rec, body)
		if no != nil {
			s.refuse(out, w, rec, no)
			return
		}
		reply := s.opts.Play(r.Context(), a.turn)
		if !wait(r.Context(), reply.Delay) {
			return
		}
		s.answer(r.Context(), out, exchange{w, rec, a, reply})
	}
}

// judge applies the rules in the order of the real ones: the key, the shape, the
// model, the transcript, the pictures.
func (s *Server) judge(w wire, r *http.Request, rec *Record, body []byte) (*asked, *refusal) {
	if key, ok := s.keyed(w, r, body); !ok {
		return nil, w.badKey(key)
	}
	a, no := w.read(r, body)
	if a != nil {
		s.note(func() { rec.Model, rec.Pictures = a.turn.Model, a.turn.Pictures })
	}
	if a == nil {
		return nil, no
	}
	model, known := s.opts.Models[a.turn.Model]
	switch {
	case !known:
		return nil, w.noModel(a.turn.Model)
	case !model.Sees && !model.Drops && len(a.turn.Pictures) > 0:
		if model.Refusal.Status != 0 {
			return nil, &refusal{status: model.Refusal.Status, body: model.Refusal.Body, words: model.Refusal.Body}
		}
		return nil, w.blind()
	case no != nil:
		return nil, no
	}
	if t, ok := w.(toolless); ok && model.NoTools && len(a.turn.Tools) > 0 {
		return nil, t.noTools(a.turn.Model)
	}
	a.drops = model.Drops && !model.Lies
	if !model.Sees {
		if model.Lies {
			a.charged = a.turn.Pictures
		}
		a.drop()
	}
	a.turn.N, a.turn.Wire, a.turn.Body, a.turn.Header = rec.N, w.name(), body, rec.Header
	first, _, _ := strings.Cut(a.turn.System, "\n")
	if role, ok := strings.CutPrefix(first, "Role:"); ok {
		a.turn.Role = strings.TrimSpace(role)
	}
	return a, nil
}

// drop takes the pictures away without a word.
func (a *asked) drop() {
	a.turn.Pictures = nil
	for i := range a.turn.Entries {
		a.turn.Entries[i].Pictures = nil
	}
}

func (s *Server) keyed(w wire, r *http.Request, body []byte) (key string, ok bool) {
	if p, own := w.(prover); own && p.proves(r, body, s.opts.Key) {
		return s.opts.Key, true
	}
	if k, own := w.(keyer); own {
		key = k.key(r)
	} else if key = r.Header.Get("X-Api-Key"); key == "" {
		key, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	return key, s.opts.Key == "" || subtle.ConstantTimeCompare([]byte(key), []byte(s.opts.Key)) == 1
}

func (s *Server) refuse(out http.ResponseWriter, w wire, rec *Record, r *refusal) {
	s.note(func() { rec.Status, rec.Words = r.status, r.words })
	out.Header().Set("Content-Type", "application/json")
	labelled(w, out.Header(), rec, r)
	out.WriteHeader(r.status)
	_, err := io.WriteString(out, w.errorBody(r))
	s.note(func() { rec.Answered = err == nil })
}

// exchange is a request and what is to be answered.
type exchange struct {
	wire  wire
	rec   *Record
	asked *asked
	reply Reply
}

func (s *Server) answer(ctx context.Context, out http.ResponseWriter, x exchange) {
	for name, value := range x.reply.Header {
		out.Header().Set(name, value)
	}
	r := x.reply
	switch {
	case r.Status != 0 && r.Status != http.StatusOK:
		no := usualOf(x.wire, r.Status)
		no.body = r.ErrorBody
		s.refuse(out, x.wire, x.rec, no)
	case r.Raw != "":
		kind := r.RawType
		if kind == "" {
			kind = contentTypeOf(x.wire)
		}
		s.send(ctx, out, x, kind, halves(r.Raw))
	case x.asked.stream:
		s.send(ctx, out, x, contentTypeOf(x.wire), s.frames(x))
	case r.ErrorEvent != "":
		s.send(ctx, out, x, "application/json", []string{r.ErrorEvent})
	default:
		s.send(ctx, out, x, "application/json", halves(x.wire.whole(x.asked, r)))
	}
}

// halves cuts a body in two, so that it can break off in the middle.
func halves(body string) []string { return []string{body[:len(body)/2], body[len(body)/2:]} }

// frames are the events as they are written; a reply that breaks off leaves out
// the last piece of content and what is after it.
func (s *Server) frames(x exchange) []string {
	events, last := x.wire.events(x.asked, x.reply)
	if x.reply.Cut || x.reply.Stall {
		events = events[:last+1]
	}
	var frames []string
	for _, e := range events {
		if s.opts.KeepAlive {
			frames = append(frames, x.wire.keepAlive())
		}
		frames = append(frames, frameOf(x.wire, e))
	}
	return frames
}

// send writes the frames one by one. One that breaks off leaves the last out.
func (s *Server) send(ctx context.Context, out http.ResponseWriter, x exchange, kind string, frames []string) {
	out.Header().Set("Content-Type", kind)
	labelled(x.wire, out.Header(), x.rec, nil)
	out.WriteHeader(http.StatusOK)
	s.note(func() { x.rec.Status = http.StatusOK })
	flush := http.NewResponseController(out)
	breaks := x.reply.Cut || x.reply.Stall
	if breaks && len(frames) > 0 {
		frames = frames[:len(frames)-1]
	}
	for _, frame := range frames {
		if !wait(ctx, s.opts.Pace) {
			return
		}
		if _, err := io.WriteString(out, frame); err != nil {
			return
		}
		if err := flush.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return
		}
	}
	switch {
	case x.reply.Stall:
		<-ctx.Done()
	case x.reply.Cut:
		panic(http.ErrAbortHandler) // how net/http breaks a connection in the middle of a body
	default:
		s.note(func() { x.rec.Answered = true })
	}
}

// wait reports whether the time passed before ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
