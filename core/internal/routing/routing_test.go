package routing

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/vision"
)

// ladder draws a ladder from a string, a letter a rung, weakest first: S sees, b
// is blind, ? is not known; s, d and u are the same without tools. Rungs of more
// than one model stand in brackets: "(bS)b".
func ladder(text string) Ladder {
	var l Ladder
	open := false
	for i, c := range text {
		switch c {
		case '(':
			l, open = append(l, Rung{}), true
			continue
		case ')':
			open = false
			continue
		}
		if !open {
			l = append(l, Rung{})
		}
		last := &l[len(l)-1]
		last.Models = append(last.Models, model(c, i))
	}
	return l
}

func model(c rune, at int) catalog.Model {
	m := catalog.Model{Ref: catalog.Ref(string(c) + "/" + string(rune('0'+at))), Chat: true, Tools: strings.ContainsRune("Sb?", c), TakesPictures: true}
	switch c {
	case 'S', 's':
		m.Sight = vision.Answer{Sight: vision.Sees, Source: vision.Catalog}
	case 'b', 'd':
		m.Sight = vision.Answer{Sight: vision.Blind, Source: vision.Configured}
	}
	return m
}

// named gives the rungs of a ladder difficulties: e, n, h, or - for none.
func named(l Ladder, text string) Ladder {
	words := map[rune]job.Difficulty{'e': job.Easy, 'n': job.Normal, 'h': job.Hard}
	for i, c := range text {
		l[i].Difficulty = words[c]
	}
	return l
}

func codes(c Choice) string {
	var out []string
	for _, r := range c.Reasons {
		out = append(out, r.Code)
	}
	return strings.Join(out, " ")
}

func TestSeeing(t *testing.T) {
	tests := []struct {
		ladder string
		at     int
		rung   int
		ok     bool
		why    string
	}{
		{"bSb", 1, 1, true, "the chosen one already sees"},
		{"SbS", 1, 2, true, "up comes before down"},
		{"Sb?", 1, 0, true, "unknown does not count as seeing"},
		{"SbbbS", 1, 4, true, "up comes before down, however far"},
		{"bSSb", 0, 1, true, "the nearest above"},
		{"SSbb", 3, 1, true, "the nearest below"},
		{"b?b", 1, 1, false, "nobody sees: it stays"},
		{"bsS", 0, 2, true, "one that sees but cannot call tools is passed over"},
		{"bs", 0, 0, false, "eyes without hands are no use"},
		{"b(bS)", 0, 1, true, "any model of a rung may be the one that sees"},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			rung, ok := ladder(c.ladder).Seeing(c.at, Need{Vision: true, Tools: true})
			if rung != c.rung || ok != c.ok {
				t.Errorf("%s from %d: rung %d, %v; want %d, %v", c.ladder, c.at, rung, ok, c.rung, c.ok)
			}
		})
	}
}

func TestStart(t *testing.T) {
	tests := []struct {
		names string
		want  [3]int // of easy, normal, hard
		why   string
	}{
		{"enh", [3]int{0, 1, 2}, "each has its rung"},
		{"-enh", [3]int{1, 2, 3}, "a rung without a name is skipped"},
		{"e-h", [3]int{0, 2, 2}, "a difficulty without a rung takes the nearest that names a harder one"},
		{"en", [3]int{0, 1, 1}, "nothing above: the nearest below"},
		{"en-", [3]int{0, 1, 2}, "a rung without a name above the named ones is above"},
		{"e--", [3]int{0, 1, 1}, "the nearest above, not the highest"},
		{"h", [3]int{0, 0, 0}, "one rung takes all"},
		{"nn", [3]int{0, 0, 1}, "the lowest that names it; for a harder one the highest below"},
		{"he", [3]int{1, 0, 0}, "a rung that names it comes before a harder one that stands lower"},
		{"---", [3]int{0, 1, 2}, "no names at all: divided evenly"},
		{"--", [3]int{0, 0, 1}, "two rungs: the lower takes normal"},
		{"-", [3]int{0, 0, 0}, "one rung without a name takes all"},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			l := named(ladder(strings.Repeat("b", len(c.names))), c.names)
			got := [3]int{l.Start(job.Easy), l.Start(job.Normal), l.Start(job.Hard)}
			if got != c.want {
				t.Errorf("%s: %v, want %v", c.names, got, c.want)
			}
		})
	}
}

