package catalog

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Endpoint names where models are asked: a wire and a base URL, in one text. What an
// endpoint reports, what a probe of it showed and what it refused hold for it alone:
// the same id elsewhere may be served without eyes.
type Endpoint string

// EndpointOf makes the name: host in lower case, without a trailing slash and without
// anything that is no part of the address (user, query, fragment).
func EndpointOf(wire, base string) Endpoint {
	base = strings.TrimRight(base, "/")
	if u, err := url.Parse(base); err == nil && u.Host != "" {
		base = u.Scheme + "://" + strings.ToLower(u.Host) + strings.TrimRight(u.EscapedPath(), "/")
	}
	return Endpoint(wire + " " + base)
}

// URL is the address that the endpoint is at.
func (e Endpoint) URL() string {
	_, base, _ := strings.Cut(string(e), " ")
	return base
}

// Facts are what the person set on a model; absent is Auto.
type Facts struct {
	Vision    *bool
	Tools     *bool
	Context   int // tokens; 0: not set
	MaxOutput int // tokens; 0: not set
	Price     Price
}

// Probe is what a tiny test picture showed of one model at one endpoint.
type Probe struct {
	Endpoint Endpoint     `json:"endpoint"`
	ID       string       `json:"id"`
	Sight    vision.Sight `json:"vision"` // Unknown: it gave no answer
	Verdict  string       `json:"verdict"`
	Words    string       `json:"words"` // for people
	At       time.Time    `json:"at"`
}

// Sources is all that is known of one model before it is resolved. The zero value of a
// field is a source that says nothing.
type Sources struct {
	Ref Ref
	// API is the provider's preset and URL its base: together the route in the catalogue.
	API, URL      string
	Private       bool
	TakesPictures bool // of the preset
	Set           Facts
	Listed        *provider.Listed // from the endpoint's own list; nil: not in it, or never read
	ListedAt      time.Time
	Probed        *Probe
	Refused       vision.Answer // source Refused
	Table         *Table        // the catalogue; nil: the built-in
}

func (s Sources) table() *Table {
	if s.Table == nil {
		return BuiltIn()
	}
	return s.Table
}

// Resolve gives the one answer on a model that router, picker, prompts, gate and
// gateway use. Sight comes from the first source that knows (vision.Sources); the
// other facts from the person, then the endpoint's list, then the catalogue.
func Resolve(s Sources) Model {
	name, id := s.Ref.Split()
	guess, isChat := vision.Guess(id)
	known, _ := s.table().Find(s.API, s.URL, id)
	m := Model{
		Ref: s.Ref, Provider: name, ID: id, Chat: isChat, Tools: true, Private: s.Private && listedOf(s).Remote == "", TakesPictures: s.TakesPictures,
		Context: cmp.Or(s.Set.Context, listedOf(s).Context, known.Context), MaxOutput: cmp.Or(s.Set.MaxOutput, listedOf(s).MaxOutput, known.MaxOutput),
		Listed: s.Listed != nil,
	}
	m.Price = firstPrice(s.Set.Price, Price(listedOf(s).Price), known.Price)
	for _, tools := range []*bool{s.Set.Tools, listedOf(s).Tools, known.Tools} {
		if tools != nil {
			m.Tools = *tools
			break
		}
	}
	if chat := cmp.Or(listedOf(s).Chat, known.Chat); chat != nil {
		m.Chat = *chat
	}
	m.Said = vision.Hear(s.Refused, s.configured(), s.probed(), s.reported(), known.Sight, guess)
	m.Sight = m.Said.Answer()
	return m
}

func listedOf(s Sources) provider.Listed {
	if s.Listed == nil {
		return provider.Listed{}
	}
	return *s.Listed
}

func firstPrice(prices ...Price) Price {
	for _, p := range prices {
		if p != (Price{}) {
			return p
		}
	}
	return Price{}
}

func (s Sources) configured() vision.Answer {
	if s.Set.Vision == nil {
		return vision.Answer{}
	}
	return vision.Answer{Sight: vision.Of(*s.Set.Vision), Source: vision.Configured}
}

func (s Sources) probed() vision.Answer {
	if s.Probed == nil {
		return vision.Answer{}
	}
	detail := s.Probed.At.UTC().Format(time.DateOnly) + " at " + s.Probed.Endpoint.URL()
	if s.Probed.Words != "" {
		detail += ": " + s.Probed.Words
	}
	return vision.Answer{Sight: s.Probed.Sight, Source: vision.Probed, Detail: detail}
}

func (s Sources) reported() vision.Answer {
	if s.Listed == nil {
		return vision.Answer{}
	}
	detail := s.Listed.Field
	if !s.ListedAt.IsZero() {
		detail = strings.TrimPrefix(detail+", "+s.ListedAt.UTC().Format(time.DateOnly), ", ")
	}
	return vision.Answer{Sight: s.Listed.Sight, Source: vision.Reported, Detail: detail}
}
