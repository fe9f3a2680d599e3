package ledger

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/provider"
)

func price(in, out float64) catalog.Price { return catalog.Price{Input: &in, Output: &out} }

func TestCost(t *testing.T) {
	cachedPrice := price(1, 2)
	cachedPrice.Cached = new(0.1)
	tests := []struct {
		usage provider.Usage
		price catalog.Price
		want  *float64
		why   string
	}{
		{provider.Usage{TokensIn: new(int64(1e6)), TokensOut: new(int64(1e6))}, price(1, 2), new(3.0), "a million of each"},
		{provider.Usage{TokensIn: new(int64(0)), TokensOut: new(int64(0))}, price(1, 2), new(0.0), "known to be nothing"},
		{provider.Usage{TokensIn: new(int64(1e6)), TokensOut: new(int64(0)), TokensCached: new(int64(5e5))}, cachedPrice, new(0.55), "half of it from the cache"},
		{provider.Usage{TokensIn: new(int64(1e6)), TokensOut: new(int64(0)), TokensCached: new(int64(5e5))}, price(1, 2), new(1.0), "the cache's price is unknown: the full one"},
		{provider.Usage{TokensIn: new(int64(1e6)), TokensOut: new(int64(0)), TokensCached: new(int64(3e6))}, cachedPrice, new(0.1), "more cached than sent: never below nothing"},
		{provider.Usage{TokensOut: new(int64(1))}, price(1, 2), nil, "the provider did not say what went in"},
		{provider.Usage{TokensIn: new(int64(1))}, price(1, 2), nil, "nor what came out"},
		{provider.Usage{TokensIn: new(int64(1)), TokensOut: new(int64(1))}, catalog.Price{Input: new(1.0)}, nil, "half a price is none"},
		{provider.Usage{TokensIn: new(int64(1)), TokensOut: new(int64(1))}, price(0, 0), new(0.0), "free is a price"},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			got := Cost(c.usage, c.price)
			if (got == nil) != (c.want == nil) || (got != nil && math.Abs(*got-*c.want) > 1e-12) {
				t.Errorf("got %v, want %v", show(got), show(c.want))
			}
		})
	}
}

func show(p *float64) any {
	if p == nil {
		return "unknown"
	}
	return *p
}

func TestPictureTokens(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want int64
	}{{750, 1, 1}, {751, 1, 2}, {1, 1, 1}, {0, 0, 0}, {1568, 1568, 3279}} {
		if got := PictureTokens(c.w, c.h); got != c.want {
			t.Errorf("%d×%d: %d, want %d", c.w, c.h, got, c.want)
		}
	}
}

func TestAnEstimateWithoutAPriceIsUnknown(t *testing.T) {
	if got := Estimate(1000, 10, 100, catalog.Price{Output: new(1.0)}); got != nil {
		t.Errorf("%v", *got)
	}
}

func drawPrice(t *rapid.T) catalog.Price {
	p := price(rapid.Float64Range(0, 100).Draw(t, "input"), rapid.Float64Range(0, 500).Draw(t, "output"))
	if rapid.Bool().Draw(t, "has cached") {
		p.Cached = new(rapid.Float64Range(0, 120).Draw(t, "cached"))
	}
	return p
}

// What was used inside of the estimate never costs more than it.
func TestAnEstimateIsNeverTooSmall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPrice(t)
		text, pictures, out := rapid.IntRange(0, 1e6).Draw(t, "bytes"), rapid.Int64Range(0, 1e5).Draw(t, "pictures"), rapid.IntRange(0, 1e5).Draw(t, "max")
		in := rapid.Int64Range(0, int64(float64(text)/bytesPerToken)+pictures).Draw(t, "in")
		u := provider.Usage{TokensIn: &in, TokensOut: new(rapid.Int64Range(0, int64(out)).Draw(t, "out"))}
		if rapid.Bool().Draw(t, "says cached") {
			u.TokensCached = new(rapid.Int64Range(0, 2*in).Draw(t, "from the cache"))
		}
		estimate, cost := Estimate(text, pictures, out, p), Cost(u, p)
		if *cost < 0 || *cost > *estimate*(1+1e-12) {
			t.Fatalf("cost %v, estimate %v", *cost, *estimate)
		}
	})
}

func TestAllow(t *testing.T) {
	tests := []struct {
		budget   Budget
		spent    Spent
		estimate *float64
		ok       bool
		why      string
	}{
		{Budget{}, Spent{Job: 1e9, Day: 1e9}, new(1e9), true, "no bound"},
		{Budget{PerJob: new(1.0)}, Spent{Job: 0.5}, new(0.5), true, "just up to the bound"},
		{Budget{PerJob: new(1.0)}, Spent{Job: 0.5}, new(0.51), false, "past the job's"},
		{Budget{PerDay: new(1.0)}, Spent{Day: 0.5}, new(0.51), false, "past the day's"},
		{Budget{PerJob: new(5.0), PerDay: new(1.0)}, Spent{Day: 1}, new(0.1), false, "either bound holds"},
		{Budget{PerJob: new(0.0)}, Spent{}, new(0.0), true, "a free model under a bound of nothing"},
		{Budget{PerJob: new(1.0)}, Spent{}, nil, true, "an unknown price that the person allowed"},
		{Budget{DenyUnknown: true}, Spent{}, nil, false, "an unknown price is denied"},
		{Budget{DenyUnknown: true}, Spent{}, new(1.0), true, "a known price is no unknown one"},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			ok, words := c.budget.Allow(c.spent, c.estimate)
			if ok != c.ok || ok == (words != "") {
				t.Errorf("%v %q", ok, words)
			}
		})
	}
}

func TestTheSumNeverPassesTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Budget{PerJob: new(rapid.Float64Range(0, 10).Draw(t, "per job")), PerDay: new(rapid.Float64Range(0, 10).Draw(t, "per day"))}
		s := Spent{Day: rapid.Float64Range(0, *b.PerDay).Draw(t, "spent by others")}
		for _, e := range rapid.SliceOfN(rapid.Float64Range(0, 3), 0, 30).Draw(t, "requests") {
			if ok, _ := b.Allow(s, &e); ok {
				s.Job += e
				s.Day += e
			}
		}
		if s.Job > *b.PerJob || s.Day > *b.PerDay {
			t.Fatalf("%+v passed %v and %v", s, *b.PerJob, *b.PerDay)
		}
	})
}
