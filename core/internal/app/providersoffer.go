package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/found"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/discovery"
	"github.com/relo-dev/relo/core/internal/routing"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Offer is what was found on this machine and the configuration that could be made
// of it. Nothing of it is in use.
type Offer struct {
	Found     found.Report      `json:"found"`
	Providers []OfferedProvider `json:"providers"` // that the config names
	Ladder    []OfferedRung     `json:"ladder"`    // weakest first
	Primary   string            `json:"primary"`
	Vision    string            `json:"vision,omitempty"`
	Warnings  []job.Reason      `json:"warnings"`
	File      string            `json:"file"`   // where the config would be
	Config    string            `json:"config"` // its text, with comments; empty when nothing can be proposed
}

// OfferedProvider is a provider of the proposed configuration.
type OfferedProvider struct {
	Name   string `json:"name"`
	API    string `json:"api"`
	URL    string `json:"url,omitempty"` // empty: the vendor's own
	Key    KeyDoc `json:"key"`
	Words  string `json:"words"` // where it was found
	Models int    `json:"models"`

	keyRef string // as the config has it
	local  bool
	server found.Server
}

// OfferedRung is a rung of the proposed ladder.
type OfferedRung struct {
	Models     []OfferedModel `json:"models"`
	Difficulty string         `json:"difficulty,omitempty"`
}

// OfferedModel is a model on it.
type OfferedModel struct {
	Ref    string       `json:"ref"`
	Vision vision.Sight `json:"vision"`
	Words  string       `json:"words"` // what it costs or how large it is
}

// Warnings of an offer, beside those of routing.
const (
	CodeNothingFound = "nothing-found"
	CodeNoPrice      = "no-price"
)

// NothingFound is said when there is nothing to make a configuration of.
const NothingFound = "No key was found in the environment, and no model server answers on this machine."

// lookAgent introduces Relo to a local server.
func lookAgent() string { return "relo/" + Version + " (looks for local models)" }

// FindOffer looks at this machine and makes a proposal. It asks loopback only, for
// a few seconds at most, and writes nothing.
func FindOffer(ctx context.Context, e Env) (Offer, error) {
	home := e.Getenv("HOME")
	if home == "" {
		home = e.Getenv("USERPROFILE")
	}
	return makeOffer(e, found.Look(ctx, found.Place{Getenv: e.Getenv, Home: home, Agent: lookAgent()}), nil)
}

// Take gives the offer with providers of other agents' settings in it, which are
// never in it by themselves.
func (o Offer) Take(e Env, more []found.Offered) (Offer, error) { return makeOffer(e, o.Found, more) }

// AcceptOffer writes the proposed configuration. One that is there is kept as
// backup when over is set, else it is config.ErrExists. What local servers reported of
// their models is kept as their report, so that it is not taken for the person's word.
func AcceptOffer(e Env, o Offer, over bool) (backup string, err error) {
	if backup, err = config.Create(e.places(), []byte(o.Config), over); err != nil {
		return backup, err
	}
	known, now := e.knowledge(), time.Now().UTC()
	for _, p := range o.Providers {
		preset, _ := config.PresetOf(p.API)
		if !p.local || len(p.server.Models) == 0 {
			continue
		}
		r := discovery.Report{Endpoint: catalog.EndpointOf(preset.Wire, p.URL), At: now}
		for _, m := range p.server.Models {
			r.Models = append(r.Models, listedAs(m))
		}
		if err := known.almanac.Keep(r); err != nil {
			return backup, fmt.Errorf("the configuration was written; what %s reports of its models could not be kept: %w", p.server.Name, err)
		}
	}
	return backup, nil
}

// listedAs is a model of a local server as an entry of its list.
func listedAs(m found.Model) provider.Listed {
	l := provider.Listed{ID: m.ID, Sight: m.Vision, Chat: new(m.Chat), Tools: m.Tools, Context: m.Context, Size: m.Size}
	if m.Vision != vision.Unknown {
		l.Field = "what the server says"
	}
	return l
}

