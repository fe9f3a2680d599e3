package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/discovery"
	"github.com/relo-dev/relo/core/internal/provider/exchange"
	"github.com/relo-dev/relo/core/internal/rehearsal"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Step is one thing that was tried with a provider.
type Step struct {
	Provider string         `json:"provider"`
	Step     string         `json:"step"`            // reach, key, models, answer or picture
	Model    string         `json:"model,omitempty"` // of answer and picture: the ref
	State    string         `json:"state"`           // ok, fail, or skip when it could not be tried
	Words    string         `json:"words"`
	Hint     string         `json:"hint,omitempty"`
	Fault    provider.Fault `json:"fault,omitempty"`
	MS       int64          `json:"ms"`
	// BadKey: it failed because of the key or its account.
	BadKey bool `json:"badKey,omitempty"`
}

// The steps, in their order.
const (
	StepReach   = "reach"
	StepKey     = "key"
	StepModels  = "models"
	StepAnswer  = "answer"
	StepPicture = "picture"

	stateSkip = "skip"
)

const (
	// tellTime bounds one tiny answer: a local server may load its model first.
	tellTime = 90 * time.Second
	// tellTokens leaves a model that thinks first some room for its word.
	tellTokens = 400
	// tellMost bounds how many models of one provider are asked with all.
	tellMost = 40
)

// CheckOptions say what to try.
type CheckOptions struct {
	Names   []string // providers; empty: all
	All     bool     // every model that the config names, not only the ladder's
	Picture bool     // a tiny picture too
}