func TestPick(t *testing.T) {
	tests := []struct {
		ladder string
		level  job.Difficulty
		need   Need
		rung   int
		codes  string
		why    string
	}{
		{"bSb", job.Easy, Need{}, 0, "difficulty", "without eyes sight does not matter"},
		{"bSb", job.Normal, Need{Vision: true}, 1, "difficulty needs-eyes", "the chosen one already sees"},
		{"bSb", job.Easy, Need{Vision: true}, 1, "difficulty needs-eyes up", "up to the nearest that sees"},
		{"bSb", job.Hard, Need{Vision: true}, 1, "difficulty needs-eyes down", "nobody above sees: down"},
		{"SbS", job.Normal, Need{Vision: true}, 2, "difficulty needs-eyes up", "up comes before down"},
		{"b?b", job.Normal, Need{Vision: true}, 1, "difficulty nobody-sees", "nobody sees: the picked one is kept"},
		{"(b?)b", job.Easy, Need{Vision: true}, 0, "difficulty nobody-sees", "nobody is known to see: the one that may leads its rung"},
		{"dbb", job.Easy, Need{Tools: true}, 1, "difficulty unfit", "one that calls no tools is passed over"},
		{"bbd", job.Hard, Need{Tools: true}, 1, "difficulty unfit", "and the nearest below takes it when none above does"},
		{"ssS", job.Easy, Need{Vision: true, Tools: true}, 2, "difficulty needs-eyes up", "eyes and tools both"},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			got := ladder(c.ladder).Pick(c.level, c.need)
			if !got.OK || got.Rung != c.rung || codes(got) != c.codes {
				t.Errorf("%s %s: rung %d %v [%s]; want %d [%s]", c.ladder, c.level, got.Rung, got.OK, codes(got), c.rung, c.codes)
			}
		})
	}
}

func TestEscalate(t *testing.T) {
	eyes := Need{Vision: true, Tools: true}
	tests := []struct {
		ladder string
		from   int
		need   Need
		rung   int
		code   string
		why    string
	}{
		{"bSb", 0, Need{}, 1, CodeEscalated, "the next rung up"},
		{"bSb", 2, Need{}, 2, CodeStay, "the top stays"},
		{"bdb", 0, Need{Tools: true}, 2, CodeEscalated, "one that does not fit is passed over"},
		{"bbd", 1, Need{Tools: true}, 1, CodeStay, "the highest that fits stays"},
		{"SbS", 0, eyes, 2, CodeEscalated, "a vision task climbs only over rungs that see"},
		{"bSb", 1, eyes, 1, CodeStay, "the only one that sees stays"},
		{"bbS", 0, eyes, 2, CodeEscalated, "from a blind rung to the nearest above that sees"},
		{"Sbb", 1, eyes, 0, CodeDown, "from a blind rung, nobody above sees: the nearest below"},
		{"SSbb", 3, eyes, 1, CodeDown, "the nearest below, not the lowest"},
		{"bbb", 0, eyes, 1, CodeEscalated, "nobody sees: as any other task"},
		{"?b?", 0, eyes, 2, CodeEscalated, "one that may see is not followed by one that is known to be blind"},
		{"?b", 0, eyes, 0, CodeStay, "and stays when only blind ones are above"},
		{"b?", 0, eyes, 1, CodeEscalated, "from blind to not known is no loss"},
		{"(b?)b", 0, eyes, 0, CodeStay, "the best sight of a rung is the one that worked"},
		{"bd", 1, Need{Tools: true}, 0, CodeDown, "a rung that does not fit any more gives way to one below when none above fits"},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			got := ladder(c.ladder).Escalate(c.from, c.need)
			if !got.OK || got.Rung != c.rung || got.Reasons[0].Code != c.code {
				t.Errorf("%s from %d: rung %d %v [%s]; want %d [%s]", c.ladder, c.from, got.Rung, got.OK, codes(got), c.rung, c.code)
			}
		})
	}
	if got := ladder("bb").Escalate(2, Need{}); got.OK || len(got.Reasons) == 0 {
		t.Errorf("a rung that the ladder has lost gave %+v", got)
	}
}

