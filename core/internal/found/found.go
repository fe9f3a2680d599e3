// Package found looks at what is on this machine: keys in the environment, the
// settings of other agents, model servers on loopback. It only reports: nothing is
// used before a person says so. It asks no other machine, it copies no secret (at
// most it says where one is kept), and it leaves the sign-ins of other products alone.
package found

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/relo-dev/relo/core/internal/vision"
)

// Place is where to look.
type Place struct {
	Getenv func(string) string
	Home   string // of whose settings are looked at; empty: nobody's
	Agent  string // how to introduce oneself to a local server
	// LookPath finds a program; nil is exec.LookPath.
	LookPath func(string) (string, error)
}

// Report is all that was found. Its lists are in a fixed order.
type Report struct {
	Keys     []Key     `json:"keys"`
	Servers  []Server  `json:"servers"`
	Programs []Program `json:"programs"`
	Notes    []string  `json:"notes"` // what was left alone, and why
}

// Key is a key in the environment: its variable, never its value.
type Key struct {
	API      string `json:"api"` // the config's api that it fits
	Variable string `json:"variable"`
	URL      string `json:"url,omitempty"` // from BaseVariable; empty: the vendor's own
	Base     string `json:"base,omitempty"`
}

// Server is a model server on this machine that answered.
type Server struct {
	API      string  `json:"api"`
	Name     string  `json:"name"` // for people
	URL      string  `json:"url"`  // as the config wants it
	Models   []Model `json:"models"`
	NeedsKey bool    `json:"needsKey,omitempty"` // it answered, and asks for a key
}

// Model is a model of a local server, as the server tells it.
type Model struct {
	ID      string       `json:"id"`
	Size    float64      `json:"size,omitempty"` // billions of parameters; 0: unknown
	Vision  vision.Sight `json:"vision"`
	Tools   *bool        `json:"tools,omitempty"`   // nil: not said
	Context int          `json:"context,omitempty"` // tokens; 0: not said
	Chat    bool         `json:"chat"`
}

// Program is another agent whose settings are here.
type Program struct {
	Name   string    `json:"name"`
	Files  []string  `json:"files"` // that were looked at
	Offers []Offered `json:"offers"`
}

// Offered is a provider in another agent's settings.
type Offered struct {
	Name   string `json:"name"`             // as that agent calls it
	API    string `json:"api,omitempty"`    // ours; empty: Relo speaks nothing that fits
	URL    string `json:"url,omitempty"`    // empty: the vendor's own
	KeyRef string `json:"keyRef,omitempty"` // where its key could be fetched from; empty: not proposed
	Words  string `json:"words"`            // what it is, and why a reference is not proposed
}

// Usable reports whether a person can take the offer as it is.
func (o Offered) Usable() bool { return o.API != "" && o.KeyRef != "" }

// Look looks at everything at once and takes a few seconds at most, however the
// servers behave. What cannot be read is as if it were not there.
func Look(ctx context.Context, p Place) Report {
	if p.LookPath == nil {
		p.LookPath = exec.LookPath
	}
	r := Report{Keys: p.keys(), Servers: []Server{}, Programs: []Program{}, Notes: []string{}}
	spots, notes := p.spots()
	r.Notes = append(r.Notes, notes...)
	type answer struct {
		server Server
		notes  []string
		ok     bool
	}
	answers := make([]answer, len(spots))
	var wait sync.WaitGroup
	for i, s := range spots {
		wait.Go(func() {
			server, notes, ok := s.look(ctx, p.Agent)
			answers[i] = answer{server, notes, ok}
		})
	}
	for _, look := range programs {
		if found := look(p); len(found.Files) > 0 {
			r.Programs = append(r.Programs, found)
		}
	}
	wait.Wait()
	for _, a := range answers {
		if a.ok {
			r.Servers = append(r.Servers, a.server)
		}
		r.Notes = append(r.Notes, a.notes...)
	}
	return r
}

// variable is a row of the environment's keys.
type variable struct{ name, api, base string }

// variables are the names in the vendors' own documentation; of two for one api the
// first that is set counts. OPENAI_BASE_URL and ANTHROPIC_BASE_URL are read by the
// vendors' own libraries.
var variables = []variable{
	{"ANTHROPIC_API_KEY", "anthropic", "ANTHROPIC_BASE_URL"},
	{"OPENAI_API_KEY", "openai", "OPENAI_BASE_URL"},
	{"OPENROUTER_API_KEY", "openrouter", ""},
	{"GEMINI_API_KEY", "gemini-openai", ""},
	{"GOOGLE_API_KEY", "gemini-openai", ""},
	{"MISTRAL_API_KEY", "mistral", ""},
	{"XAI_API_KEY", "xai", ""},
	{"GROQ_API_KEY", "groq", ""},
	{"DEEPSEEK_API_KEY", "deepseek", ""},
	{"ZAI_API_KEY", "zai", ""},
	{"MOONSHOT_API_KEY", "moonshot", ""},
	{"DASHSCOPE_API_KEY", "qwen", ""},
	{"CEREBRAS_API_KEY", "cerebras", ""},
	{"MINIMAX_API_KEY", "minimax", ""},
}

// Variables lists the names that are looked for with the api of each.
func Variables() map[string]string {
	all := map[string]string{}
	for _, v := range variables {
		all[v.name] = v.api
	}
	return all
}

func (p Place) keys() []Key {
	keys := []Key{}
	for _, v := range variables {
		taken := slices.ContainsFunc(keys, func(k Key) bool { return k.API == v.api })
		if taken || strings.TrimSpace(p.Getenv(v.name)) == "" {
			continue
		}
		k := Key{API: v.api, Variable: v.name}
		if v.base != "" {
			if k.URL = strings.TrimSpace(p.Getenv(v.base)); k.URL != "" {
				k.Base = v.base
			}
		}
		keys = append(keys, k)
	}
	return keys
}