// Check tries providers step by step and tells each step as it ends. It sends one
// tiny request a model, which is not in the ledger: it belongs to no job.
func (p Providers) Check(ctx context.Context, cfg *config.Config, o CheckOptions, tell func(Step)) error {
	names := o.Names
	if len(names) == 0 {
		names = providerNames(cfg)
	}
	for _, name := range names {
		if _, ok := cfg.Providers[name]; !ok {
			return noProvider(cfg, name)
		}
	}
	for _, name := range names {
		t := &trial{keys: p.keys(), known: p.Env.knowledge(), cfg: cfg, name: name, o: o, say: tell}
		if err := t.run(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// trial tries one provider.
type trial struct {
	keys  config.Keys
	known knowledge
	cfg   *config.Config
	name  string
	o     CheckOptions
	say   func(Step)

	client *exchange.Client
	listed []provider.Listed
	unkept error // why the list could not be kept
}

func (t *trial) tell(s Step, began time.Time) {
	s.Provider, s.MS = t.name, time.Since(began).Milliseconds()
	t.say(s)
}

// failed tells a step that failed, in the words of the error.
func (t *trial) failed(step, model string, err error, began time.Time) {
	s := Step{Step: step, Model: model, State: stateFail, Words: err.Error()}
	if e, ok := asProvider(err); ok {
		s.Words, s.Hint, s.Fault, s.BadKey = e.Words, e.Hint, e.Fault, e.Kind == provider.KindKey
		if e.Status != 0 && e.Fault == "" {
			s.Words = fmt.Sprintf("it answered %d: %s", e.Status, e.Words)
		}
	}
	t.tell(s, began)
}

func (t *trial) run(ctx context.Context) (err error) {
	row := t.cfg.Providers[t.name]
	if row.Wire == "rehearsal" && row.URL == "" {
		r, err := rehearsal.Start(ctx)
		if err != nil {
			return fmt.Errorf("start the rehearsal: %w", err)
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		row.URL = r.URL()
	}
	began := time.Now()
	if t.client, err = dialProvider(ctx, t.keys, t.name, row); err != nil {
		step := StepReach
		if provider.Is(err, provider.KindKey) {
			step = StepKey
		}
		t.failed(step, "", err, began)
		return nil
	}
	if !t.reach(ctx, row) {
		return nil
	}
	for _, ref := range t.models() {
		if ctx.Err() != nil {
			return nil
		}
		t.answer(ctx, ref)
	}
	return nil
}

// reach asks for the list of models, which shows at once whether the host is
// there, whether the key is good and what there is. ok says whether to go on.
func (t *trial) reach(ctx context.Context, row config.Provider) (ok bool) {
	began := time.Now()
	report, err := t.list(ctx, row)
	e, known := asProvider(err)
	switch {
	case err != nil && (!known || e.Kind == provider.KindCut || e.Kind == provider.KindStalled || e.Fault == provider.FaultPage):
		t.failed(StepReach, "", err, began)
		return false
	case err != nil && e.Kind == provider.KindKey:
		t.tell(Step{Step: StepReach, State: stateOK, Words: "reached"}, began)
		t.failed(StepKey, "", err, began)
		return e.Fault == provider.FaultAccess // a key for models alone may not see the list
	}
	t.tell(Step{Step: StepReach, State: stateOK, Words: "reached"}, began)
	if err != nil { // many proxies have no list; what counts is the answer
		t.tell(Step{Step: StepModels, State: stateSkip, Words: "it gives no list of models: " + e.Words}, began)
		return true
	}
	t.listed = report.Models
	t.tell(Step{Step: StepKey, State: keyState(row), Words: keyWords(row)}, began)
	t.tell(Step{Step: StepModels, State: stateOK, Words: t.listWords()}, began)
	return true
}

// list asks for the list of models, and keeps it: what a provider reports is known
// from then on.
func (t *trial) list(ctx context.Context, row config.Provider) (discovery.Report, error) {
	e, err := endpointFor(ctx, t.keys, t.name, row)
	if err != nil {
		return discovery.Report{}, err
	}
	r, err := discovery.Ask(ctx, e, discovery.Report{}, time.Now().UTC())
	if err == nil && row.Wire != "rehearsal" {
		t.unkept = t.known.almanac.Keep(r) // told with the list: it says nothing against the provider
	}
	return r, err
}

// publicLists give their list to everybody, so that it proves nothing of a key.
var publicLists = []string{"openrouter"}

func keyState(row config.Provider) string {
	if row.Key == "" || slices.Contains(publicLists, row.API) {
		return stateSkip
	}
	return stateOK
}

func keyWords(row config.Provider) string {
	switch {
	case row.Key == "":
		return "no key is set, and the list did not ask for one"
	case slices.Contains(publicLists, row.API):
		return "its list is open to everybody; the answers show whether the key is good"
	}
	return "key accepted"
}

func (t *trial) listWords() string {
	images := 0
	for _, l := range t.listed {
		if l.Sight == vision.Sees {
			images++
		}
	}
	words := plural(len(t.listed), "model", "models")
	if images > 0 {
		words += fmt.Sprintf(", %d of them with images", images)
	}
	if t.unkept != nil {
		words += "; the list could not be kept: " + t.unkept.Error()
	}
	return words
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// models are whom to ask for an answer: those of the ladder, primary and routes;
// with all those of the provider's row too. When the config names none, one of the
// list is asked, so that something is.
func (t *trial) models() []catalog.Ref {
	refs := t.cfg.Models()
	if t.o.All {
		refs = allRefs(t.cfg)
	}
	var mine []catalog.Ref
	for _, ref := range refs {
		if of, _ := ref.Split(); of == t.name {
			mine = append(mine, ref)
		}
	}
	if len(mine) > 0 {
		return mine[:min(len(mine), tellMost)]
	}
	if of := t.anyModel(); of != "" {
		return []catalog.Ref{catalog.Ref(t.name + "/" + of)}
	}
	t.tell(Step{Step: StepAnswer, State: stateSkip, Words: "no model of the ladder is here, and the list names none: nobody was asked"}, time.Now())
	return nil
}

// anyModel is the weakest that the catalogue knows and the list has, else the first of the list.
func (t *trial) anyModel() string {
	for _, k := range catalog.Vendor(t.cfg.Providers[t.name].API) {
		if slices.ContainsFunc(t.listed, func(l provider.Listed) bool { return l.ID == k.ID }) {
			return k.ID
		}
	}
	for _, l := range t.listed {
		if _, chat := vision.Guess(l.ID); chat {
			return l.ID
		}
	}
	return ""
}

// pingTool makes the request like a real one, which always offers tools: a model
// that knows none is found here and not in the first job.
var pingTool = provider.ToolSpec{
	Name: "ready", Description: "Says that you are ready.", Schema: json.RawMessage(`{"type":"object","properties":{}}`),
}

func (t *trial) request(id string, parts ...provider.Part) provider.Request {
	return provider.Request{
		Model: id, System: "Role: worker\nThis is a test of the connection. Answer with one word.", MaxTokens: tellTokens, Tools: []provider.ToolSpec{pingTool},
		Messages: []provider.Message{{Role: provider.RoleUser, Parts: parts}},
	}
}

func (t *trial) answer(ctx context.Context, ref catalog.Ref) {
	_, id := ref.Split()
	asking, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	began := time.Now()
	if _, err := t.client.Stream(asking, t.request(id, provider.Text("Say the one word: ready")), nil); err != nil {
		t.failed(StepAnswer, string(ref), err, began)
		return
	}
	t.tell(Step{Step: StepAnswer, Model: string(ref), State: stateOK, Words: "answered"}, began)
	if t.o.Picture {
		t.picture(ctx, ref)
	}
}
