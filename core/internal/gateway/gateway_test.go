package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/packing"
	"github.com/relo-dev/relo/core/internal/provider/probe"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

// model is a scripted model: each call takes the next answer, the last one for ever.
type model struct {
	catalog.Model
	script []answer
	mu     sync.Mutex
	seen   []provider.Request
	noKey  error
	play   func(r provider.Request) (provider.Response, error) // instead of the script
	places []provider.Placement
}

type answer struct {
	err  error
	hang bool // until the caller leaves
}

func (m *model) Stream(ctx context.Context, r provider.Request, _ func(provider.Delta)) (provider.Response, error) {
	m.mu.Lock()
	next := answer{}
	if len(m.script) > 0 {
		next = m.script[min(len(m.seen), len(m.script)-1)]
	}
	m.seen = append(m.seen, r)
	m.mu.Unlock()
	if m.play != nil {
		return m.play(r)
	}
	if next.hang {
		<-ctx.Done()
		return provider.Response{}, &provider.Error{Kind: provider.KindCut, Sent: true, Cause: ctx.Err(), Words: "cut"}
	}
	if next.err != nil {
		return provider.Response{}, next.err
	}
	return answered(r), nil
}

// answered is an answer to a request, with a receipt for each picture in it.
func answered(r provider.Request) provider.Response {
	res := provider.Response{RequestID: "req", Stop: provider.StopEnd, Message: provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{provider.Text("ok")}}, Usage: provider.Usage{TokensIn: new(int64(1e6)), TokensOut: new(int64(0))}}
	for _, msg := range r.Messages {
		for _, p := range msg.Parts {
			pictures := []provider.Picture{}
			if p.Picture != nil {
				pictures = append(pictures, *p.Picture)
			}
			if p.Result != nil {
				pictures = append(pictures, p.Result.Pictures...)
			}
			for _, pic := range pictures {
				res.Receipts = append(res.Receipts, provider.Receipt{SHA256: pic.SHA256, Place: "here", Bytes: len(pic.Bytes), MediaType: pic.MediaType, View: pic.View})
			}
		}
	}
	return res
}

func (m *model) Placements(string) []provider.Placement { return m.places }

// world answers the gateway's needs and remembers.
type world struct {
	models  map[catalog.Ref]*model
	blobs   map[string]string
	mu      sync.Mutex
	open    map[string]ledger.Row
	settled []ledger.Row
	looks   []job.Look
	blinded []job.Blinded
	unsent  int
	verdict func() (record.Verdict, string)
	gone    bool // the context of a settle had ended
	lookers []catalog.Ref
	limits  packing.Limits
	probed  []probe.Finding
	notices []string
	fitted  int
	put     int
}

func (w *world) Model(ref catalog.Ref) (catalog.Model, bool) {
	m, ok := w.models[ref]
	if !ok {
		return catalog.Model{}, false
	}
	return m.Model, true
}

func (w *world) Client(_ context.Context, ref catalog.Ref) (provider.Client, error) {
	m := w.models[ref]
	return m, m.noKey
}

func (w *world) Blinded(ref catalog.Ref, phrase string) {
	w.models[ref].Sight = vision.Answer{Sight: vision.Blind, Source: vision.Refused, Detail: phrase}
}

func (w *world) Blob(sha string) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if b, ok := w.blobs[sha]; ok {
		return []byte(b), nil
	}
	return nil, record.ErrUnknown
}

func (w *world) Reserve(_ context.Context, r ledger.Row, _ ledger.Budget) (record.Verdict, string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.verdict != nil {
		if v, words := w.verdict(); v != record.Granted {
			return v, words, nil
		}
	}
	w.open[r.ID] = r
	return record.Granted, "", nil
}

func (w *world) Unsent(_ context.Context, id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.open, id)
	w.unsent++
	return nil
}

func (w *world) Endpoint(ref catalog.Ref) string { name, _ := ref.Split(); return name }

func (w *world) Limits(catalog.Ref) packing.Limits { return w.limits }

