package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/prompt"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/tool"
	"github.com/relo-dev/relo/core/internal/traffic"
)

// desk carries an agent's questions to its model, by way of the daemon.
type desk struct {
	k    *work
	mu   sync.Mutex
	sent map[string]bool // pictures that the daemon has
}

// askWait is how long a call waits before it is made again after the daemon was
// out of reach; the lease bounds how often.
const askWait = 300 * time.Millisecond

// ask sends one request. While the daemon is out of reach it asks again for as
// long as the lease can be current.
func (d *desk) ask(ctx context.Context, r provider.Request) (provider.Response, error) {
	for {
		answer, err := d.once(ctx, r)
		if err == nil {
			return answer, nil
		}
		if again, err := d.again(ctx, err); !again {
			return provider.Response{}, err
		}
	}
}

// look asks about one picture; it waits for a daemon out of reach as ask does.
func (d *desk) look(ctx context.Context, a protocol.LookAsk) (traffic.Seen, error) {
	for {
		err := d.sendOne(ctx, a.Picture)
		if err == nil {
			var seen traffic.Seen
			if seen, err = d.k.w.Phone.Look(ctx, a); err == nil {
				return seen, nil
			}
		}
		if again, err := d.again(ctx, err); !again {
			return traffic.Seen{}, err
		}
	}
}

// again says whether a call is to be made again after err, and waits before it.
func (d *desk) again(ctx context.Context, err error) (bool, error) {
	switch {
	case codeOf(err) == protocol.CodeMissing:
		d.mu.Lock()
		clear(d.sent)
		d.mu.Unlock()
	case !errors.Is(err, protocol.ErrAway):
		return false, err
	}
	if !d.k.w.leaseHeld() {
		return false, fmt.Errorf("the daemon was out of reach until the lease ended: %w", err)
	}
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-time.After(askWait):
		return true, nil
	}
}

func (d *desk) once(ctx context.Context, r provider.Request) (provider.Response, error) {
	if err := d.send(ctx, r); err != nil {
		return provider.Response{}, err
	}
	answer, err := d.k.w.Phone.Ask(ctx, protocol.Ask{Hold: d.k.a.Hold, Request: r})
	return answer.Response, err
}

// send brings the request's pictures to the daemon, each once.
func (d *desk) send(ctx context.Context, r provider.Request) error {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			var pictures []provider.Picture
			if p.Picture != nil {
				pictures = append(pictures, *p.Picture)
			}
			if p.Result != nil {
				pictures = append(pictures, p.Result.Pictures...)
			}
			for _, pic := range pictures {
				if err := d.sendOne(ctx, pic); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (d *desk) sendOne(ctx context.Context, p provider.Picture) error {
	d.mu.Lock()
	have := d.sent[p.SHA256]
	d.mu.Unlock()
	if have {
		return nil
	}
	if _, err := d.k.w.Phone.PutBlob(ctx, p.Bytes); err != nil {
		return err
	}
	d.mu.Lock()
	d.sent[p.SHA256] = true
	d.mu.Unlock()
	return nil
}

// finishTool takes an agent's report; what breaks the rules goes back to it.
type finishTool struct{ k *work }

func (k *work) finishSpec() provider.ToolSpec {
	if k.a.Kind == job.Review {
		return prompt.SubmitReview()
	}
	return prompt.FinishTask()
}

// Spec is finish_task, or submit_review for a reviewer.
func (f finishTool) Spec() provider.ToolSpec { return f.k.finishSpec() }

// Run checks the report.
func (f finishTool) Run(_ context.Context, _ string, args json.RawMessage) (tool.Result, error) {
	var faults []string
	if f.k.a.Kind == job.Review {
		_, faults = prompt.DecodeReview(args)
	} else {
		_, faults = prompt.DecodeFinish(args)
	}
	if len(faults) > 0 {
		return tool.Fail(strings.Join(faults, "; ")), nil
	}
	return tool.Result{Text: "received"}, nil
}

// askPerson is the hand-off to a person.
type askPerson struct{ attended bool }

// Spec is ask_person.
func (askPerson) Spec() provider.ToolSpec { return prompt.AskPerson() }

// Run lays the work aside until the person answers, or says that nobody is there.
func (p askPerson) Run(_ context.Context, _ string, args json.RawMessage) (tool.Result, error) {
	if _, faults := prompt.DecodeQuestion(args); len(faults) > 0 {
		return tool.Fail(strings.Join(faults, "; ")), nil
	}
	if p.attended {
		return tool.Result{}, tool.ErrWait
	}
	return tool.Result{Text: "Nobody is there to answer. Go on with what you can find out yourself; if you cannot, finish as blocked and say what you would have asked."}, nil
}
