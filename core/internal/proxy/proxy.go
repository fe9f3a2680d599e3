// Package proxy lets other people's programs call models through Relo, on a loopback port
// and with a token for each program: the same wires in and out, with healing, describing,
// receipts and the ledger behind them.
package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/loopback"
	"github.com/relo-dev/relo/core/internal/provider/envelope"
	"github.com/relo-dev/relo/core/internal/traffic"
)

// Models gets answers from models; the gateway.
type Models interface {
	Call(ctx context.Context, c traffic.Call) (traffic.Answer, error)
}

// Book knows the person's models.
type Book interface {
	// Models are those that answer in words, in the person's order.
	Models() []catalog.Model
	// Speaks reports whether a model's provider takes a body of that wire as it is.
	Speaks(ctx context.Context, ref catalog.Ref, wire string) bool
	// Rules are the person's, for requests of no job.
	Rules() (ledger.Budget, traffic.PictureRules)
}

// Options make a Proxy.
type Options struct {
	Guard  *loopback.Guard
	Models Models
	Book   Book
	Log    zerolog.Logger
	Now    func() time.Time
}

// Proxy is an http.Handler for a loopback port.
type Proxy struct {
	o   Options
	mux *http.ServeMux
	log receipts
}

// New makes a proxy.
func New(o Options) *Proxy {
	p := &Proxy{o: o, mux: http.NewServeMux()}
	for path, wire := range map[string]envelope.Wire{
		"/v1/chat/completions": envelope.Chat, "/v1/responses": envelope.Responses, "/v1/messages": envelope.Messages,
	} {
		p.mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) { p.call(w, r, wire) })
	}
	p.mux.HandleFunc("POST /v1beta/models/{call...}", p.gemini)
	p.mux.HandleFunc("POST /v1/models/{call...}", p.gemini) // newer clients of Google
	p.mux.HandleFunc("POST /v1/messages/count_tokens", p.count)
	p.mux.HandleFunc("GET /v1/models", p.models)
	p.mux.HandleFunc("GET /v1/models/{id...}", p.model)
	p.mux.HandleFunc("GET /v1/relo/receipts", p.receipts)
	p.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, wireOf(r), &envelope.Fault{Status: http.StatusNotFound, Words: "there is nothing at " + r.Method + " " + r.URL.Path +
			"; Relo answers at /v1/chat/completions, /v1/responses, /v1/messages, /v1beta/models/MODEL:generateContent and /v1/models"})
	})
	return p
}

// who is the program that a request came from.
type who struct{}

// ServeHTTP implements http.Handler: nobody gets further without a token of this port, and
// no page of a browser does, before a byte of the body is read.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if key := r.Header.Values(geminiHeader); len(key) == 1 && r.Header.Get("Authorization") == "" && r.Header.Get("X-Api-Key") == "" {
		r.Header.Set("Authorization", "Bearer "+key[0])
	}
	name, err := p.o.Guard.Admit(r)
	switch {
	case errors.Is(err, loopback.ErrKey):
		w.Header().Set("WWW-Authenticate", "Bearer")
		fail(w, wireOf(r), &envelope.Fault{Status: http.StatusUnauthorized, Words: "the token is missing or wrong: relo proxy token add NAME makes one"})
		return
	case err != nil:
		fail(w, wireOf(r), &envelope.Fault{Status: http.StatusForbidden, Words: err.Error()})
		return
	}
	p.mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), who{}, name)))
}

// wireOf is the wire whose words a program understands, from its path and headers.
func wireOf(r *http.Request) envelope.Wire {
	switch {
	case strings.HasPrefix(r.URL.Path, "/v1/messages"), r.Header.Get("Anthropic-Version") != "":
		return envelope.Messages
	case strings.HasPrefix(r.URL.Path, "/v1/responses"):
		return envelope.Responses
	}
	return envelope.Chat
}

func fail(w http.ResponseWriter, wire envelope.Wire, f *envelope.Fault) {
	answer(w, f.Status, f.Body(wire))
}

func answer(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // JSON for a program with a token, which may have left; no page reads it
}

// isJSON reports whether a request says that it is: a form of a web page cannot.
func isJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}

const notJSON = "the Content-Type must be application/json"