func (w *world) Lookers(asker catalog.Ref, private bool) []catalog.Ref {
	var out []catalog.Ref
	for _, ref := range w.lookers {
		if m := w.models[ref]; ref != asker && (!private || m.Private) && m.Sight.Sight != vision.Blind {
			out = append(out, ref)
		}
	}
	return out
}

func (w *world) Probed(ref catalog.Ref, f probe.Finding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.probed = append(w.probed, f)
	if m := w.models[ref]; f.Sight == vision.Sees {
		m.Sight = vision.Answer{Sight: vision.Sees, Source: vision.Probed}
	}
}

func (w *world) Notice(_ context.Context, _ ledger.Row, words string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notices = append(w.notices, words)
	return nil
}

func (w *world) PutBlob(data []byte) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sha := sumOf(data)
	w.blobs[sha] = string(data)
	w.put++
	return sha, nil
}

// Fit says the wish in the bytes of what it makes.
func (w *world) Fit(_ context.Context, data []byte, _ string, f vision.Fit) (vision.Picture, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fitted++
	if string(data) == "broken" {
		return vision.Picture{}, errors.New("corrupt: it is damaged")
	}
	out := fmt.Appendf(nil, "%s at %d", data, f.MaxEdge)
	if f.MaxBytes > 0 {
		out = out[:min(len(out), f.MaxBytes)]
	}
	edge := 100
	if f.MaxEdge > 0 {
		edge = min(edge, f.MaxEdge)
	}
	return vision.Picture{Bytes: out, SHA256: sumOf(out), MediaType: "image/png", Width: edge, Height: edge}, nil
}

func (w *world) TellBlinded(_ context.Context, _ ledger.Row, b job.Blinded) error {
	w.blinded = append(w.blinded, b)
	return nil
}

func (w *world) Settle(ctx context.Context, r ledger.Row, looks []job.Look) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.open[r.ID]; !ok {
		return record.ErrUnknown
	}
	delete(w.open, r.ID)
	w.settled, w.looks = append(w.settled, r), append(w.looks, looks...)
	w.gone = w.gone || ctx.Err() != nil
	return nil
}

func (w *world) outcomes() string {
	var out []string
	for _, r := range w.settled {
		out = append(out, string(r.Model)+":"+r.Outcome)
	}
	return strings.Join(out, " ")
}

func newWorld(models ...*model) *world {
	w := &world{models: map[catalog.Ref]*model{}, blobs: map[string]string{"s1": "one", "s2": "two"}, open: map[string]ledger.Row{}}
	for _, m := range models {
		w.models[m.Ref] = m
	}
	return w
}

func scripted(ref string, script ...answer) *model {
	return &model{Model: catalog.Model{Ref: catalog.Ref(ref), ID: ref + "-id", Sight: vision.Answer{Sight: vision.Sees, Source: vision.Configured}, Price: catalog.Price{Input: new(2.0), Output: new(4.0)}}, script: script}
}

func fails(k provider.Kind) answer {
	return answer{err: &provider.Error{Kind: k, Words: string(k), Sent: true}}
}

func (w *world) call(ctx context.Context, parts ...provider.Part) (traffic.Answer, error) {
	c := traffic.Call{Job: "j", Task: "t", Attempt: "a", Traffic: job.TrafficConversation, Request: provider.Request{
		System: "Role: worker", Messages: []provider.Message{{Role: provider.RoleUser, Parts: append([]provider.Part{provider.Text("go")}, parts...)}},
	}}
	for _, ref := range []catalog.Ref{"a", "b", "c"} {
		if _, ok := w.models[ref]; ok {
			c.Chain = append(c.Chain, ref)
		}
	}
	return w.gate().Call(ctx, c)
}

