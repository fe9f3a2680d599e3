package routing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/vision"
)

// candidates reads "provider/id tier size price sight", "-" for unknown; a "!"
// behind the sight: no tools.
func candidates(t *testing.T, lines string) []Candidate {
	t.Helper()
	var all []Candidate
	for line := range strings.Lines(lines) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var ref, sight string
		var tier catalog.Tier
		var size, price float64
		if _, err := fmt.Sscan(line, &ref, (*int)(&tier), &size, &price, &sight); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		c := Candidate{Tier: tier, Size: size}
		c.Ref = catalog.Ref(ref)
		c.Provider, c.ID = c.Ref.Split()
		c.Chat, c.Tools, c.Private = true, !strings.HasSuffix(sight, "!"), size > 0
		c.Sight.Sight = map[byte]vision.Sight{'S': vision.Sees, 'b': vision.Blind, '?': vision.Unknown}[sight[0]]
		if price > 0 {
			c.Price = catalog.Price{Input: new(price), Output: new(5 * price)}
		}
		all = append(all, c)
	}
	return all
}

func drawing(p Proposal) string {
	var b strings.Builder
	for _, r := range p.Ladder {
		var refs []string
		for _, m := range r.Models {
			refs = append(refs, string(m.Ref))
		}
		fmt.Fprintf(&b, "%s:%s ", r.Difficulty, strings.Join(refs, ","))
	}
	fmt.Fprintf(&b, "primary:%s", p.Primary)
	if p.Vision != "" {
		fmt.Fprintf(&b, " vision:%s", p.Vision)
	}
	for _, w := range p.Warnings {
		b.WriteString(" !" + w.Code)
	}
	return b.String()
}

