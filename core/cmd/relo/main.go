// Command relo is Relo's command line and daemon. It only hands the process
// over to package cli: arguments, streams, environment and signals.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/cli"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == app.PictureChild { // a child that decodes has no use for anything else
		os.Exit(cli.ServePictures(os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(run())
}

// run ends the context with the first signal and the process with the second.
func run() int {
	ctx, end := context.WithCancelCause(context.Background())
	defer end(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		for first := true; ; first = false {
			number, ok := (<-signals).(syscall.Signal)
			if !ok {
				continue
			}
			if !first {
				os.Exit(128 + int(number))
			}
			end(&cli.SignalError{Number: number})
		}
	}()
	return cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
}
