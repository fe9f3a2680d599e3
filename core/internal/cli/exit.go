package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// The exit codes of contracts §3.
const (
	exitDone      = 0
	exitError     = 1
	exitUsage     = 2
	exitFailed    = 3
	exitKey       = 4
	exitBudget    = 5
	exitAway      = 6
	exitPerson    = 7
	exitRunning   = 8
	exitCancelled = 9
	exitTimeout   = 124
	exitSignal    = 128 // and the signal's number
	exitInterrupt = exitSignal + int(syscall.SIGINT)
)

// SignalError is the cause of a context that a signal ended.
type SignalError struct{ Number syscall.Signal }

// Error names the signal.
func (s *SignalError) Error() string { return "ended by the signal " + s.Number.String() }

// usageError is a command line that cannot be followed.
type usageError struct{ words, hint string }

func (e *usageError) Error() string { return e.words }

// endError ends the program with a code; everything was said already.
type endError struct{ code int }

func (e *endError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// ended gives nil for 0.
func ended(code int) error {
	if code == exitDone {
		return nil
	}
	return &endError{code}
}

// errorDoc is the document of an error; Faults lists those of a configuration.
type errorDoc struct {
	protocol.Error
	Faults []config.Fault `json:"faults,omitempty"`
}

// end says an error and gives the exit code.
func (s *shell) end(ctx context.Context, err error) int {
	if err == nil {
		return exitDone
	}
	if e, ok := errors.AsType[*endError](err); ok {
		return e.code
	}
	if ctx.Err() != nil {
		code := signalCode(ctx)
		s.fail(errorDoc{Error: protocol.Error{Code: "interrupted", Message: context.Cause(ctx).Error()}})
		return code
	}
	doc, code := docOf(err)
	s.fail(doc)
	return code
}

func (s *shell) fail(doc errorDoc) {
	if s.json {
		s.out.doc(map[string]errorDoc{"error": doc})
	}
	for _, f := range doc.Faults {
		s.note.loud("%s", f.String())
	}
	s.note.loud("relo: %s", doc.Message)
	if doc.Hint != "" {
		s.note.loud("  %s", doc.Hint)
	}
}

func signalCode(ctx context.Context) int {
	if sig, ok := errors.AsType[*SignalError](context.Cause(ctx)); ok {
		return exitSignal + int(sig.Number)
	}
	return exitInterrupt
}

// docOf puts an error into the document of errors, with its exit code.
func docOf(err error) (errorDoc, int) {
	if faults, ok := config.AsFaults(err); ok {
		words := "the configuration has a fault"
		if len(faults) != 1 {
			words = fmt.Sprintf("the configuration has %d faults", len(faults))
		}
		return errorDoc{protocol.Error{Code: protocol.CodeConfig, Message: words + "; nothing was started", Hint: "relo config schema prints what is allowed"}, faults}, exitUsage
	}
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		if e.Code == protocol.CodeNotFound && strings.Contains(e.Message, `"@last"`) {
			return errorDoc{Error: protocol.Error{Code: e.Code, Message: "there are no jobs yet", Hint: firstJob + " makes one"}}, exitUsage
		}
		return errorDoc{Error: *e}, codeOf(e.Code)
	}
	if e, ok := errors.AsType[*usageError](err); ok {
		return errorDoc{Error: protocol.Error{Code: protocol.CodeUsage, Message: e.words, Hint: e.hint}}, exitUsage
	}
	if errors.Is(err, protocol.ErrAway) {
		return errorDoc{Error: protocol.Error{Code: protocol.CodeUnreachable, Message: err.Error(), Hint: "relo daemon start starts it; relo doctor looks for the cause", Retryable: true}}, exitAway
	}
	return errorDoc{Error: protocol.Error{Code: protocol.CodeInternal, Message: err.Error()}}, exitError
}

// codeOf gives the exit code of an API error.
func codeOf(code string) int {
	switch code {
	case protocol.CodeUsage, protocol.CodeConfig, protocol.CodeNotFound, protocol.CodeAmbiguous:
		return exitUsage
	case protocol.CodeKey:
		return exitKey
	case protocol.CodeBudget:
		return exitBudget
	case protocol.CodeUnreachable:
		return exitAway
	case protocol.CodeConflict, protocol.CodeUnknown, protocol.CodeUnapplied, codeApproval: // whose lines win, an unknown price, what may be lost and what a plan holds are a person's to decide
		return exitPerson
	default:
		return exitError
	}
}

// outcomeCode gives the exit code of a job's state. end is its last end; nil: none yet.
func outcomeCode(status job.Status, end *job.Finished) int {
	key := end != nil && end.Code == job.CodeKey
	switch status {
	case job.Ready, job.Applied:
		if end != nil && len(end.NeedsEyes) > 0 {
			return exitPerson
		}
		return exitDone
	case job.AwaitingApproval:
		return exitPerson
	case job.WaitingForPerson:
		if key {
			return exitKey
		}
		return exitPerson
	case job.StoppedAtBudget:
		return exitBudget
	case job.Failed:
		if key {
			return exitKey
		}
		return exitFailed
	case job.Cancelled, job.Discarded:
		return exitCancelled
	default: // planning, running, paused, integrating
		return exitRunning
	}
}
