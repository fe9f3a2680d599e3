package catalog

import (
	"cmp"
	_ "embed" // for models.json
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/relo-dev/relo/core/internal/vision"
)

// Tier is how strong a model is among those of its day. The zero value means
// that nobody knows.
type Tier int

// The tiers, weakest first.
const (
	TierUnknown Tier = iota
	TierEasy
	TierNormal
	TierHard
	TierTop
)

var tierWords = [...]string{TierUnknown: "", TierEasy: "easy", TierNormal: "normal", TierHard: "hard", TierTop: "top"}

// UnmarshalText reads easy, normal, hard or top; empty is unknown.
func (t *Tier) UnmarshalText(text []byte) error {
	at := slices.Index(tierWords[:], string(text))
	if at < 0 {
		return fmt.Errorf("tier %q is not one of easy, normal, hard, top", text)
	}
	*t = Tier(at)
	return nil
}

// Known is one row of the built-in catalogue: a model at a vendor's own service.
type Known struct {
	API       string // the config's api, such as anthropic
	ID        string
	Name      string // for people
	Tier      Tier
	Old       bool          // a newer one does the same for less: known, but not proposed
	Sight     vision.Answer // source Catalog
	Context   int           // tokens; 0: unknown
	MaxOutput int           // tokens; 0: unknown
	Price     Price
	Tools     *bool // nil: not said
}

// modelsJSON is a hand-picked part of the npm package @oh-my-pi/pi-catalog 18.2.11
// (MIT), in its shape: input, contextWindow, maxTokens and cost (USD for a million
// tokens). The tier is ours. DeepSeek's and Cerebras's own services take no
// pictures, whatever the models could (design, "Does this model see?"), so their
// rows say text only. The package has no prices for Alibaba's own service.
//
//go:embed models.json
var modelsJSON []byte

// entry is one model in models.json.
type entry struct {
	Name   string   `json:"name"`
	Tier   Tier     `json:"tier"`
	Old    bool     `json:"old"`
	Input  []string `json:"input"`
	Window int      `json:"contextWindow"`
	Most   int      `json:"maxTokens"`
	Cost   *struct {
		Input     *float64 `json:"input"`
		Output    *float64 `json:"output"`
		CacheRead *float64 `json:"cacheRead"`
	} `json:"cost"`
}

// table is models.json, by api and id. A test reads every row, so it cannot fail later.
var table = sync.OnceValue(func() map[string]map[string]Known {
	var raw map[string]map[string]entry
	if err := json.Unmarshal(modelsJSON, &raw); err != nil {
		panic(fmt.Sprintf("the catalogue in the program is not JSON: %v", err))
	}
	all := map[string]map[string]Known{}
	for api, models := range raw {
		all[api] = map[string]Known{}
		for id, e := range models {
			all[api][id] = e.known(api, id)
		}
	}
	return all
})

func (e entry) known(api, id string) Known {
	k := Known{
		API: api, ID: id, Name: e.Name, Tier: e.Tier, Old: e.Old, Context: e.Window,
		Sight: vision.Answer{Sight: vision.Of(slices.Contains(e.Input, "image")), Source: vision.Catalog},
	}
	if e.Most <= e.Window/2 { // some rows repeat the window here, which would leave no room for a question
		k.MaxOutput = e.Most
	}
	if e.Cost != nil {
		k.Price = Price{Input: e.Cost.Input, Output: e.Cost.Output, Cached: e.Cost.CacheRead}
	}
	return k
}

// Vendor gives what the catalogue knows of one api's models, weakest first.
func Vendor(api string) []Known {
	var list []Known
	for _, k := range table()[api] {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b Known) int { return cmp.Or(cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.ID, b.ID)) })
	return list
}

// makers are the apis of those who make the models themselves.
var makers = []string{"anthropic", "openai", "gemini-openai", "mistral", "xai", "zai", "moonshot", "qwen", "minimax"}

// Find gives what the catalogue knows of a model: at the vendor's own api with
// its price; elsewhere, by the same id, only what the model itself can. api is the
// config's, base the provider's URL: a custom provider may be a known service.
func Find(api, base, id string) (Known, bool) {
	_ = base
	if k, ok := table()[api][id]; ok {
		return k, true
	}
	_, short, nested := strings.Cut(id, "/")
	for _, maker := range makers {
		k, ok := table()[maker][id]
		if !ok && nested {
			k, ok = table()[maker][short]
		}
		if ok {
			k.API, k.Price, k.MaxOutput = api, Price{}, 0
			return k, true
		}
	}
	return Known{}, false
}
