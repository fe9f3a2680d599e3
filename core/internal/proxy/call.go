package proxy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/envelope"
	"github.com/relo-dev/relo/core/internal/traffic"
)

// call answers one request of a program.
func (p *Proxy) call(w http.ResponseWriter, r *http.Request, wire envelope.Wire) {
	e, ok := p.open(w, r, wire)
	if !ok {
		return
	}
	m, f := p.find(e.Model)
	if f != nil {
		fail(w, wire, f)
		return
	}
	direct := p.o.Book.Speaks(r.Context(), m.Ref, wireNames[wire])
	request, err := e.Request()
	if f, ok := errors.AsType[*envelope.Fault](err); ok {
		if !direct {
			f.Words += " (" + string(m.Ref) + " is asked over another wire)"
			fail(w, wire, f)
			return
		}
		request = bare(e) // its own bytes say it all
	}
	name, _ := r.Context().Value(who{}).(string)
	budget, rules := p.o.Book.Rules()
	d := newDelivery(w, r, e, m.Ref, p.o.Now())
	if !direct {
		d.answer.Foreign()
	}
	ctx, stop := d.keepAlive(r.Context())
	answer, err := p.o.Models.Call(ctx, traffic.Call{
		Attempt: "proxy/" + name + "/" + conversation(request), Traffic: job.TrafficConversation, Chain: []catalog.Ref{m.Ref},
		Request: request, Budget: budget, Rules: rules, Deliver: d,
	})
	stop()
	p.log.add(name, m.Ref, p.o.Now(), answer)
	d.end(answer, err)
	if err != nil && r.Context().Err() == nil {
		p.o.Log.Warn().Str("program", name).Str("model", string(m.Ref)).Err(err).Msg("a program's request failed")
	}
}

// wireNames are the wires as providers' clients know them.
var wireNames = map[envelope.Wire]string{envelope.Chat: "chat", envelope.Responses: "responses", envelope.Messages: "anthropic"}

// conversation tells a program's conversations apart by how they begin.
func conversation(r provider.Request) string {
	h := sha256.New()
	h.Write([]byte(r.System))
	if len(r.Messages) > 0 {
		for _, part := range r.Messages[0].Parts {
			h.Write([]byte(part.Text))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// bare is a transcript of nothing but the request's pictures, for a body that says what
// Relo's nouns cannot and goes to its own wire anyway.
func bare(e *envelope.Envelope) provider.Request {
	var before, now []provider.Part
	for _, s := range e.Pictures() {
		switch {
		case s.Data == nil:
		case s.Unanswered:
			now = append(now, provider.Show(s.Shown()))
		default:
			before = append(before, provider.Show(s.Shown()))
		}
	}
	r := provider.Request{Model: e.Model}
	if len(before) > 0 {
		r.Messages = append(r.Messages, provider.Message{Role: provider.RoleUser, Parts: before}, provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{provider.Text("…")}})
	}
	r.Messages = append(r.Messages, provider.Message{Role: provider.RoleUser, Parts: append([]provider.Part{provider.Text("…")}, now...)})
	return r
}

// delivery is one answer on its way to a program.
type delivery struct {
	w      http.ResponseWriter
	r      *http.Request
	e      *envelope.Envelope
	answer *envelope.Answer
	ref    catalog.Ref

	mu     sync.Mutex
	begun  bool // words were handed over
	headed bool // status and headers are out
	passed bool // in the provider's own bytes
	last   time.Time
	broken error
}

func newDelivery(w http.ResponseWriter, r *http.Request, e *envelope.Envelope, ref catalog.Ref, now time.Time) *delivery {
	return &delivery{w: w, r: r, e: e, ref: ref, answer: envelope.NewAnswer(e, strings.ReplaceAll(job.NewID(), "-", ""), now.Unix()), last: now}
}

// Wire is the program's own.
func (d *delivery) Wire() string { return wireNames[d.e.Wire] }

// Seal gives the program's own body with the changes; their places are the views' ids.
func (d *delivery) Seal(model string, pictures map[string]traffic.Replacement) ([]byte, []provider.Receipt, error) {
	c := envelope.Changes{Model: model, Pictures: map[int]envelope.Change{}, NoForeign: true}
	for _, s := range d.e.Pictures() {
		if x, ok := pictures[s.Place]; ok {
			c.Pictures[s.Index] = envelope.Change{Picture: x.Picture, Words: x.Words}
		}
	}
	return d.e.Seal(c)
}

// passedOn are the program's headers that say how its provider is to read the body.
var passedOn = []string{"Anthropic-Beta", "OpenAI-Beta"}

// Header are those that the provider should get.
func (d *delivery) Header() map[string]string {
	out := map[string]string{}
	for _, name := range passedOn {
		if v := d.r.Header.Values(name); len(v) > 0 {
			out[name] = strings.Join(v, ",")
		}
	}
	return out
}

// Pass hands on bytes of a provider of the program's own wire.
func (d *delivery) Pass(contentType string, data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun, d.passed = true, true
	d.write(contentType, data)
	return d.broken
}

// Delta hands on words, when the program wants them as they come.
func (d *delivery) Delta(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.e.Stream || text == "" {
		return
	}
	d.begun = true
	d.write(eventStream, d.answer.Delta(text))
}

// Begun reports whether anything was handed over.
func (d *delivery) Begun() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.begun
}

const eventStream = "text/event-stream"

// write sends bytes; the lock is held.
func (d *delivery) write(contentType string, data []byte) {
	if d.broken != nil {
		return
	}
	if !d.headed {
		d.headed = true
		h := d.w.Header()
		h.Set("Content-Type", contentType)
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Relo-Model", string(d.ref))
		d.w.WriteHeader(http.StatusOK)
	}
	d.last = time.Now()
	if _, d.broken = d.w.Write(data); d.broken == nil { //nolint:gosec // JSON and events for a program with a token; no page reads them
		if err := http.NewResponseController(d.w).Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			d.broken = err
		}
	}
}

