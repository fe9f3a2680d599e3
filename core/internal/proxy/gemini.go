package proxy

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/codec/gemini"
	"github.com/relo-dev/relo/core/internal/traffic"
)

// geminiHeader is where Google's own clients put the key.
const geminiHeader = "X-Goog-Api-Key"

// gemini answers a program that speaks Gemini's wire; it is always written anew.
func (p *Proxy) gemini(w http.ResponseWriter, r *http.Request) {
	name, method, ok := strings.Cut(r.PathValue("call"), ":")
	if !ok || method != "generateContent" && method != "streamGenerateContent" {
		answer(w, http.StatusNotFound, gemini.Failure(http.StatusNotFound, "Relo answers generateContent and streamGenerateContent with alt=sse"))
		return
	}
	m, f := p.find(name)
	if f != nil {
		answer(w, f.Status, gemini.Failure(f.Status, f.Words))
		return
	}
	if !isJSON(r) {
		answer(w, http.StatusUnsupportedMediaType, gemini.Failure(http.StatusUnsupportedMediaType, notJSON))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		answer(w, http.StatusRequestEntityTooLarge, gemini.Failure(http.StatusRequestEntityTooLarge, "the request is larger than 64 MiB, or was cut off"))
		return
	}
	request, err := gemini.ReadRequest(m.ID, body)
	if err != nil {
		answer(w, http.StatusBadRequest, gemini.Failure(http.StatusBadRequest, err.Error()))
		return
	}
	program, _ := r.Context().Value(who{}).(string)
	budget, rules := p.o.Book.Rules()
	d := &geminiDelivery{w: w, model: name, stream: method == "streamGenerateContent"}
	a, err := p.o.Models.Call(r.Context(), traffic.Call{
		Attempt: "proxy/" + program + "/" + conversation(request), Traffic: job.TrafficConversation, Chain: []catalog.Ref{m.Ref},
		Request: request, Budget: budget, Rules: rules, Deliver: d,
	})
	p.log.add(program, m.Ref, p.o.Now(), a)
	d.end(a, err)
}

// geminiDelivery is an answer on its way to such a program.
type geminiDelivery struct {
	w      http.ResponseWriter
	model  string
	stream bool
	mu     sync.Mutex
	begun  bool
}

// Wire is none that a provider takes in a program's own bytes.
func (*geminiDelivery) Wire() string { return "" }

// Seal is never asked for.
func (*geminiDelivery) Seal(string, map[string]traffic.Replacement) ([]byte, []provider.Receipt, error) {
	return nil, nil, errors.New("this program's bytes are not passed on")
}

// Header gives none.
func (*geminiDelivery) Header() map[string]string { return nil }

// Pass is never called.
func (*geminiDelivery) Pass(string, []byte) error {
	return errors.New("this program's bytes are not passed on")
}

// Delta hands on words when the program wants them as they come.
func (d *geminiDelivery) Delta(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stream && text != "" {
		d.event(gemini.Piece(d.model, text))
	}
}

// Begun reports whether anything was handed over.
func (d *geminiDelivery) Begun() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.begun
}

// event sends one server-sent event; the lock is held.
func (d *geminiDelivery) event(data []byte) {
	if !d.begun {
		d.begun = true
		d.w.Header().Set("Content-Type", eventStream)
		d.w.WriteHeader(http.StatusOK)
	}
	_, _ = d.w.Write([]byte("data: " + string(data) + "\r\n\r\n")) // which may have left
	_ = http.NewResponseController(d.w).Flush()
}

func (d *geminiDelivery) end(a traffic.Answer, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err != nil:
		status, words := statusOf(err)
		if d.begun {
			d.event(gemini.Failure(status, words))
			return
		}
		answer(d.w, status, gemini.Failure(status, words))
	case d.stream:
		d.event(gemini.Answer(d.model, a.Response, d.begun))
	default:
		answer(d.w, http.StatusOK, gemini.Answer(d.model, a.Response, false))
	}
}

// statusOf is an error's HTTP status and its words.
func statusOf(err error) (int, string) {
	if b, ok := errors.AsType[*traffic.BudgetError](err); ok {
		return http.StatusPaymentRequired, b.Words
	}
	if e, ok := errors.AsType[*provider.Error](err); ok && e.Status >= http.StatusBadRequest {
		return e.Status, e.Error()
	}
	return http.StatusBadGateway, err.Error()
}
