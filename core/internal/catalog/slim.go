package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/vision"
)

// listed is what is read of one model in models.json of @oh-my-pi/pi-catalog. cost is
// in USD for a million tokens.
type listed struct {
	Name   string   `json:"name"`
	Base   string   `json:"baseUrl"`
	Input  []string `json:"input"`
	Kind   string   `json:"kind"` // of what is no chat model, such as embedding or tts
	Tools  *bool    `json:"supportsTools"`
	Window *float64 `json:"contextWindow"`
	Most   *float64 `json:"maxTokens"`
	Cost   struct {
		Input     float64 `json:"input"`
		Output    float64 `json:"output"`
		CacheRead float64 `json:"cacheRead"`
	} `json:"cost"`
}

// Slim makes a table of the package's models.json: provider → id → entry. Routes
// without an address on a network (local://, web://) are left out. It reads no more
// than 64 MiB; its errors wrap ErrTable.
func Slim(models io.Reader, from Origin) (*Table, error) {
	for _, word := range []string{from.Package, from.Version, from.Licence, from.Date} {
		if len(word) > maxID || !plain(word) {
			return nil, broken("it is from %.40q", word)
		}
	}
	if from.Package == "" || from.Version == "" {
		return nil, broken("nobody says where it is from")
	}
	lists, err := readLists(json.NewDecoder(io.LimitReader(models, maxJSON)))
	if err != nil {
		return nil, broken("%v", err)
	}
	t := &Table{Origin: from, yes: true}
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		if err := t.addList(name, lists[name]); err != nil {
			return nil, broken("%v", err)
		}
	}
	t.prepare()
	return t, nil
}

// readLists goes through the JSON a model at a time, so that what it takes is bounded
// by the number of models and not by what a file can hold.
func readLists(d *json.Decoder) (map[string]map[string]listed, error) {
	lists, total := map[string]map[string]listed{}, 0
	err := eachKey(d, func(route string) error {
		if _, twice := lists[route]; twice || len(lists) == maxRoutes {
			return fmt.Errorf("route %.40q is there twice, or is one of more than %d", route, maxRoutes)
		}
		lists[route] = map[string]listed{}
		return eachKey(d, func(id string) error {
			if total++; total > maxRows {
				return fmt.Errorf("more than %d models", maxRows)
			}
			var raw json.RawMessage
			if err := d.Decode(&raw); err != nil {
				return fmt.Errorf("%.40s/%.40s: %w", route, id, err)
			}
			if len(raw) > maxEntry {
				return fmt.Errorf("%.40s/%.40s has %d bytes", route, id, len(raw))
			}
			var l listed
			if err := json.Unmarshal(raw, &l); err != nil {
				return fmt.Errorf("%.40s/%.40s: %w", route, id, err)
			}
			if goodID(id) { // one that is no word cannot be asked for
				lists[route][id] = l
			}
			return nil
		})
	})
	return lists, err
}

