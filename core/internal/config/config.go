// Package config reads relo.json: the person's file, a project's, variables and
// flags, each value with its origin, and every fault at once. It decides nothing
// about models, holds no secret (only where one is kept), and a project's file
// can name no address, key, command or folder.
package config

import (
	"encoding/json"
	"slices"

	"github.com/relo-dev/relo/core/internal/catalog"
)

// Config is the whole configuration with defaults applied.
type Config struct {
	Providers map[string]Provider `json:"providers"`
	Ladder    []Rung              `json:"ladder"` // weakest first
	Primary   catalog.Ref         `json:"primary"`
	Routes    Routes              `json:"routes"`
	Engine    string              `json:"engine"`
	Engines   map[string]Program  `json:"engines"`
	ACP       map[string]Agent    `json:"acp"`
	MCP       map[string]Server   `json:"mcp"`
	Workers   Workers             `json:"workers"`
	Review    Review              `json:"review"`
	Budget    Budget              `json:"budget"`
	Limits    Limits              `json:"limits"`
	Pictures  Pictures            `json:"pictures"`
	Previews  []Preview           `json:"previews"`
	Worktree  Worktree            `json:"worktree"`
	Sandbox   Sandbox             `json:"sandbox"`
	Bus       Bus                 `json:"bus"`
	KeepDays  int                 `json:"keepDays"`

	// Empty: there is no file of the person's at all.
	Empty bool `json:"-"`
	// Waiting are the project's keys (previews, worktree) that take effect only
	// after the person approved ProjectHash.
	Waiting []string `json:"-"`
	// ProjectHash names exactly what the project's previews and worktree hold;
	// empty when it has neither.
	ProjectHash string `json:"-"`

	origins map[string]string
	merged  map[string]any
}

// Provider is one place that serves models. URL and Key are filled from the preset
// when the file has none.
type Provider struct {
	API      string                `json:"api"`
	URL      string                `json:"url"`
	Key      string                `json:"key"` // a reference: env:, file:, keyring:, cmd:; empty: none
	Private  *bool                 `json:"private"`
	Headers  map[string]string     `json:"headers"` // a value may be a reference as Key
	Discover *bool                 `json:"discover"`
	CAFile   string                `json:"caFile"`
	Region   string                `json:"region"`  // of AWS; for bedrock alone
	Profile  string                `json:"profile"` // of AWS's shared config; for bedrock alone
	Insecure bool                  `json:"insecure"`
	Models   map[string]ModelFacts `json:"models"`

	Wire          string `json:"-"` // of the preset
	TakesPictures bool   `json:"-"` // of the preset: for models of unknown sight
}

// IsPrivate applies the default: a local server on a loopback or private address.
func (p Provider) IsPrivate() bool {
	if p.Private != nil {
		return *p.Private
	}
	return presets[p.API].Local && nearAddress(p.URL)
}

// Discovers reports whether the provider is asked for its models; on unless set.
func (p Provider) Discovers() bool { return p.Discover == nil || *p.Discover }

// ModelFacts are what the person says of a model; nil and 0 mean not said.
type ModelFacts struct {
	Vision    *bool         `json:"vision"`
	Context   int           `json:"context"`
	MaxOutput int           `json:"maxOutput"`
	Price     catalog.Price `json:"price"`
	Tools     *bool         `json:"tools"`
}

// Rung is one step of the ladder: a chain of models, the next on failure.
type Rung struct {
	Model      Chain  `json:"model"`
	Difficulty string `json:"difficulty"` // easy, normal, hard or empty
}

// Chain is models in the order they are tried. In the file one may stand alone.
type Chain []catalog.Ref

// UnmarshalJSON reads a string or a list.
func (c *Chain) UnmarshalJSON(b []byte) error {
	var one catalog.Ref
	if json.Unmarshal(b, &one) == nil {
		*c = Chain{one}
		return nil
	}
	return json.Unmarshal(b, (*[]catalog.Ref)(c))
}