func makeOffer(e Env, r found.Report, more []found.Offered) (Offer, error) {
	o := Offer{Found: r, Providers: []OfferedProvider{}, Ladder: []OfferedRung{}, Warnings: []job.Reason{}, File: e.places().File()}
	var all []routing.Candidate
	for _, k := range r.Keys {
		p := OfferedProvider{Name: nameOf(k.API), API: k.API, URL: k.URL, keyRef: "env:" + k.Variable, Words: "key in the variable " + k.Variable}
		if k.Base != "" {
			p.Words += ", address in " + k.Base
		}
		all = append(all, o.vendor(p)...)
	}
	for _, m := range more {
		p := OfferedProvider{Name: o.free(nameOf(m.API), m.Name), API: m.API, URL: m.URL, keyRef: m.KeyRef, Words: m.Words}
		all = append(all, o.vendor(p)...)
	}
	for _, s := range r.Servers {
		all = append(all, o.local(s)...)
	}
	if len(o.Providers) == 0 {
		o.Warnings = append(o.Warnings, job.Reason{Code: CodeNothingFound, Words: NothingFound})
		return o, nil
	}
	proposal := routing.Propose(all)
	o.take(proposal, all)
	if o.Primary == "" {
		return o, nil
	}
	o.Config = o.text()
	if err := config.Check(e.places(), []byte(o.Config)); err != nil {
		return o, fmt.Errorf("the proposed configuration: %w", err)
	}
	return o, nil
}

// vendor adds a provider of a service with what the catalogue knows of its models.
func (o *Offer) vendor(p OfferedProvider) (models []routing.Candidate) {
	p.Key = keyDoc(p.keyRef)
	for _, known := range catalog.Vendor(p.API) {
		if !known.Old {
			models = append(models, vendorCandidate(p.Name, known))
			p.Models++
		}
	}
	o.Providers = append(o.Providers, p)
	return models
}

// local adds a server of this machine with what it tells of its models.
func (o *Offer) local(s found.Server) (models []routing.Candidate) {
	p := OfferedProvider{Name: o.free(s.API, "local"), API: s.API, URL: s.URL, Key: keyDoc(""), Words: s.Name + " on this machine", Models: len(s.Models), local: true, server: s}
	if s.NeedsKey {
		p.Words += ", which asks for a key"
	}
	for _, m := range s.Models {
		models = append(models, localCandidate(p.Name, s, m))
	}
	o.Providers = append(o.Providers, p)
	return models
}

// longestName leaves room for a number within the config's 64 letters.
const longestName = 56

