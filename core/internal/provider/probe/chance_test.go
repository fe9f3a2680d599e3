package probe

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/relo-dev/relo/core/internal/vision"
)

// What passes for sight is asked of Run itself, for each order of right and wrong
// answers; the draw is even (see below), so no guesser is right more often than once
// in the colours or digits that are left.
func TestTheChanceOfAFalseYes(t *testing.T) {
	t.Parallel()
	c, d := float64(len(colours)), float64(len(glyphs))
	odds := [2 * rounds]float64{1 / c, 1 / d, 1 / (c - 1), 1 / (d - 1)}
	chance, counted := 0.0, map[string]bool{}
	for pattern := range 1 << len(odds) {
		n, p, order := 0, 1.0, ""
		m := model{say: func(word string) (string, error) {
			if word == "" {
				return "which picture?", nil
			}
			hit := pattern>>n&1 == 1
			order += strconv.FormatBool(hit) + " "
			if n++; hit {
				p *= odds[n-1]
				return word, nil
			}
			p *= 1 - odds[n-1]
			return "beige", nil
		}}
		if f := Run(t.Context(), m.ask, Options{Model: "m"}); f.Sight == vision.Sees && !counted[order] {
			counted[order] = true
			chance += p
		}
	}
	if len(counted) != 3 { // both at once; one, then both: in two orders
		t.Errorf("these pass: %v", counted)
	}
	if chance < 0.012 || chance > 0.016 { // what Run's comment promises
		t.Errorf("a guesser passes with %.4f", chance)
	}
}

// No colour or digit is likelier than another, at first or after one is used up: the
// odds of TestTheChanceOfAFalseYes rest on it.
func TestTheDrawIsEven(t *testing.T) {
	t.Parallel()
	const each = 400 // six standard deviations are 30 %
	r := rand.New(rand.NewPCG(9, 10))
	for _, draw := range []func(*rand.Rand, []card) card{drawColour, drawDigit} {
		before := draw(r, nil)
		kinds := map[string]bool{}
		for range 400 {
			kinds[draw(r, nil).name] = true
		}
		for _, used := range [][]card{nil, {before}} {
			n, counts := len(kinds)-len(used), map[string]int{}
			for range n * each {
				counts[draw(r, used).name]++
			}
			if len(counts) != n {
				t.Errorf("drawn after %d: %v", len(used), counts)
			}
			for name, got := range counts {
				if got < each*70/100 || got > each*130/100 {
					t.Errorf("%s was drawn %d times of about %d", name, got, each)
				}
			}
		}
	}
}
