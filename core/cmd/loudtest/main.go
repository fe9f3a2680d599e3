// Command loudtest runs go test and ends with what was not run. A test that
// skips says so in one line that begins with "not run:", and go test hides that
// line; here it is the last thing on the screen. It changes nothing else about
// the tests and never turns a failure into a success.
//
//	go run ./core/cmd/loudtest [flags of go test] ./...
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "loudtest:", err)
	}
	os.Exit(code)
}

// run gives the exit code of go test.
func run(ctx context.Context, args []string, out, errs io.Writer) (int, error) {
	//nolint:gosec // the arguments are those of the person at the keyboard, for go test
	test := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	test.Stderr = errs
	pipe, err := test.StdoutPipe()
	if err != nil {
		return 1, fmt.Errorf("read from go test: %w", err)
	}
	if err := test.Start(); err != nil {
		return 1, fmt.Errorf("start go test: %w", err)
	}
	s, readErr := read(pipe, out)
	err = test.Wait()
	s.tell(out)
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return max(e.ExitCode(), 1), readErr
	}
	if err := errors.Join(err, readErr); err != nil {
		return 1, fmt.Errorf("run go test: %w", err)
	}
	return 0, nil
}