// free is the first name that no provider has yet; one of a bare wire takes the
// other agent's name for it.
func (o *Offer) free(name, other string) string {
	taken := func(n string) bool {
		return slices.ContainsFunc(o.Providers, func(p OfferedProvider) bool { return p.Name == n })
	}
	other = strings.Map(func(r rune) rune {
		if r == '.' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, other)
	other = strings.TrimLeft(other, "._-")
	if other == "" {
		other = "other"
	}
	if name == nameOf("openai-chat") || taken(name) {
		name = other
	}
	other = other[:min(len(other), longestName)]
	for n := 2; taken(name); n++ {
		name = fmt.Sprintf("%s-%d", other, n)
	}
	return name
}

// nameOf is a provider's name in the config, for an api.
func nameOf(api string) string { return strings.TrimSuffix(api, "-openai") }

func vendorCandidate(name string, k catalog.Known) routing.Candidate {
	return routing.Candidate{Tier: k.Tier, Model: catalog.Model{
		Ref: catalog.Ref(name + "/" + k.ID), Provider: name, ID: k.ID, Sight: k.Sight, Chat: true, Tools: true, Context: k.Context, Price: k.Price,
	}}
}

func localCandidate(name string, s found.Server, m found.Model) routing.Candidate {
	listed := listedAs(m)
	model := catalog.Resolve(catalog.Sources{
		Ref: catalog.Ref(name + "/" + m.ID), API: s.API, URL: s.URL, Private: true, TakesPictures: true, Listed: &listed,
	})
	if _, guessed := vision.Guess(m.ID); !guessed { // older servers list what answers nobody beside the others
		model.Chat = false
	}
	return routing.Candidate{Size: m.Size, Model: model}
}

// take words the proposal.
func (o *Offer) take(p routing.Proposal, all []routing.Candidate) {
	byRef := map[catalog.Ref]routing.Candidate{}
	for _, c := range all {
		byRef[c.Ref] = c
	}
	o.Primary, o.Vision = string(p.Primary), string(p.Vision)
	o.Warnings = append(o.Warnings, p.Warnings...)
	var unpriced []string
	used := []catalog.Ref{}
	for _, r := range p.Ladder {
		rung := OfferedRung{Difficulty: string(r.Difficulty)}
		for _, m := range r.Models {
			rung.Models = append(rung.Models, offeredModel(byRef[m.Ref]))
			used = append(used, m.Ref)
		}
		o.Ladder = append(o.Ladder, rung)
	}
	if p.Primary != "" && !slices.Contains(used, p.Primary) {
		used = append(used, p.Primary)
	}
	for _, ref := range used {
		if c := byRef[ref]; !c.Private && !c.Price.Known() {
			unpriced = append(unpriced, string(ref))
		}
	}
	if len(unpriced) > 0 {
		o.Warnings = append(o.Warnings, job.Reason{Code: CodeNoPrice, Words: "The price of " + strings.Join(unpriced, ", ") +
			" is not known, so a budget cannot count it: relo run asks first. Set it in the provider's models."})
	}
}

func offeredModel(c routing.Candidate) OfferedModel {
	words := "price unknown"
	switch {
	case c.Price.Known():
		words = fmt.Sprintf("$%s in, $%s out a million tokens", dollars(*c.Price.Input), dollars(*c.Price.Output))
	case c.Private && c.Size > 0:
		words = fmt.Sprintf("on this machine, %s billion parameters", strconv.FormatFloat(c.Size, 'f', -1, 64))
	case c.Private:
		words = "on this machine"
	}
	return OfferedModel{Ref: string(c.Ref), Vision: c.Sight.Sight, Words: words}
}

func dollars(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// text is the proposed relo.json.
func (o *Offer) text() string {
	var b strings.Builder
	b.WriteString("// Proposed by relo config init from what is on this machine. Change what you like:\n// relo config schema prints what is allowed, relo providers test tries it.\n{\n  \"providers\": {\n")
	for i, p := range o.Providers {
		b.WriteString("    // " + p.Words + "\n    " + jsonOf(p.Name) + ": " + p.row() + comma(i, len(o.Providers)) + "\n")
	}
	b.WriteString("  },\n  // weakest first; of two models in a rung the second is tried when the first fails\n  \"ladder\": [\n")
	for i, r := range o.Ladder {
		var refs, words []string
		for _, m := range r.Models {
			refs = append(refs, m.Ref)
			words = append(words, m.Vision.Words()+", "+m.Words)
		}
		b.WriteString("    { \"model\": ")
		if len(refs) == 1 {
			b.WriteString(jsonOf(refs[0]))
		} else {
			b.WriteString(jsonOf(refs))
		}
		if r.Difficulty != "" {
			b.WriteString(", \"difficulty\": " + jsonOf(r.Difficulty))
		}
		b.WriteString(" }" + comma(i, len(o.Ladder)) + " // " + strings.Join(words, "; ") + "\n")
	}
	b.WriteString("  ],\n  \"primary\": " + jsonOf(o.Primary))
	if o.Vision != "" {
		b.WriteString(",\n  // sees, and calls no tools: it describes pictures for the others\n  \"routes\": { \"vision\": [" + jsonOf(o.Vision) + "] }")
	}
	b.WriteString("\n}\n")
	return b.String()
}

func comma(i, n int) string {
	if i < n-1 {
		return ","
	}
	return ""
}

// row is the provider as the config has it. What a local server reports of tools and
// contexts is written down, since the config's own word for a local model is as good;
// of sight it is not: that would be taken for the person's word (see AcceptOffer).
func (p OfferedProvider) row() string {
	head := `{ "api": ` + jsonOf(p.API)
	if preset, _ := config.PresetOf(p.API); p.URL != "" && p.URL != preset.URL {
		head += `, "url": ` + jsonOf(p.URL)
	}
	if p.keyRef != "" {
		head += `, "key": ` + jsonOf(p.keyRef)
	}
	if !p.local {
		return head + " }"
	}
	var rows []string
	for _, m := range p.server.Models {
		if facts := factsOf(m); m.Chat && facts != "" {
			rows = append(rows, "      "+jsonOf(m.ID)+": { "+facts+" }")
		}
	}
	head += `, "private": true`
	if len(rows) == 0 {
		return head + " }"
	}
	return head + ", \"models\": { // as " + p.server.Name + " reports them\n" + strings.Join(rows, ",\n") + " } }"
}

func factsOf(m found.Model) string {
	var facts []string
	if m.Tools != nil {
		facts = append(facts, `"tools": `+jsonOf(*m.Tools))
	}
	if m.Context > 0 {
		facts = append(facts, `"context": `+jsonOf(m.Context))
	}
	return strings.Join(facts, ", ")
}

// jsonOf writes what is sure to be JSON: texts, numbers, maps of them.
func jsonOf(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(raw)
}