// Routes are chains for special work; an empty one means the default of each.
type Routes struct {
	Vision   Chain `json:"vision"`
	Planning Chain `json:"planning"`
	Review   Chain `json:"review"`
}

// Program is where an engine's program lies; empty: found on PATH.
type Program struct {
	Path string `json:"path"`
}

// Agent is an ACP agent's command.
type Agent struct {
	Command []string `json:"command"`
}

// Server is one of the person's MCP servers: a URL or a command.
type Server struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Command []string          `json:"command"`
	Env     map[string]string `json:"env"`
}

// Workers are those of this machine.
type Workers struct {
	Local        int      `json:"local"`
	Labels       []string `json:"labels"`
	LeaseSeconds int      `json:"leaseSeconds"`
}

// Review says whether results are reviewed by another model.
type Review struct {
	Auto bool `json:"auto"`
}

// Budget is in USD; nil is no limit.
type Budget struct {
	PerJob       *float64 `json:"perJob"`
	PerDay       *float64 `json:"perDay"`
	UnknownPrice string   `json:"unknownPrice"` // ask, allow or deny
}

// Limits bound a job.
type Limits struct {
	Attempts    int `json:"attempts"`    // of a task
	Rounds      int `json:"rounds"`      // model calls of an attempt
	TaskMinutes int `json:"taskMinutes"` // of an attempt
	Tasks       int `json:"tasks"`       // of a job
}

// Pictures are the rules of what models are shown.
type Pictures struct {
	MaxEdge     int      `json:"maxEdge"` // pixels
	Keep        int      `json:"keep"`    // turns that keep their pictures
	SettleDoubt bool     `json:"settleDoubt"`
	Never       []string `json:"never"` // globs that no model is shown; a project can only add
}

// Preview is a server that the project's own command starts.
type Preview struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
	Ready   string   `json:"ready"`
	URL     string   `json:"url"`
}

// Worktree prepares each attempt's folder.
type Worktree struct {
	Copy  []string `json:"copy"` // ignored files that are copied in
	Setup string   `json:"setup"`
}

// Sandbox says how agents are held.
type Sandbox struct {
	Mode    string  `json:"mode"` // auto, required or off
	Network Network `json:"network"`
}

// Network is what an agent may reach.
type Network struct {
	All   bool
	Hosts []string
}

// UnmarshalJSON reads true, false or a list of hosts.
func (n *Network) UnmarshalJSON(b []byte) error {
	*n = Network{}
	if json.Unmarshal(b, &n.All) == nil {
		return nil
	}
	return json.Unmarshal(b, &n.Hosts)
}

// MarshalJSON writes what UnmarshalJSON reads.
func (n Network) MarshalJSON() ([]byte, error) {
	if n.All || n.Hosts == nil {
		return json.Marshal(n.All)
	}
	return json.Marshal(n.Hosts)
}

// Bus says which bus is used; an empty URL is the embedded one.
type Bus struct {
	URL    string `json:"url"`
	Creds  string `json:"creds"`
	Listen string `json:"listen"`
}

// Models lists every model that the ladder, primary and routes name, once, in that order.
func (c *Config) Models() []catalog.Ref {
	var list []catalog.Ref
	add := func(chain Chain) {
		for _, m := range chain {
			if m != "" && !slices.Contains(list, m) {
				list = append(list, m)
			}
		}
	}
	for _, r := range c.Ladder {
		add(r.Model)
	}
	add(Chain{c.Primary})
	for _, chain := range []Chain{c.Routes.Vision, c.Routes.Planning, c.Routes.Review} {
		add(chain)
	}
	return list
}

// fill completes providers from their presets.
func (c *Config) fill() {
	for name, p := range c.Providers {
		preset := presets[p.API]
		p.Wire, p.TakesPictures = preset.Wire, preset.TakesPictures()
		if p.Key == "" && preset.KeyEnv != "" && (p.URL == "" || p.URL == preset.URL) {
			p.Key = "env:" + preset.KeyEnv // a vendor's key goes to the vendor only
		}
		if p.URL == "" {
			p.URL = preset.URL
		}
		c.Providers[name] = p
	}
}