func TestTheChainIsWalkedWhenAnotherModelMayHelp(t *testing.T) {
	ok := answer{}
	tests := []struct {
		first    answer
		by       catalog.Ref // empty: nobody answered
		outcomes string
		why      string
	}{
		{ok, "a", "a:ok", "the first answers"},
		{fails(provider.KindBusy), "b", "a:busy a:busy a:busy b:ok", "busy: three tries, then the next"},
		{fails(provider.KindCut), "b", "a:cut a:cut a:cut b:ok", "cut off: likewise"},
		{fails(provider.KindStalled), "b", "a:stalled a:stalled a:stalled b:ok", "stalled: likewise"},
		{fails(provider.KindKey), "b", "a:key b:ok", "a refused key: the next at once"},
		{fails(provider.KindMalformed), "b", "a:malformed b:ok", "an unreadable answer: the next at once"},
		{fails(provider.KindLarge), "b", "a:large b:ok", "too large for this one: the next at once"},
		{fails(provider.KindRefused), "", "a:refused", "a request that is refused for what it says is not shown around"},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(scripted("a", c.first), scripted("b", ok))
				got, err := w.call(t.Context())
				if got.By != c.by && (err == nil) || (c.by == "") != (err != nil) {
					t.Errorf("answered by %q, %v; want %q", got.By, err, c.by)
				}
				if w.outcomes() != c.outcomes || len(w.open) != 0 {
					t.Errorf("rows %q, want %q; %d left open", w.outcomes(), c.outcomes, len(w.open))
				}
			})
		})
	}
}

func TestTheLastErrorIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(scripted("a", fails(provider.KindBusy)), scripted("b", fails(provider.KindKey)))
		if _, err := w.call(t.Context()); !provider.Is(err, provider.KindKey) {
			t.Errorf("%v", err)
		}
		if _, err := newWorld().call(t.Context()); err == nil {
			t.Error("a route without models answered")
		}
	})
}

func TestAModelWithoutAKeyIsPassedOver(t *testing.T) {
	a := scripted("a", answer{})
	a.noKey = &provider.Error{Kind: provider.KindKey, Words: "no key"}
	w := newWorld(a, scripted("b", answer{}))
	if got, err := w.call(t.Context()); err != nil || got.By != "b" || w.settled[0].Place != 1 {
		t.Errorf("%+v %v", got, err)
	}
	w = newWorld(a)
	if _, err := w.call(t.Context()); !provider.Is(err, provider.KindKey) {
		t.Errorf("%v", err)
	}
}