func TestPropose(t *testing.T) {
	t.Parallel()
	tests := []struct{ why, models, want string }{
		{"one vendor with three tiers", "a/haiku 1 0 1 S\na/sonnet 2 0 2 S\na/opus 3 0 4 S", "easy:a/haiku normal:a/sonnet hard:a/opus primary:a/opus"},
		{"a top model plans and does no tasks", "o/luna 1 0 .1 S\no/sol 3 0 2 S\no/astra 4 0 10 S", "easy:o/luna hard:o/sol primary:o/astra"},
		{"two vendors: the second stands behind the cheaper", "a/haiku 1 0 1 S\no/luna 1 0 .1 S\na/opus 3 0 4 S", "easy:o/luna,a/haiku hard:a/opus primary:a/opus"},
		{"one model does everything", "h/coder 0 30 0 b", ":h/coder primary:h/coder !nobody-sees"},
		{"the seeing one leads its tier", "z/text 2 0 1 b\nz/eyes 2 0 2 S", ":z/eyes primary:z/eyes"},
		{"a small model with eyes is kept for its eyes", "h/coder 0 30 0 b\nh/vl 0 8 0 S\nh/tiny 0 3 0 b", ":h/vl :h/coder primary:h/coder"},
		{"only small ones: the largest", "h/three 0 3 0 b\nh/eight 0 8 0 b", ":h/eight primary:h/eight !nobody-sees"},
		{"local and cloud: the local one takes what is easy for it", "h/coder 0 30 0 b\na/haiku 1 0 1 S\na/opus 3 0 4 S", "easy:h/coder hard:a/opus primary:a/opus"},
		{"a large local one takes normal work", "h/oss 0 120 0 b\nh/coder 0 30 0 b", "easy:h/coder normal:h/oss primary:h/oss !nobody-sees"},
		{"eyes without tools only describe", "h/coder 0 30 0 b\nh/gemma 0 27 0 S!", ":h/coder primary:h/coder vision:h/gemma !nobody-sees"},
		{"no tools at all", "h/gemma 0 27 0 S!", "primary: !no-tools"},
		{"nothing at all", "", "primary: !no-tools"},
		{"unknown sight is not sight", "h/new 0 30 0 ?", ":h/new primary:h/new !nobody-sees"},
		{"only a top model", "o/astra 4 0 10 S", ":o/astra primary:o/astra"},
		{"no tier and no size: the price tells", "x/a 0 0 .1 b\nx/b 0 0 30 S", "easy:x/a hard:x/b primary:x/b"},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			if got := drawing(Propose(candidates(t, c.models))); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestASmallContextIsTheLastResort(t *testing.T) {
	t.Parallel()
	all := candidates(t, "h/short 0 70 0 b\nh/long 0 30 0 b")
	all[0].Context, all[1].Context = 4096, 32768
	if p := Propose(all); p.Primary != "h/long" {
		t.Error(drawing(p))
	}
	if p := Propose(all[:1]); p.Primary != "h/short" {
		t.Error(drawing(p))
	}
}

func drawCandidate(t *rapid.T) Candidate {
	c := Candidate{Tier: catalog.Tier(rapid.IntRange(0, 4).Draw(t, "tier"))}
	c.Provider = rapid.SampledFrom([]string{"a", "b", "here"}).Draw(t, "provider")
	c.ID = rapid.StringMatching(`[m-p]{1,2}`).Draw(t, "id")
	c.Ref = catalog.Ref(c.Provider + "/" + c.ID)
	c.Chat = rapid.IntRange(0, 9).Draw(t, "chat") > 0
	c.Tools = rapid.IntRange(0, 4).Draw(t, "tools") > 0
	c.Private = c.Provider == "here"
	c.Sight.Sight = rapid.SampledFrom([]vision.Sight{vision.Sees, vision.Blind, vision.Unknown}).Draw(t, "sight")
	c.Context = rapid.SampledFrom([]int{0, 4096, 200_000}).Draw(t, "context")
	c.Size = rapid.SampledFrom([]float64{0, 3, 8, 30, 120, 700}).Draw(t, "size")
	if rapid.Bool().Draw(t, "priced") {
		in := rapid.SampledFrom([]float64{0, .1, 1, 3, 15}).Draw(t, "price")
		c.Price = catalog.Price{Input: new(in), Output: new(4 * in)}
	}
	return c
}

func TestAProposalKeepsItsPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfNDistinct(rapid.Custom(drawCandidate), 0, 12, func(c Candidate) catalog.Ref { return c.Ref }).Draw(t, "candidates")
		byRef := map[catalog.Ref]Candidate{}
		for _, c := range all {
			byRef[c.Ref] = c
		}
		before := slices.Clone(all)
		p := Propose(all)
		if d := cmp.Diff(before, all); d != "" {
			t.Fatalf("the candidates were changed: %s", d)
		}
		if d := cmp.Diff(p, Propose(rapid.Permutation(all).Draw(t, "order"))); d != "" {
			t.Fatalf("another order gives another proposal: %s", d)
		}
		works := keep(all, Candidate.works)
		if (len(works) == 0) != (p.Primary == "") || (len(works) == 0) != (len(p.Ladder) == 0) {
			t.Fatalf("%d models work: %s", len(works), drawing(p))
		}
		once := map[catalog.Ref]bool{}
		sees := len(works) > 0 && byRef[p.Primary].sees()
		for i, r := range p.Ladder {
			for _, m := range r.Models {
				if once[m.Ref] || !byRef[m.Ref].works() {
					t.Fatalf("%s stands twice or does not work: %s", m.Ref, drawing(p))
				}
				if byRef[m.Ref].Private != byRef[r.Models[0].Ref].Private {
					t.Fatalf("a private chain leaves the house: %s", drawing(p))
				}
				once[m.Ref], sees = true, sees || byRef[m.Ref].sees()
			}
			if i > 0 && weaker(byRef[p.Ladder[i-1].Models[0].Ref], byRef[r.Models[0].Ref]) >= 0 {
				t.Fatalf("not weakest first: %s", drawing(p))
			}
			if top := byRef[p.Primary]; byRef[r.Models[0].Ref].serious() && weaker(top, byRef[r.Models[0].Ref]) < 0 {
				t.Fatalf("the primary is not the strongest: %s", drawing(p))
			}
		}
		canSee := slices.ContainsFunc(works, Candidate.sees)
		if canSee != sees && len(works) > 0 {
			t.Fatalf("one sees: %v, one of the ladder sees: %v: %s", canSee, sees, drawing(p))
		}
		warned := slices.ContainsFunc(p.Warnings, func(w job.Reason) bool { return w.Code == CodeBlindAll })
		if len(works) > 0 && warned == canSee {
			t.Fatalf("warned %v: %s", warned, drawing(p))
		}
	})
}