func TestReviewer(t *testing.T) {
	eyes := Need{Vision: true, Tools: true}
	tests := []struct {
		ladder string
		author int
		need   Need
		want   catalog.Ref
		code   string
		why    string
	}{
		{"bbb", 0, Need{}, "b/1", CodeOther, "another model from above"},
		{"b(bb)b", 1, Need{}, "b/3", CodeOther, "the same rung comes before a higher one"},
		{"bb", 1, Need{}, "b/0", CodeOther, "nobody above: another from below rather than the author's own"},
		{"b", 0, Need{}, "b/0", CodeSame, "nobody else: the author's own"},
		{"bd", 0, Need{Tools: true}, "b/0", CodeSame, "another that does not fit is nobody"},
		{"SbS", 0, eyes, "S/2", CodeOther, "a task with eyes is reviewed with eyes"},
		{"SbS", 2, eyes, "S/0", CodeOther, "also from below"},
		{"bSb", 1, eyes, "S/1", CodeSame, "eyes come before another model"},
		{"b?b", 0, eyes, "?/1", CodeOther, "nobody sees: another model all the same"},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			l := ladder(c.ladder)
			got := l.Reviewer(l[c.author].Models[0].Ref, c.author, c.need)
			if !got.OK || got.Model.Ref != c.want || got.Reasons[0].Code != c.code {
				t.Errorf("%s after rung %d: %s %v [%s]; want %s [%s]", c.ladder, c.author, got.Model.Ref, got.OK, codes(got), c.want, c.code)
			}
		})
	}
	if got := ladder("bbb").Reviewer("b/0", -1, Need{}); got.Rung != 2 {
		t.Errorf("the author of no rung is reviewed on rung %d, want the top", got.Rung)
	}
}

func TestAnEmptyLadderIsAnAnswerAndNoPanic(t *testing.T) {
	for name, c := range map[string]Choice{
		"pick": Ladder{}.Pick(job.Easy, Need{Vision: true}), "escalate": Ladder{}.Escalate(0, Need{}),
		"reviewer": Ladder{}.Reviewer("a/b", 0, Need{Vision: true}), "empty rung": Ladder{{}}.Pick(job.Hard, Need{Vision: true}),
	} {
		if c.OK || len(c.Reasons) == 0 {
			t.Errorf("%s: %+v, want no choice with a reason", name, c)
		}
	}
}

func TestHardNeedsLeaveModelsOutOfTheChain(t *testing.T) {
	l := ladder("(bdb)")
	l[0].Models[2].Private = true
	l[0].Models[0].Context = 1000
	tests := []struct {
		need Need
		want []catalog.Ref
		why  string
	}{
		{Need{}, []catalog.Ref{"b/1", "d/2", "b/3"}, "no needs: all, in order"},
		{Need{Tools: true}, []catalog.Ref{"b/1", "b/3"}, "tools"},
		{Need{Private: true}, []catalog.Ref{"b/3"}, "private"},
		{Need{Context: 1001}, []catalog.Ref{"d/2", "b/3"}, "a context that is known to be too small; an unknown one may do"},
		{Need{Context: 1000}, []catalog.Ref{"b/1", "d/2", "b/3"}, "a context that is just enough"},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			var got []catalog.Ref
			for _, m := range l.Pick(job.Normal, c.need).Chain {
				got = append(got, m.Ref)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("chain (-want +got):\n%s", diff)
			}
		})
	}
	l[0].Models[2].Chat = false
	if c := l.Pick(job.Normal, Need{Private: true}); c.OK || codes(c) != "difficulty unfit" {
		t.Errorf("no chat model is private, yet %+v", c)
	}
}

func TestWordsAreASentenceForPeople(t *testing.T) {
	got := ladder("bSb").Pick(job.Easy, Need{Vision: true}).Words()
	want := "easy, so b/0 is the model for it; it needs eyes and b/0 is text only (set by you); so 1 step up to S/1, which sees images (the catalogue)"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	got = ladder("sS").Pick(job.Easy, Need{Vision: true, Tools: true}).Words()
	if !strings.Contains(got, "s/0 does not fit: it does not call tools") {
		t.Errorf("a seeing model that was passed over is told wrongly: %s", got)
	}
}

func TestViaAndChosen(t *testing.T) {
	route := []catalog.Model{model('b', 0), model('?', 1), model('S', 2)}
	if c := Via("reviews", route, Need{}); !c.OK || c.Model.Ref != "b/0" || len(c.Chain) != 3 || codes(c) != CodeRoute {
		t.Errorf("a route without needs: %+v", c)
	}
	if c := Via("reviews", route, Need{Vision: true}); !c.OK || c.Model.Ref != "S/2" || len(c.Chain) != 1 {
		t.Errorf("a route with eyes: %+v", c)
	}
	if c := Via("reviews", route[:2], Need{Vision: true}); c.OK || codes(c) != CodeUnfit {
		t.Errorf("a route without eyes: %+v", c)
	}
	if c := Chosen(model('b', 0)); !c.OK || c.Rung != -1 || codes(c) != CodeChosen {
		t.Errorf("a chosen model: %+v", c)
	}
}
