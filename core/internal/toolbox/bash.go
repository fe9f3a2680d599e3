package toolbox

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/tool"
)

//go:embed bash.md
var bashWords string

const bashSchema = `{"type":"object","additionalProperties":false,"required":["command"],"properties":{
"command":{"type":"string","minLength":1,"description":"what to run"},
"timeout":{"type":"integer","minimum":1,"maximum":600,"description":"seconds; 120 when absent"}}}`

type bashArgs struct {
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

func (b *Box) bash() tool.Tool {
	return newAct("bash", bashWords, bashSchema, func(ctx context.Context, a bashArgs) tool.Result {
		timeout := time.Duration(a.Timeout) * time.Second
		o, err := b.command(ctx, a.Command, timeout)
		switch {
		case errors.Is(err, ErrTimeout):
			return tool.Fail(o.text + fmt.Sprintf("[%v; give a longer timeout (at most %d s) or do less at once]", err, int(maxTimeout.Seconds())))
		case err != nil:
			return tool.Fail(o.text + fmt.Sprintf("[the command could not be run: %v]", err))
		}
		return tool.Result{Text: o.text + o.ending(), IsError: o.exit != 0}
	})
}

// ending is the line that closes an answer: the exit code, and what still runs.
func (o outcome) ending() string {
	if o.background {
		return fmt.Sprintf("[exit code %d; something that it started still runs in the background]", o.exit)
	}
	return fmt.Sprintf("[exit code %d]", o.exit)
}

// Run runs a command as the bash tool does, for checks. timeout 0 is the
// default, and none is longer than ten minutes. exit is -1 when the command did
// not end by itself, else 0 to 255 (128 + signal when one ended it). The output
// is cleaned and bounded, and there with every error: ErrTimeout, ErrClosed, the
// context's, or why it could not be started.
func (b *Box) Run(ctx context.Context, command string, timeout time.Duration) (exit int, output string, err error) {
	o, err := b.command(ctx, command, timeout)
	return o.exit, strings.TrimSuffix(o.text, "\n"), err
}