// open reads a request; false: it was answered with what is wrong with it.
func (p *Proxy) open(w http.ResponseWriter, r *http.Request, wire envelope.Wire) (*envelope.Envelope, bool) {
	if !isJSON(r) {
		fail(w, wire, &envelope.Fault{Status: http.StatusUnsupportedMediaType, Words: notJSON})
		return nil, false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			fail(w, wire, &envelope.Fault{Status: http.StatusRequestEntityTooLarge, Words: "the request is larger than 64 MiB: leave older pictures out"})
		}
		return nil, false
	}
	e, err := envelope.Open(wire, body)
	if f, ok := errors.AsType[*envelope.Fault](err); ok {
		fail(w, wire, f)
		return nil, false
	}
	return e, err == nil
}

// find gives the model that a program names: as provider/id, or by an id that one
// provider alone has.
func (p *Proxy) find(name string) (catalog.Model, *envelope.Fault) {
	var found []catalog.Model
	var refs []string
	for _, m := range p.o.Book.Models() {
		refs = append(refs, string(m.Ref))
		if string(m.Ref) == name {
			return m, nil
		}
		if m.ID == name {
			found = append(found, m)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var same []string
		for _, m := range found {
			same = append(same, string(m.Ref))
		}
		return catalog.Model{}, &envelope.Fault{Status: http.StatusNotFound, Field: "model", Words: "more than one provider has the model " + name + ": name one of " + strings.Join(same, ", ")}
	}
	words := "the model " + name + " is not in Relo's config"
	if len(refs) > 0 {
		words += "; it has " + strings.Join(refs[:min(len(refs), maxNamed)], ", ")
	}
	return catalog.Model{}, &envelope.Fault{Status: http.StatusNotFound, Field: "model", Words: words}
}

// models lists them, in the shape of the wire that asks: Anthropic's clients send their
// version with it.
func (p *Proxy) models(w http.ResponseWriter, r *http.Request) {
	rows := []any{}
	for _, m := range p.o.Book.Models() {
		rows = append(rows, row(m, wireOf(r)))
	}
	list := map[string]any{"object": "list", "data": rows}
	if wireOf(r) == envelope.Messages {
		list = map[string]any{"data": rows, "has_more": false, "first_id": nil, "last_id": nil}
		if all := p.o.Book.Models(); len(all) > 0 {
			list["first_id"], list["last_id"] = all[0].Ref, all[len(all)-1].Ref
		}
	}
	document(w, list)
}

func (p *Proxy) model(w http.ResponseWriter, r *http.Request) {
	m, f := p.find(r.PathValue("id"))
	if f != nil {
		fail(w, wireOf(r), f)
		return
	}
	document(w, row(m, wireOf(r)))
}

// row is a model as lists have it; Relo's own field says what is known of its sight.
func row(m catalog.Model, wire envelope.Wire) map[string]any {
	sight := map[string]any{"vision": m.Sight.Sight.String(), "source": m.Sight.Source}
	if wire == envelope.Messages {
		return map[string]any{"type": "model", "id": m.Ref, "display_name": m.Ref, "created_at": "1970-01-01T00:00:00Z", "relo": sight}
	}
	return map[string]any{"object": "model", "id": m.Ref, "created": 0, "owned_by": m.Provider, "relo": sight}
}

func document(w http.ResponseWriter, v any) {
	body, err := json.Marshal(v)
	if err != nil { // what is written here can be
		body = []byte("{}")
	}
	answer(w, http.StatusOK, body)
}

// count estimates the tokens of a request, as Anthropic's endpoint of that name counts
// them: programs ask before they send.
func (p *Proxy) count(w http.ResponseWriter, r *http.Request) {
	e, ok := p.open(w, r, envelope.Messages)
	if !ok {
		return
	}
	request, err := e.Request()
	if f, ok := errors.AsType[*envelope.Fault](err); ok {
		fail(w, envelope.Messages, f)
		return
	}
	n := int64(len(request.System))
	for _, m := range request.Messages {
		for _, part := range m.Parts {
			n += int64(len(part.Text))
			if part.Call != nil {
				n += int64(len(part.Call.Args))
			}
			if part.Result != nil {
				n += int64(len(part.Result.Text))
			}
		}
	}
	for _, t := range request.Tools {
		n += int64(len(t.Description) + len(t.Schema))
	}
	n = n/charsPerToken + 1
	for _, s := range e.Pictures() {
		n += ledger.PictureTokens(s.Size.Width, s.Size.Height)
	}
	document(w, map[string]any{"input_tokens": n})
}
