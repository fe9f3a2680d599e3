package catalog

import (
	"bytes"
	_ "embed" // for the table
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/relo-dev/relo/core/internal/vision"
)

// Origin is where a table is from.
type Origin struct {
	Package string // of npm
	Version string
	Licence string // its short name, as MIT
	Date    string // of the version, as 2026-09-23; empty: not known
}

// Table is what public lists say of models, by route and id. A route is one service's
// list: a vendor's own, or of one who serves the models of others. It does not change
// once it is made.
type Table struct {
	Origin
	routes []route
	rows   []row // by route, then by id

	byName   map[string]int32
	byKey    map[string][]int32 // rows, in their order
	presets  map[string]int32
	where    addresses
	yes, not bool // what pointers of rows and answers show to
}

// route is one list.
type route struct {
	name   string
	urls   []string // as they are written in the table
	nature nature
	own    string // detail of an answer that is the route's own
	byID   string // detail of an answer for another place
	first  int32  // of its rows
	behind int32
}

// row is one model of a route. Its strings are parts of the table's text.
type row struct {
	id      string
	name    string // empty: as the id says
	route   int32
	context int32
	most    int32
	sight   vision.Sight
	notChat bool
	draws   bool // makes pictures
	tools   *bool
	price   Price
}

// modelsTSV is the table of the package that NOTICE names, made by make catalog.
//
//go:embed models.tsv.gz
var modelsTSV []byte

// BuiltIn is the table in the program. It is read when it is first asked for; a test
// reads it, so that cannot fail later.
var BuiltIn = sync.OnceValue(func() *Table {
	t, err := ReadTable(bytes.NewReader(modelsTSV))
	if err != nil {
		panic(fmt.Sprintf("the catalogue in the program: %v", err))
	}
	return t
})

// Counts says how much is in the table.
func (t *Table) Counts() (routes, models int) { return len(t.routes), len(t.rows) }

// addRoute begins a route; the rows that are added next are its own.
func (t *Table) addRoute(name string, urls []string) {
	n := int32(len(t.rows)) //nolint:gosec // no more than maxRows
	t.routes = append(t.routes, route{name: name, urls: urls, nature: natures[name], first: n, behind: n})
}

func (t *Table) addRow(r row) {
	last := len(t.routes) - 1
	r.route = int32(last) //nolint:gosec // no more than maxRoutes
	t.rows = append(t.rows, r)
	t.routes[last].behind++
}

// prepare makes what is looked up by.
func (t *Table) prepare() {
	t.byName, t.presets, t.where = map[string]int32{}, map[string]int32{}, newAddresses()
	t.byKey = make(map[string][]int32, len(t.rows))
	for i := range t.routes {
		r := &t.routes[i]
		t.byName[r.name] = int32(i)
		r.own = r.name + "'s list of " + t.Version
		r.byID = r.own + ", by the id"
		if r.nature.makes != nil {
			r.byID = r.name + "'s own list of " + t.Version + ", by the id"
		}
	}
	for api, name := range presetRoutes {
		if i, ok := t.byName[name]; ok {
			t.presets[api] = i
		}
	}
	t.findAddresses()
	t.findKeys()
}

// findAddresses adds presets' routes first: of two lists of one address theirs counts.
func (t *Table) findAddresses() {
	for _, now := range []bool{true, false} {
		for i, r := range t.routes {
			if isUsual(r.name) != now {
				continue
			}
			for _, url := range slices.Concat(r.urls, r.nature.hosts) {
				t.where.add(url, int32(i))
			}
		}
	}
}

// findKeys sorts the rows under their keys, all lists in one piece of memory.
func (t *Table) findKeys() {
	var buf [keyBytes]byte
	number := make(map[string]int32, len(t.rows))
	var size []int32
	of := make([]int32, len(t.rows))
	var names []string
	for i := range t.rows {
		k := key(&buf, t.rows[i].id)
		n, ok := number[string(k)]
		if !ok {
			n = int32(len(size)) //nolint:gosec // no more than maxRows
			name := string(k)
			if at := strings.Index(t.rows[i].id, name); at >= 0 {
				name = t.rows[i].id[at : at+len(name)] // no copy where the text has it
			}
			number[name], size, names = n, append(size, 0), append(names, name)
		}
		size[n]++
		of[i] = n
	}
	room := make([]int32, len(t.rows))
	lists := make([][]int32, len(size))
	for n, has := range size {
		lists[n], room = room[:0:has], room[has:]
	}
	for i, n := range of {
		lists[n] = append(lists[n], int32(i))
	}
	for n, name := range names {
		t.byKey[name] = lists[n]
	}
}

// named gives the rows that go by an id, at any route.
func (t *Table) named(id string) (rows []int32, sure bool) {
	var buf [keyBytes]byte
	k := key(&buf, id)
	rows = t.byKey[string(k)]
	return rows, len(rows) > 0 && tells(string(k))
}

// route gives the route that a provider of the config is, -1 for none: a preset at its
// own address or a custom one at a known host. Whatever stands at another host may be a
// proxy, with models and prices of its own.
func (t *Table) route(api, base string) int32 {
	preset, ok := t.presets[api]
	if ok && (base == "" || t.where.has(base, preset)) {
		return preset
	}
	if base == "" {
		return -1
	}
	return t.where.at(base)
}
