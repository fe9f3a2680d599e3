package gateway

import (
	"context"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/probe"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

// dropping is a model behind something that loses pictures, or one that does not. Its
// count of tokens is honest, or tells of pictures that never came.
func dropping(ref string, source vision.Source, sees, lies bool) *model {
	m := scripted(ref)
	m.Sight = vision.Answer{Sight: vision.Sees, Source: source}
	if source == "" {
		m.Sight = vision.Answer{}
	}
	m.TakesPictures = true
	m.play = func(r provider.Request) (provider.Response, error) {
		res := answered(r)
		in := int64(textBytes(r)/4 + 1)
		words := "ok"
		for _, s := range collect(r.Messages, 100) {
			if sees || lies {
				in += ledger.PictureTokens(s.picture.Width, s.picture.Height)
			}
			if sees && strings.Contains(r.System, "test of the connection") {
				words, _ = probe.Decode(s.picture.Bytes)
			} else if strings.Contains(r.System, "test of the connection") {
				words = "I see no image"
			}
		}
		res.Usage = provider.Usage{TokensIn: new(in), TokensOut: new(int64(1))}
		res.Message.Parts = []provider.Part{provider.Text(words)}
		return res, nil
	}
	return m
}

// big is a call that shows a picture worth some thousand tokens.
func big(ref catalog.Ref, attempt string) traffic.Call {
	c := looking(ref)
	c.Attempt, c.Rules = attempt, traffic.PictureRules{Settle: true}
	p := picture("s1", attempt+"/v", vision.Result)
	p.Width, p.Height = 1500, 1000
	c.Request.Messages[0].Parts[1] = provider.Show(p)
	return c
}

func TestAModelThatGetsNoPicturesIsFoundOut(t *testing.T) {
	tests := []struct {
		name       string
		source     vision.Source
		sees, lies bool
		found      bool
		probes     bool
	}{
		{"configured, and the count does not grow", vision.Configured, false, false, true, true},
		{"known by name, and the count does not grow", vision.Name, false, false, true, true},
		{"known by name, and the count lies", vision.Name, false, true, true, true},
		{"unknown, and the count lies", "", false, true, true, true},
		{"configured, and it sees", vision.Configured, true, false, false, false},
		{"known by name, and it sees", vision.Name, true, false, false, true},
		{"probed, and the count does not grow", vision.Probed, false, false, false, false},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			m := dropping("p/m", c.source, c.sees, c.lies)
			w := newWorld(m)
			g := w.gate()
			got, err := g.Call(t.Context(), big("p/m", "a1"))
			if err != nil {
				t.Fatal(err)
			}
			if (len(w.blinded) == 1) != c.found || (len(got.Blind) == 1) != c.found || (m.Sight.Source == vision.Refused) != c.found {
				t.Errorf("blinded %v, words for %v, sight %+v", w.blinded, got.Blind, m.Sight)
			}
			if (len(w.probed) == 1) != c.probes {
				t.Errorf("%d probes", len(w.probed))
			}
			if how := w.looks[0].How; (how == job.HowDropped) != c.found || w.looks[0].Doubted {
				t.Errorf("the look is %s", how)
			}
			before := len(m.seen)
			if _, err := g.Call(t.Context(), big("p/m", "a2")); err != nil || len(m.seen) != before+1 {
				t.Errorf("%v; the next call took %d requests", err, len(m.seen)-before)
			}
		})
	}
}

func TestADoubtThatIsNotToBeSettledIsSaid(t *testing.T) {
	m := dropping("p/m", vision.Configured, false, false)
	w := newWorld(m)
	c := big("p/m", "a")
	c.Rules.Settle = false
	if _, err := w.gate().Call(t.Context(), c); err != nil || len(m.seen) != 1 || !w.looks[0].Doubted || w.looks[0].How != job.HowPixels {
		t.Errorf("%v: %d requests, %+v", err, len(m.seen), w.looks)
	}
}

func TestTwoAtOnceSettleOneDoubt(t *testing.T) {
	m := dropping("p/m", vision.Name, true, false)
	w := newWorld(m)
	g := w.gate()
	errs := make(chan error, 4)
	for _, a := range []string{"a", "b", "c", "d"} {
		go func() { _, err := g.Call(context.Background(), big("p/m", a)); errs <- err }()
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if len(w.probed) != 1 {
		t.Errorf("%d probes", len(w.probed))
	}
}
