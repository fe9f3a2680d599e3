package routing

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/vision"
)

func drawModel(t *rapid.T, at int) catalog.Model {
	m := model(rapid.SampledFrom([]rune("Sb?sdu")).Draw(t, "model"), at)
	m.Private = rapid.Bool().Draw(t, "private")
	m.Chat = rapid.IntRange(0, 9).Draw(t, "chat") > 0
	m.Context = rapid.SampledFrom([]int{0, 100, 1000}).Draw(t, "context")
	return m
}

// drawLadder draws one to seven rungs of one to three models; difficulties are
// missing, in order or in disorder.
func drawLadder(t *rapid.T) Ladder {
	l := make(Ladder, rapid.IntRange(1, 7).Draw(t, "rungs"))
	at := 0
	for i := range l {
		l[i].Difficulty = rapid.SampledFrom([]job.Difficulty{"", "", job.Easy, job.Normal, job.Hard}).Draw(t, "difficulty")
		for range rapid.IntRange(1, 3).Draw(t, "models") {
			l[i].Models = append(l[i].Models, drawModel(t, at))
			at++
		}
	}
	return l
}

func drawNeed(t *rapid.T) Need {
	return Need{
		Vision: rapid.Bool().Draw(t, "vision"), Tools: rapid.Bool().Draw(t, "tools"), Private: rapid.Bool().Draw(t, "onlyPrivate"),
		Context: rapid.SampledFrom([]int{0, 0, 500}).Draw(t, "needContext"),
	}
}

// fits and seers say the same as the package in other words, on purpose.
func fits(m catalog.Model, n Need) bool {
	return m.Chat && (m.Tools || !n.Tools) && (m.Private || !n.Private) && (m.Context == 0 || m.Context >= n.Context)
}

func seers(l Ladder, n Need) []int {
	var out []int
	for i, r := range l {
		if slices.ContainsFunc(r.Models, func(m catalog.Model) bool { return fits(m, n) && m.Sight.Sight == vision.Sees }) {
			out = append(out, i)
		}
	}
	return out
}

// distance orders rungs as the walk promises: from at upward, then downward.
func distance(at, rung, size int) int {
	if rung >= at {
		return rung - at
	}
	return size + at - rung
}

// holds checks what every choice promises.
func holds(t *rapid.T, l Ladder, n Need, c Choice) {
	t.Helper()
	if len(c.Reasons) == 0 || slices.ContainsFunc(c.Reasons, func(r job.Reason) bool { return r.Code == "" || r.Words == "" }) {
		t.Fatalf("a choice without a reason: %+v", c)
	}
	anybody := slices.ContainsFunc(l, func(r Rung) bool {
		return slices.ContainsFunc(r.Models, func(m catalog.Model) bool { return fits(m, n) })
	})
	if c.OK != anybody {
		t.Fatalf("ok is %v while somebody fits is %v: %+v", c.OK, anybody, c)
	}
	if !c.OK {
		return
	}
	if len(c.Chain) == 0 || c.Chain[0].Ref != c.Model.Ref {
		t.Fatalf("the model is not the head of its chain: %+v", c)
	}
	for _, m := range c.Chain {
		if !fits(m, n) {
			t.Fatalf("%s in the chain does not meet the hard needs %+v", m.Ref, n)
		}
		if !slices.ContainsFunc(l[c.Rung].Models, func(x catalog.Model) bool { return x.Ref == m.Ref }) {
			t.Fatalf("%s is not of rung %d", m.Ref, c.Rung)
		}
		if n.Vision && len(seers(l, n)) > 0 && m.Sight.Sight != vision.Sees {
			t.Fatalf("rungs %v see, but %s of the chain does not", seers(l, n), m.Ref)
		}
	}
}

func TestPickKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, n := drawLadder(t), drawNeed(t)
		d := rapid.SampledFrom([]job.Difficulty{job.Easy, job.Normal, job.Hard}).Draw(t, "of")
		c := l.Pick(d, n)
		holds(t, l, n, c)
		if diff := cmp.Diff(c, l.Pick(d, n)); diff != "" {
			t.Fatalf("asked twice, answered differently:\n%s", diff)
		}
		if see := seers(l, n); n.Vision && len(see) > 0 {
			for _, i := range see {
				if distance(l.Start(d), i, len(l)) < distance(l.Start(d), c.Rung, len(l)) {
					t.Fatalf("rung %d sees and is nearer than %d from %d", i, c.Rung, l.Start(d))
				}
			}
		}
	})
}