// eachKey calls f at the value of each key of an object.
func eachKey(d *json.Decoder, f func(key string) error) error {
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return errors.Join(err, errors.New("it is not an object of objects"))
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		word, ok := name.(string)
		if !ok {
			return fmt.Errorf("%v is no name", name)
		}
		if err := f(word); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// addList adds a route with its models.
func (t *Table) addList(name string, models map[string]listed) error {
	urls := addressesOf(models)
	if len(urls) == 0 && len(natures[name].hosts) == 0 {
		return nil
	}
	if err := t.newRoute(name, urls); err != nil {
		return err
	}
	usual := usualMost(name, models)
	for _, id := range slices.Sorted(maps.Keys(models)) {
		if err := t.mayAdd(id); err != nil {
			return err
		}
		t.addRow(models[id].row(t, name, id, usual))
	}
	return nil
}

// addressesOf gives the route's addresses, sorted. What is filled in for each account
// ({location}, <account>) becomes a star in the host and ends a path.
func addressesOf(models map[string]listed) []string {
	seen := map[string]bool{}
	for _, m := range models {
		rest, ok := strings.CutPrefix(m.Base, "https://")
		if !ok {
			continue
		}
		host, path, _ := strings.Cut(strings.TrimRight(rest, "/"), "/")
		host = starred(host)
		if i := strings.IndexAny(path, "{<"); i >= 0 {
			path = path[:max(0, strings.LastIndexByte(path[:i], '/'))]
		}
		if url := strings.TrimRight(host+"/"+path, "/"); strings.Count(host, "*") <= 1 && len(url) <= maxURL && plain(url) && host != "" && host != "*" {
			seen[url] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func starred(host string) string {
	open, end := strings.IndexAny(host, "{<"), strings.LastIndexAny(host, "}>")
	if open < 0 || end < open {
		return host
	}
	return host[:open] + "*" + host[end+1:]
}

const (
	// An importer that does not know the longest answer writes the same for all: a value
	// that stands at seven tenths of at least ten models, at a route that makes none of
	// its own, is no fact. (commandcode: 65536 at 78 of 80, cursor: 64000 at 117 of 129.)
	usualShare, usualLeast = 0.7, 10
	// Tokens below which a window or an answer is a mistake of a list.
	leastWindow, leastMost = 1024, 256
)

// defaults are windows and answers that the importers write when they know neither:
// 222222 and 8888 are the package's own, 128000 and 4096 those of NVIDIA's list.
var defaults = map[[2]float64]bool{{222222, 8888}: true, {128000, 4096}: true}

// usualMost is the value that a route's list writes for nearly all, 0 when there is none.
func usualMost(route string, models map[string]listed) float64 {
	if natures[route].makes != nil || len(models) < usualLeast {
		return 0
	}
	times, known := map[float64]int{}, 0
	for _, m := range models {
		if m.Most != nil {
			times[*m.Most]++
			known++
		}
	}
	for value, n := range times {
		if float64(n) >= usualShare*float64(known) && n >= usualLeast {
			return value
		}
	}
	return 0
}

// row is the model in the table.
func (l listed) row(t *Table, route, id string, usual float64) row {
	r := row{id: id, notChat: l.Kind != "" && l.Kind != kindImage, draws: l.Kind == kindImage}
	if !r.notChat && len(l.Input) > 0 {
		r.sight = vision.Of(slices.Contains(l.Input, "image"))
	}
	if l.Tools != nil {
		r.tools = &t.not
		if *l.Tools {
			r.tools = &t.yes
		}
	}
	r.context, r.most = l.limits(usual)
	r.price = l.price(id)
	if _, known := natures[route]; (known || isUsual(route)) && l.Name != nameOf(id) && len(l.Name) <= maxID && !strings.ContainsAny(l.Name, "\t\n\r") {
		r.name = strings.TrimSpace(l.Name)
	}
	return r
}

// kindImage is a model that makes pictures. Some of them also talk (Gemini's), so what
// they are is left to the guess, and whether they take a picture is still a fact.
const kindImage = "image"

// limits are the window and the longest answer, 0 for what is no fact. Some rows repeat
// the window as the longest answer, or nearly; it would leave no room for a question.
func (l listed) limits(usual float64) (context, most int32) {
	value := func(p *float64, least float64) float64 {
		if p == nil || !(*p >= least) || *p > maxTokens {
			return 0
		}
		return math.Floor(*p)
	}
	window, longest := value(l.Window, leastWindow), value(l.Most, leastMost)
	if defaults[[2]float64{window, longest}] {
		return 0, 0
	}
	if longest == usual || longest > window/2 {
		longest = 0
	}
	return int32(window), int32(longest)
}

// price in the three directions. 0 is written for free and for not known alike, so it
// is a price only where the id says free, and then for all directions; a route that
// knows no prices, and a subscription, are not known. Below 0 is the router of a
// service, whose price is that of whatever it picks.
func (l listed) price(id string) Price {
	if l.Cost.Input == 0 && l.Cost.Output == 0 {
		if !saysFree(id) {
			return Price{}
		}
		return Price{Input: new(0.0), Output: new(0.0)}
	}
	return Price{Input: paid(l.Cost.Input), Output: paid(l.Cost.Output), Cached: paid(l.Cost.CacheRead)}
}

// paid is a price above 0, rounded to a millionth: the lists multiply prices of single
// tokens, which leaves 0.041999999999999996.
func paid(p float64) *float64 {
	p = math.Round(p*1e6) / 1e6
	if !(p > 0) || p > maxPrice {
		return nil
	}
	return &p
}

// saysFree reports whether a service calls this model free in its id: x:free, x-free.
func saysFree(id string) bool {
	return strings.HasSuffix(id, ":free") || strings.HasSuffix(id, "-free") || strings.HasSuffix(id, "/free")
}

// nameOf is the name that a person would make of an id: gpt-5.4-mini is Gpt 5.4 Mini.
func nameOf(id string) string {
	words := strings.FieldsFunc(id[strings.LastIndexByte(id, '/')+1:], func(c rune) bool { return c == '-' || c == '_' || c == ':' })
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, " ")
}
