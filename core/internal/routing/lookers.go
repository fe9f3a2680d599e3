package routing

import (
	"cmp"
	"slices"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/vision"
)

// lookersMost of a chain that nobody wrote down: more would only make a person wait.
const lookersMost = 3

// Looking asks who may look at a picture for a model that cannot see.
type Looking struct {
	Route   []catalog.Model // that the person wrote down for it; empty: none
	Known   []catalog.Model // all others, in the person's order
	Asker   catalog.Model   // zero: nobody knows who asks
	Private bool            // only models on the person's own machines
}

// Lookers gives the models that may look, best first: those of the route as far as they
// may be shown pictures; without a route those that are known to see, of the asker's own
// provider first and there the cheapest first, then others in the person's order. Never
// the asker itself. A private asker's pictures stay on the person's own machines.
func Lookers(q Looking) []catalog.Ref {
	private := q.Private || q.Asker.Private
	may := func(m catalog.Model) bool {
		return m.Ref != "" && m.Ref != q.Asker.Ref && m.Chat && (!private || m.Private)
	}
	var chain []catalog.Ref
	if len(q.Route) > 0 {
		for _, m := range q.Route {
			if may(m) && m.MayShow() && !slices.Contains(chain, m.Ref) {
				chain = append(chain, m.Ref)
			}
		}
		return chain
	}
	var near, far []catalog.Model
	for _, m := range q.Known {
		switch {
		case !may(m) || m.Sight.Sight != vision.Sees:
		case q.Asker.Provider != "" && m.Provider == q.Asker.Provider:
			near = append(near, m)
		default:
			far = append(far, m)
		}
	}
	slices.SortStableFunc(near, func(a, b catalog.Model) int { return cmp.Compare(looksFor(a), looksFor(b)) })
	for _, m := range append(near, far...) {
		if !slices.Contains(chain, m.Ref) {
			chain = append(chain, m.Ref)
		}
	}
	return chain[:min(len(chain), lookersMost)]
}

// looksFor is the price of a look, for comparing; a model without one comes last.
func looksFor(m catalog.Model) float64 {
	const dearest = 1e9
	if !m.Price.Known() {
		return dearest
	}
	return *m.Price.Input + *m.Price.Output
}
