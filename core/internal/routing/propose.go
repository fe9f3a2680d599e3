package routing

import (
	"cmp"
	"slices"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Candidate is a model that a ladder may be made of.
type Candidate struct {
	catalog.Model
	Tier catalog.Tier // of the catalogue; unknown: told by the price, else by the size
	Size float64      // billions of parameters, of a local model; 0: unknown
}

// Proposal is a ladder for a person to accept, and what they should know of it.
type Proposal struct {
	Ladder   Ladder
	Primary  catalog.Ref // the strongest; empty when nothing can be proposed
	Vision   catalog.Ref // sees but calls no tools, so it only describes pictures for others; empty: none is needed
	Warnings []job.Reason
}

// CodeNoTools is the warning that no model calls tools.
const CodeNoTools = "no-tools"

// Words of the warnings.
const (
	NobodySees = "No model here is known to see images. Vision tasks will run, and the agents will be told that they cannot see."
	NoTools    = "No model here can call tools. Relo's agents read, edit and run with tools, so no job can start."
)

const (
	// bPerDollar sets local models beside priced ones: some 50 billion parameters
	// are served for a dollar a million tokens (openrouter.ai's open models, 2026).
	bPerDollar = 50
	// smallest in billions of parameters: below it a model seldom keeps to its tools
	// over many rounds. It is proposed only where nothing better is.
	smallest = 12
	// large in billions of parameters: what fits on one graphics card is for easy
	// work, what needs a machine of its own for normal work.
	large = 100
	// leastContext in tokens: a worker's prompt, its tools and one file fill about that much.
	leastContext = 16_000
	// Prices at which a model of unknown tier counts as easy, normal and hard, in USD
	// for a million tokens, three of input to one of output.
	easyBelow, normalBelow, hardBelow = 0.5, 2, 8
)

// power is how strong a model is taken to be when nobody has said: by what is
// asked for it, else by its size. 0: nobody knows.
func (c Candidate) power() float64 {
	if c.Price.Known() {
		return (3**c.Price.Input + *c.Price.Output) / 4
	}
	return c.Size / bPerDollar
}

func (c Candidate) tier() catalog.Tier {
	switch p := c.power(); {
	case c.Tier != catalog.TierUnknown:
		return c.Tier
	case !c.Price.Known() && c.Size < large:
		return catalog.TierEasy
	case !c.Price.Known():
		return catalog.TierNormal
	case p < easyBelow:
		return catalog.TierEasy
	case p < normalBelow:
		return catalog.TierNormal
	case p < hardBelow:
		return catalog.TierHard
	default:
		return catalog.TierTop
	}
}

// weaker orders by strength, then by name, so that the order never hangs on luck.
func weaker(a, b Candidate) int {
	return cmp.Or(cmp.Compare(a.tier(), b.tier()), cmp.Compare(a.power(), b.power()), cmp.Compare(a.Ref, b.Ref))
}

// better orders the models of one tier: those on the person's own machines first,
// then those that see, then the cheaper; of those without a price the larger.
func better(a, b Candidate) int {
	flag := func(f func(Candidate) bool) int {
		switch {
		case f(a) == f(b):
			return 0
		case f(a):
			return -1
		}
		return 1
	}
	byPower := cmp.Compare(a.power(), b.power())
	if !a.Price.Known() && !b.Price.Known() {
		byPower = -byPower
	}
	return cmp.Or(
		flag(func(c Candidate) bool { return c.Private }), flag(Candidate.sees),
		flag(func(c Candidate) bool { return c.Price.Known() }), byPower, cmp.Compare(a.Ref, b.Ref),
	)
}

func (c Candidate) sees() bool { return c.Sight.Sight == vision.Sees }

func (c Candidate) works() bool { return c.Chat && c.Tools }

// serious leaves out what works only in theory.
func (c Candidate) serious() bool {
	return (c.Size == 0 || c.Size >= smallest) && (c.Context == 0 || c.Context >= leastContext)
}

func keep(all []Candidate, f func(Candidate) bool) []Candidate {
	return slices.DeleteFunc(slices.Clone(all), func(c Candidate) bool { return !f(c) })
}

// Propose makes a ladder of what there is: one rung a difficulty, weakest first,
// with a second model of another provider behind its first; the Primary is the
// strongest. When any model that works sees, one on the ladder does. The same
// candidates give the same proposal in whatever order they come.
func Propose(all []Candidate) Proposal {
	all = slices.Clone(all)
	slices.SortFunc(all, weaker)
	all = slices.CompactFunc(all, func(a, b Candidate) bool { return a.Ref == b.Ref })
	works := keep(all, Candidate.works)
	if len(works) == 0 {
		return Proposal{Warnings: []job.Reason{reason(CodeNoTools, "%s", NoTools)}}
	}
	good := keep(works, Candidate.serious)
	if len(good) == 0 {
		good = works
	}
	rungs := tiers(good)
	p := Proposal{Primary: good[len(good)-1].Ref}
	p.Ladder = withEyes(rungs, good, works)
	if !slices.ContainsFunc(works, Candidate.sees) {
		p.Warnings = append(p.Warnings, reason(CodeBlindAll, "%s", NobodySees))
		if d := keep(all, func(c Candidate) bool { return c.Chat && c.sees() }); len(d) > 0 {
			p.Vision = slices.MinFunc(d, better).Ref
		}
	}
	return p
}

// step is a rung under construction.
type step struct {
	models     []Candidate
	difficulty job.Difficulty
}

// tiers makes a rung of every tier that has models. The top tier plans; it gets a
// rung only when nothing else does hard work.
func tiers(good []Candidate) []step {
	of := func(t catalog.Tier) []Candidate {
		return keep(good, func(c Candidate) bool { return c.tier() == t })
	}
	hard := of(catalog.TierHard)
	if len(hard) == 0 {
		hard = of(catalog.TierTop)
	}
	var steps []step
	for _, row := range []struct {
		models     []Candidate
		difficulty job.Difficulty
	}{{of(catalog.TierEasy), job.Easy}, {of(catalog.TierNormal), job.Normal}, {hard, job.Hard}} {
		if len(row.models) > 0 {
			steps = append(steps, step{chainOf(row.models), row.difficulty})
		}
	}
	if len(steps) == 1 {
		steps[0].difficulty = "" // one rung is for everything
	}
	return steps
}

// chainOf is the best model, and behind it the best of another provider. What is
// private is not followed by what is not: a failure must not send text abroad.
func chainOf(models []Candidate) []Candidate {
	slices.SortFunc(models, better)
	first := models[0]
	for _, c := range models[1:] {
		if c.Provider != first.Provider && c.Private == first.Private {
			return []Candidate{first, c}
		}
	}
	return models[:1]
}

// withEyes adds a rung that sees when the others leave such a model out.
func withEyes(steps []step, good, works []Candidate) Ladder {
	sees := func(s step) bool { return slices.ContainsFunc(s.models, Candidate.sees) }
	eyed := keep(good, Candidate.sees)
	if len(eyed) == 0 {
		eyed = keep(works, Candidate.sees)
	}
	if !slices.ContainsFunc(steps, sees) && len(eyed) > 0 {
		steps = append(steps, step{models: []Candidate{slices.MinFunc(eyed, better)}})
		slices.SortStableFunc(steps, func(a, b step) int { return weaker(a.models[0], b.models[0]) })
	}
	var out Ladder
	for _, s := range steps {
		r := Rung{Difficulty: s.difficulty}
		for _, c := range s.models {
			r.Models = append(r.Models, c.Model)
		}
		out = append(out, r)
	}
	return out
}
