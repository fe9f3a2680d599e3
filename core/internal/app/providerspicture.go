package app

import (
	"context"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/vision"
)

// picture shows a model a tiny picture. One that is known to be text only is shown
// none: relo models probe shows it one all the same.
func (t *trial) picture(ctx context.Context, ref catalog.Ref) {
	began := time.Now()
	if m := t.known.modelOf(t.cfg, ref); m.Sight.Sight == vision.Blind {
		t.tell(Step{
			Step: StepPicture, Model: string(ref), State: stateSkip, Words: "text only (" + m.Sight.Source.Words() + "): no picture was sent",
			Hint: "relo models probe " + string(ref) + " shows it one all the same",
		}, began)
		return
	}
	x := t.known.probe(ctx, t.client, t.cfg, ref)
	s := Step{Step: StepPicture, Model: x.Ref, State: x.State, Words: x.Words, Hint: x.Hint, Fault: x.Fault, BadKey: x.BadKey}
	if x.Vision == vision.Blind { // somebody may have set it to see: that is what was tried
		s.State, s.Hint = stateFail, "no task with pictures is given to it from now on; relo models why "+x.Ref+" says how to change that"
		if x.Now.Vision != vision.Blind {
			s.Hint = `"vision" of it says that it sees: set it to false, so that no task with pictures is given to it`
		}
	}
	t.tell(s, began)
}