func TestTheWaitIsTheProvidersWhenItNamesOne(t *testing.T) {
	for told, want := range map[time.Duration]time.Duration{7 * time.Second: 7 * time.Second, time.Hour: longestTold} {
		synctest.Test(t, func(t *testing.T) {
			busy := &provider.Error{Kind: provider.KindBusy, Sent: true, RetryAfter: told}
			w := newWorld(scripted("a", answer{err: busy}, answer{}))
			start := time.Now()
			if _, err := w.call(t.Context()); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took < want || took > want+want/jitterShare {
				t.Errorf("told %v, waited %v, want %v", told, took, want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w := newWorld(scripted("a", fails(provider.KindBusy), fails(provider.KindBusy), answer{}))
		if _, err := w.call(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took < firstWait || took > 5*firstWait {
			t.Errorf("not told: waited %v", took)
		}
	})
}

func TestOneRowASentRequest(t *testing.T) {
	w := newWorld(scripted("a", answer{}))
	if _, err := w.call(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := w.settled[0]
	if r.Job != "j" || r.Task != "t" || r.Attempt != "a" || r.Traffic != "conversation" || r.Model != "a" || r.Outcome != "ok" || r.Cost == nil || *r.Cost != 2 || *r.Reserved <= 0 {
		t.Errorf("%+v", r)
	}
	w = newWorld(scripted("a", answer{err: &provider.Error{Kind: provider.KindRefused, Words: "no such host"}}))
	if _, err := w.call(t.Context()); err == nil || len(w.settled) != 0 || w.unsent != 1 || len(w.open) != 0 {
		t.Errorf("a request that never left: %v, %d rows, %d taken back", err, len(w.settled), w.unsent)
	}
	a := scripted("a", answer{})
	a.Price = catalog.Price{}
	w = newWorld(a)
	if _, err := w.call(t.Context()); err != nil || w.settled[0].Cost != nil || w.settled[0].Reserved != nil {
		t.Errorf("without a price the cost is unknown and never 0: %v %+v", err, w.settled)
	}
}

func TestACallerThatLeavesIsSettledAndNobodyElseIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(scripted("a", answer{hang: true}), scripted("b", answer{}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := w.call(ctx); err == nil {
			t.Error("answered")
		}
		if len(w.settled) != 1 || w.gone || len(w.open) != 0 || len(w.models["b"].seen) != 0 {
			t.Errorf("rows %q, open %d, ended context %v, the next was asked %d times", w.outcomes(), len(w.open), w.gone, len(w.models["b"].seen))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(scripted("a", answer{hang: true}))
		ctx, cancel := context.WithCancel(t.Context())
		go func() { time.Sleep(time.Second); cancel() }()
		if _, err := w.call(ctx); !errors.Is(err, context.Canceled) || w.outcomes() != "a:cancelled" {
			t.Errorf("%v, rows %q", err, w.outcomes())
		}
	})
}

func TestTheBudgetIsWaitedForOrRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(scripted("a", answer{}))
		left := 4
		w.verdict = func() (record.Verdict, string) {
			left--
			return min(record.Wait, record.Verdict(max(left, 0))), "under way"
		}
		start := time.Now()
		if _, err := w.call(t.Context()); err != nil || time.Since(start) != 3*budgetPoll {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
	w := newWorld(scripted("a", answer{}), scripted("b", answer{}))
	w.verdict = func() (record.Verdict, string) { return record.Refused, "the job's budget is reached" }
	_, err := w.call(t.Context())
	if e, ok := errors.AsType[*traffic.BudgetError](err); !ok || e.Words != "the job's budget is reached" || len(w.models["b"].seen) != 0 {
		t.Errorf("%v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		w.verdict = func() (record.Verdict, string) { return record.Wait, "under way" }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := w.call(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}

func picture(sha, id string, role vision.Role) provider.Picture {
	return provider.Picture{
		Picture: vision.Picture{SHA256: sha, MediaType: "image/png", Width: 100, Height: 75},
		View:    vision.View{ID: id, Path: id + ".png", Role: role, Fresh: true, Tree: "tree"},
	}
}

func result(pictures ...provider.Picture) provider.Part {
	return provider.Part{Kind: provider.PartResult, Result: &provider.Result{ID: "c", Name: "relo_image", Text: "shown", Pictures: pictures}}
}

func TestWhoSeesGetsPixelsAndWhoDoesNotGetsWords(t *testing.T) {
	tests := []struct {
		sight vision.Sight
		takes bool
		pixel bool
		why   string
	}{
		{vision.Sees, false, true, "sees"},
		{vision.Unknown, true, true, "not known, and the provider takes pictures"},
		{vision.Unknown, false, false, "not known, and the provider does not take pictures"},
		{vision.Blind, true, false, "blind"},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			a := scripted("a", answer{})
			a.Sight.Sight, a.TakesPictures = c.sight, c.takes
			w := newWorld(a)
			got, err := w.call(t.Context(), provider.Show(picture("s1", "v1", vision.Reference)), result(picture("s2", "v2", vision.Result)))
			if err != nil {
				t.Fatal(err)
			}
			parts := a.seen[0].Messages[0].Parts
			shown := parts[1].Picture != nil && string(parts[1].Picture.Bytes) == "one" && len(parts[2].Result.Pictures) == 1 && string(parts[2].Result.Pictures[0].Bytes) == "two"
			words := parts[1].Picture == nil && parts[1].Kind == provider.PartText && strings.Contains(parts[1].Text, "v1.png") && strings.Contains(parts[1].Text, "cannot see") &&
				parts[2].Result.Pictures == nil && strings.Contains(parts[2].Result.Text, "shown\n") && strings.Contains(parts[2].Result.Text, "v2.png")
			if shown != c.pixel || words == c.pixel {
				t.Errorf("shown %v, words %v", shown, words)
			}
			how, blind, n := job.HowPixels, []string(nil), 2
			if !c.pixel {
				how, blind, n = job.HowDropped, []string{"v1", "v2"}, 0
			}
			if diff := cmp.Diff(blind, got.Blind); diff != "" || w.settled[0].Pictures != n {
				t.Errorf("blind to %v, %d pictures in the row", got.Blind, w.settled[0].Pictures)
			}
			if len(w.looks) != 2 || w.looks[0].How != how || w.looks[1].How != how || w.looks[1].AfterLastEdit != c.pixel || w.looks[0].AfterLastEdit || w.looks[1].SHA256 != "s2" || w.looks[1].By != "a" {
				t.Errorf("looks %+v", w.looks)
			}
			if a.seen[0].Model != "a-id" {
				t.Errorf("asked for %q", a.seen[0].Model)
			}
		})
	}
}

func TestTheCallersRequestStaysAsItIs(t *testing.T) {
	a := scripted("a", answer{})
	a.Sight.Sight = vision.Blind
	w := newWorld(a)
	shown, res := provider.Show(picture("s1", "v1", vision.Other)), result(picture("s2", "v2", vision.Other))
	if _, err := w.call(t.Context(), shown, res); err != nil {
		t.Fatal(err)
	}
	if shown.Picture.Bytes != nil || len(res.Result.Pictures) != 1 || res.Result.Text != "shown" {
		t.Errorf("%+v %+v", shown.Picture, res.Result)
	}
}

func TestEveryMissingPictureIsNamedAtOnce(t *testing.T) {
	w := newWorld(scripted("a", answer{}), scripted("b", answer{}))
	_, err := w.call(t.Context(), provider.Show(picture("x", "v1", vision.Other)), provider.Show(picture("s1", "v2", vision.Other)), result(picture("y", "v3", vision.Other)))
	e, ok := errors.AsType[*traffic.MissingError](err)
	if !ok {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"x", "y"}, e.SHA256); diff != "" || len(w.settled)+len(w.models["a"].seen)+len(w.models["b"].seen) != 0 {
		t.Errorf("%s; rows %q", diff, w.outcomes())
	}
}

func TestALookIsToldOnceAView(t *testing.T) {
	w := newWorld(scripted("a", answer{}))
	c := traffic.Call{Job: "j", Chain: []catalog.Ref{"a"}, Shown: map[string]bool{"v1": true}, Request: provider.Request{
		Messages: []provider.Message{{Role: provider.RoleUser, Parts: []provider.Part{provider.Show(picture("s1", "v1", vision.Result)), provider.Show(picture("s1", "v2", vision.Result))}}},
	}}
	if _, err := w.gate().Call(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if len(w.looks) != 1 || w.looks[0].ID != "v2" {
		t.Errorf("%+v", w.looks)
	}
}

func TestNoLookWithoutAnAnswer(t *testing.T) {
	w := newWorld(scripted("a", fails(provider.KindRefused)))
	if _, err := w.call(t.Context(), provider.Show(picture("s1", "v1", vision.Result))); err == nil || len(w.looks) != 0 {
		t.Errorf("%v, looks %+v", err, w.looks)
	}
}

func TestMaxTokens(t *testing.T) {
	for _, c := range []struct{ asked, most, want int }{
		{0, 0, ledger.DefaultMaxOutput}, {0, 100, 100}, {0, 1e6, ledger.DefaultMaxOutput}, {500, 0, 500}, {500, 100, 100}, {100, 500, 100}, {-1, -1, ledger.DefaultMaxOutput},
	} {
		if got := maxTokens(c.asked, c.most); got != c.want {
			t.Errorf("asked %d of %d: %d, want %d", c.asked, c.most, got, c.want)
		}
	}
}

func TestPicturesAreNotMeasuredAsProse(t *testing.T) {
	p := picture("s1", "v1", vision.Other)
	p.Bytes = make([]byte, 1<<20)
	r := provider.Request{System: "12345", Messages: []provider.Message{{Parts: []provider.Part{
		provider.Text("123"), provider.Show(p), result(p), {Kind: provider.PartCall, Call: &provider.Call{Name: "n", Args: []byte("{}")}},
	}}}}
	if got := textBytes(r); got < 5+3+5+3 || got > 100 {
		t.Errorf("%d bytes", got)
	}
}
