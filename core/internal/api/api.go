// Package api is the table of the bus's endpoints: subject, what it takes, what
// it gives, who answers. It checks the form of what comes in and decides nothing
// else; the bus serves the table.
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/traffic"
)

// Endpoint is one row: noun.verb, what it is for, and how it answers.
type Endpoint struct {
	Name        string
	Description string
	Handle      func(ctx context.Context, body []byte) ([]byte, error)
}

// Desks are those who answer.
type Desks struct {
	Asker
	Planner
	Keeper
	Teller
	Accountant
	Foreman
	Phone
	Album
	House
}

// Table lists every endpoint.
func Table(d Desks) []Endpoint {
	up := newUploads(d.Album)
	return slices.Concat(orders(d), questions(d), []Endpoint{
		row("models.list", "models, and what each source says of their sight", d.Models),
		row("models.forget", "forgets learned refusals of pictures", d.ForgetRefusals),
		row("daemon.status", "how the daemon is", func(ctx context.Context, _ protocol.Empty) (protocol.StatusDoc, error) { return d.Status(ctx) }),
		row("daemon.stop", "end the daemon; its jobs go on with the next one", func(ctx context.Context, _ protocol.Empty) (protocol.StatusDoc, error) {
			return d.Stop(ctx)
		}),
		row("worker.hello", "a worker's heartbeat", d.Hello),
		row("attempt.claim", "start an attempt under a lease", d.Claim),
		row("attempt.report", "steps and checks of an attempt", func(ctx context.Context, r protocol.Report) (protocol.Empty, error) {
			return protocol.Empty{}, d.Report(ctx, r)
		}),
		row("attempt.finish", "the result of an attempt", d.Finish),
		row("model.call", "one model call under a lease", func(ctx context.Context, a protocol.Ask) (traffic.Answer, error) { return d.Ask(ctx, a) }),
		row("model.look", "a question about a picture under a lease", func(ctx context.Context, a protocol.LookAsk) (traffic.Seen, error) { return d.Look(ctx, a) }),
		row("blob.put", "a piece of a file", up.put),
		row("blob.get", "a piece of a kept file", up.get),
	})
}

// row makes an endpoint out of a typed function: strict in what it takes.
func row[In, Out any](name, description string, f func(context.Context, In) (Out, error)) Endpoint {
	return Endpoint{Name: name, Description: description, Handle: func(ctx context.Context, body []byte) ([]byte, error) {
		var in In
		if len(bytes.TrimSpace(body)) > 0 {
			dec := json.NewDecoder(bytes.NewReader(body))
			dec.DisallowUnknownFields()
			err := dec.Decode(&in)
			if err == nil && dec.More() {
				err = errors.New("more than one document")
			}
			if err != nil {
				return nil, &protocol.Error{Code: protocol.CodeUsage, Message: fmt.Sprintf("%s: %v", name, err), Hint: "client and daemon may be of different versions"}
			}
		}
		out, err := f(ctx, in)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(out)
		if err != nil {
			return nil, fmt.Errorf("%s: encode the answer: %w", name, err)
		}
		return text, nil
	}}
}

// Fault turns an error into what crosses the bus: a code, a sentence, and the
// JSON document of both.
func Fault(err error) (code, words string, data []byte) {
	e, ok := errors.AsType[*protocol.Error](err)
	if !ok {
		e = &protocol.Error{Code: protocol.CodeInternal, Message: err.Error()}
	}
	text, merr := json.Marshal(e)
	if merr != nil {
		return e.Code, e.Message, nil
	}
	return e.Code, e.Message, text
}