func TestStartTakesTheRungThatNamesIt(t *testing.T) {
	level := map[job.Difficulty]int{job.Easy: 0, job.Normal: 1, job.Hard: 2}
	rapid.Check(t, func(t *rapid.T) {
		l := drawLadder(t)
		d := rapid.SampledFrom([]job.Difficulty{job.Easy, job.Normal, job.Hard}).Draw(t, "of")
		got := l.Start(d)
		if got < 0 || got >= len(l) {
			t.Fatalf("rung %d of %d", got, len(l))
		}
		has := func(ok func(have int) bool) bool {
			return slices.ContainsFunc(l, func(r Rung) bool { return r.Difficulty != "" && ok(level[r.Difficulty]) })
		}
		name := l[got].Difficulty
		switch want := level[d]; {
		case has(func(have int) bool { return have == want }):
			if name != d {
				t.Fatalf("a rung names %s, but %q was taken", d, name)
			}
		case has(func(have int) bool { return have > want }):
			if name == "" || level[name] < want {
				t.Fatalf("a rung names more than %s, but %q was taken", d, name)
			}
		}
	})
}

// rank of sight: nothing is lost when it does not fall.
func rank(m catalog.Model) int {
	return map[vision.Sight]int{vision.Blind: 0, vision.Unknown: 1, vision.Sees: 2}[m.Sight.Sight]
}

func TestEscalationNeverLosesSightNorGround(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, n := drawLadder(t), drawNeed(t)
		d := rapid.SampledFrom([]job.Difficulty{job.Easy, job.Normal, job.Hard}).Draw(t, "of")
		was := l.Pick(d, n)
		for range 2 * len(l) {
			if !was.OK {
				return
			}
			c := l.Escalate(was.Rung, n)
			holds(t, l, n, c)
			if diff := cmp.Diff(c, l.Escalate(was.Rung, n)); diff != "" {
				t.Fatalf("asked twice, answered differently:\n%s", diff)
			}
			if n.Vision && rank(c.Model) < rank(was.Model) {
				t.Fatalf("%s follows %s and sees less", c.Model.Ref, was.Model.Ref)
			}
			if c.Rung < was.Rung {
				t.Fatalf("rung %d follows %d", c.Rung, was.Rung)
			}
			was = c
		}
		if again := l.Escalate(was.Rung, n); again.Rung != was.Rung {
			t.Fatalf("after %d steps it still climbs, from %d to %d", 2*len(l), was.Rung, again.Rung)
		}
	})
}

// An attempt may fail on a rung that was not picked for eyes: the task turned
// out to need them, or the model turned out blind.
func TestEscalationGoesDownOnlyForEyes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, n := drawLadder(t), drawNeed(t)
		from := rapid.IntRange(0, len(l)-1).Draw(t, "from")
		c := l.Escalate(from, n)
		holds(t, l, n, c)
		if !c.OK || c.Rung >= from {
			return
		}
		for i := from; i < len(l); i++ {
			for _, m := range l[i].Models {
				if fits(m, n) && (!n.Vision || len(seers(l, n)) == 0 || m.Sight.Sight == vision.Sees) {
					t.Fatalf("from %d down to %d past %s, which fits", from, c.Rung, m.Ref)
				}
			}
		}
	})
}

func TestReviewersAreOthersWhenOneFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, n := drawLadder(t), drawNeed(t)
		rung := rapid.IntRange(0, len(l)-1).Draw(t, "rung")
		author := rapid.SampledFrom(l[rung].Models).Draw(t, "author").Ref
		c := l.Reviewer(author, rung, n)
		holds(t, l, n, c)
		if diff := cmp.Diff(c, l.Reviewer(author, rung, n)); diff != "" {
			t.Fatalf("asked twice, answered differently:\n%s", diff)
		}
		if !c.OK || c.Model.Ref != author {
			return
		}
		for _, r := range l {
			for _, m := range r.Models {
				if m.Ref != author && fits(m, n) && (!n.Vision || len(seers(l, n)) == 0 || m.Sight.Sight == vision.Sees) {
					t.Fatalf("%s reviews its own work though %s fits", author, m.Ref)
				}
			}
		}
	})
}