// keepAlive lets a program that waits for a stream hear something from time to time, until
// stop is called. It says no words, so the answer can still be asked for in another form.
func (d *delivery) keepAlive(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	if !d.e.Stream {
		return ctx, cancel
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(quietTime / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				d.ping()
			}
		}
	}()
	return ctx, func() { cancel(); <-done }
}

func (d *delivery) ping() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Since(d.last) >= quietTime && !d.passed {
		d.write(eventStream, d.answer.Ping())
	}
}

// end says the rest of the answer, or why there is none.
func (d *delivery) end(a traffic.Answer, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.r.Context().Err() != nil:
	case err != nil:
		d.failed(err)
	case d.passed:
	case d.e.Stream:
		d.write(eventStream, d.answer.Done(a.Response))
	default:
		d.write("application/json", d.answer.Whole(a.Response))
	}
}

// failed tells the program what went wrong, in its wire's words; its own provider's
// words go to it as they are.
func (d *delivery) failed(err error) {
	status, kind, words := http.StatusBadGateway, provider.KindBusy, err.Error()
	e, ok := errors.AsType[*provider.Error](err)
	if ok {
		status, kind = e.Status, e.Kind
	}
	if b, ok := errors.AsType[*traffic.BudgetError](err); ok {
		status, kind, words = http.StatusPaymentRequired, provider.KindKey, b.Words
	}
	if d.headed {
		if !d.passed {
			d.write(eventStream, d.answer.FailEvent(kind, words))
		}
		return
	}
	d.headed = true
	if ok && e.RetryAfter > 0 {
		d.w.Header().Set("Retry-After", strconv.Itoa(int(e.RetryAfter.Seconds()+0.5)))
	}
	code, body := d.answer.Fail(status, kind, words)
	answer(d.w, code, body)
}

// receipts remembers which pictures of programs reached a model, and how.
type receipts struct {
	mu  sync.Mutex
	all []receipt
}

// receipt is one picture of one request that was answered.
type receipt struct {
	Time    time.Time   `json:"time"`
	Program string      `json:"program"`
	Model   catalog.Ref `json:"model"`
	How     string      `json:"how"` // pixels, described, dropped
	Place   string      `json:"place"`
	SHA256  string      `json:"sha256,omitempty"`
	Bytes   int         `json:"bytes,omitempty"`
	Request string      `json:"requestId,omitempty"`
}

func (l *receipts) add(program string, ref catalog.Ref, now time.Time, a traffic.Answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range a.Receipts {
		l.all = append(l.all, receipt{Time: now.UTC(), Program: program, Model: ref, How: job.HowPixels, Place: r.Place, SHA256: r.SHA256, Bytes: r.Bytes, Request: a.RequestID})
	}
	described := map[string]bool{}
	for _, id := range a.Described {
		described[id] = true
	}
	for _, id := range a.Blind {
		how := job.HowDropped
		if described[id] {
			how = job.HowDescribed
		}
		l.all = append(l.all, receipt{Time: now.UTC(), Program: program, Model: ref, How: how, Place: id, Request: a.RequestID})
	}
	l.all = l.all[max(0, len(l.all)-maxReceipts):]
}

// receipts lists a program's own, the newest last.
func (p *Proxy) receipts(w http.ResponseWriter, r *http.Request) {
	name, _ := r.Context().Value(who{}).(string)
	own := []receipt{}
	p.log.mu.Lock()
	for _, x := range p.log.all {
		if x.Program == name {
			own = append(own, x)
		}
	}
	p.log.mu.Unlock()
	body, err := json.Marshal(map[string]any{"receipts": own})
	if err != nil {
		body = []byte("{}")
	}
	answer(w, http.StatusOK, body)
}
