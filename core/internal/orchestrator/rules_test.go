package orchestrator

import (
	"testing"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/routing"
	"github.com/relo-dev/relo/core/internal/vision"
)

func TestTheLadderKnowsWhatWasLearnedSinceTheJobWasHandedIn(t *testing.T) {
	t.Parallel()
	b := book{}
	rules := Rules{Book: b, Ladder: b.ladder(t, "weak:blind:easy middle:sees:normal strong:sees:hard")}
	need := routing.Need{Vision: true, Tools: true}
	if c := rules.ladder().Pick(job.Easy, need); c.Model.Ref != "p/middle" {
		t.Fatalf("%s: %s", c.Model.Ref, c.Words())
	}
	m := b["p/middle"]
	m.Sight = vision.Answer{Sight: vision.Blind, Source: vision.Refused, Detail: "no images here"}
	b[m.Ref] = m
	c := rules.ladder().Pick(job.Easy, need)
	if c.Model.Ref != "p/strong" {
		t.Errorf("a refusal was learned: %s: %s", c.Model.Ref, c.Words())
	}
	if rules.Ladder[1].Models[0].Sight.Sight != vision.Sees {
		t.Error("the job's own ladder was changed")
	}
}
