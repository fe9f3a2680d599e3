package cli

import (
	"context"
	"os"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/board"
	"github.com/relo-dev/relo/core/internal/client"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// link is the API: of a running daemon, or of this process.
type link struct {
	*client.Client
	here  bool // nobody else works on the jobs
	close func() error
}

// handDoors lead to programs of the person, and to the terminal before them.
type handDoors struct {
	edit func(ctx context.Context, command, file string) error
	page func(ctx context.Context, command, text string) error
	size func(stream any) board.Size // zero: no terminal
}

// doors lead out of the package; tests open others.
type doors struct {
	daemonDoors
	doctorDoors
	trustDoors
	exportDoors
	handDoors
	load     func(app.Env) (*config.Config, error)
	open     func(context.Context, app.Env, *config.Config, app.Mode) (*link, error)
	running  func(app.Env, *config.Config) bool
	serve    func(context.Context, app.Env, func(protocol.StatusDoc)) error
	work     func(context.Context, app.Env, string) error
	rehearse func(context.Context, app.Env, string) (*app.Demo, func() error, error)
	lookAt   func(context.Context, app.Env, *config.Config, app.LookQuestion) (app.Looked, error)
	workdir  func() (string, error)
	// executable is the path of this program.
	executable func() (string, error)
	terminal   func(stream any) bool
}

func realDoors() doors {
	return doors{
		daemonDoors: realDaemon(), doctorDoors: realDoctor(), trustDoors: realTrust(), exportDoors: realExport(), handDoors: handDoors{runEditor, runPager, sizeOf},
		load: app.Load, open: openLink, running: app.Running, serve: app.Serve, work: app.Work, rehearse: app.StartDemo, lookAt: app.LookAt,
		workdir: os.Getwd, executable: os.Executable, terminal: isTerminal,
	}
}

func openLink(ctx context.Context, env app.Env, cfg *config.Config, mode app.Mode) (*link, error) {
	l, err := app.Open(ctx, env, cfg, mode)
	if err != nil {
		return nil, err
	}
	return &link{Client: l.Client, here: l.Here, close: l.Close}, nil
}

// isTerminal reports whether a stream is a terminal. The null device is a
// character device too, and nobody sits before it.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
