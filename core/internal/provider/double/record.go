package double

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

func (s *Server) arrive(r *http.Request, wire string) *Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	rec := &Record{
		N: s.count, Wire: wire, Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), At: time.Now(),
	}
	s.records = append(s.records, rec)
	if old := len(s.records) - 1 - s.opts.Keep; s.opts.Keep > 0 && old >= 0 {
		s.records[old].Body, s.records[old].Pictures = nil, nil
	}
	return rec
}

func (s *Server) note(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *Server) leave(rec *Record) { s.note(func() { rec.Done = time.Now() }) }

// elsewhere records what reaches no endpoint.
func (s *Server) elsewhere(out http.ResponseWriter, r *http.Request) {
	rec := s.arrive(r, "")
	defer s.leave(rec)
	s.note(func() { rec.Status = http.StatusNotFound })
	http.NotFound(out, r)
}

// models lists the models, in the shape of the wire that asks: Anthropic's
// clients send their version with it.
func (s *Server) models(out http.ResponseWriter, r *http.Request) {
	rec := s.arrive(r, "")
	defer s.leave(rec)
	anthropic := r.Header.Get("Anthropic-Version") != ""
	var w wire = chatWire{}
	if anthropic {
		w = messagesWire{}
	}
	if key, ok := s.keyed(w, r, nil); !ok {
		s.refuse(out, w, rec, w.badKey(key))
		return
	}
	ids := make([]string, 0, len(s.opts.Models))
	for id := range s.opts.Models {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	data := make([]map[string]any, 0, len(ids))
	for _, id := range ids {
		if anthropic {
			data = append(data, map[string]any{"type": "model", "id": id, "display_name": id, "created_at": "2026-01-01T00:00:00Z"})
			continue
		}
		data = append(data, map[string]any{"id": id, "object": "model", "created": 0, "owned_by": "double"})
	}
	list := map[string]any{"object": "list", "data": data}
	if anthropic {
		list = map[string]any{"data": data, "has_more": false}
	}
	s.note(func() { rec.Status = http.StatusOK })
	out.Header().Set("Content-Type", "application/json")
	_, err := io.WriteString(out, toJSON(list))
	s.note(func() { rec.Answered = err == nil })
}

// words counts the characters of what is left of a request without its pictures.
func (a *asked) words() int {
	n := len(a.turn.System)
	for _, e := range a.turn.Entries {
		n += len(e.Text)
		for _, c := range e.Calls {
			n += len(c.Args)
		}
	}
	return n
}

// tokens counts what was asked and answered; a picture that was dropped costs nothing.
func (a *asked) tokens(r Reply) (in, out, cached int64) {
	in = int64((len(a.turn.Body)-a.base64)/charsPerToken) + 1
	if a.drops { // not even the JSON around a picture came to who counts
		in = int64(a.words()/charsPerToken) + 1
	}
	for _, p := range append(slices.Clone(a.turn.Pictures), a.charged...) {
		in += int64(p.Width * p.Height / pixelsPerToken)
	}
	said := len(r.Text) + len(r.Reasoning)
	for _, c := range r.Calls {
		said += len(c.Name) + len(c.arguments())
	}
	out = int64(said/charsPerToken) + 1
	for _, set := range []struct{ to, from *int64 }{{&in, r.Usage.In}, {&out, r.Usage.Out}, {&cached, r.Usage.Cached}} {
		if set.from != nil {
			*set.to = *set.from
		}
	}
	return in, out, cached
}

func (c Call) arguments() string {
	switch args := c.Args.(type) {
	case nil:
		return "{}"
	case string:
		return args
	default:
		return toJSON(args)
	}
}

// pieces cuts text as a stream does; text that is not empty has at least two, so
// that it can break off in the middle.
func pieces(text string) []string {
	runes := []rune(text)
	size := min(textPiece, max(1, len(runes)/2))
	var all []string
	for chunk := range slices.Chunk(runes, size) {
		all = append(all, string(chunk))
	}
	return all
}

func looksFailed(text string) bool { return strings.HasPrefix(strings.ToLower(text), "error") }
