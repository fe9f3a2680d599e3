package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/client"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// runFlags are the flags of run.
type runFlags struct {
	repo, model, approve                    string
	images                                  []string
	private, apply, detach, standalone, yes bool
	budget                                  budgetFlag
	timeout                                 time.Duration
}

func (s *shell) runCmd() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   `run "TEXT"`,
		Short: "Plan a job, do it and review it; the text may come from stdin as -",
		Example: "  relo run \"Make the login page match ref/login.png\" --image ref/login.png\n" +
			"  git diff | relo run - --repo . --budget 1 --json",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return &usageError{words: "the text is more than one argument", hint: "put it in quotes: " + c.UseLine()}
			}
			return exactly("TEXT")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.budget.check(c); err != nil {
				return err
			}
			return s.run(c.Context(), f, args[0])
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.repo, "repo", "", "the git repository to work on (default: the current folder)")
	fl.StringArrayVar(&f.images, "image", nil, "a picture that comes with the job; may be given several times")
	fl.StringVar(&f.model, "model", "", "do every task with this model, provider/id")
	fl.BoolVar(&f.private, "private", false, "only models on your own machines")
	f.budget.add(c, "stop at this many USD (default: the configuration's)")
	fl.StringVar(&f.approve, "approve", "never", "what you are asked before it starts: never")
	fl.BoolVar(&f.apply, "apply", false, "apply the result to your files when it is ready")
	fl.BoolVar(&f.detach, "detach", false, "hand the job to the daemon and leave")
	fl.BoolVar(&f.standalone, "standalone", false, "do everything in this process")
	fl.BoolVar(&f.yes, "yes", false, "go on although a price is not known")
	fl.DurationVar(&f.timeout, "timeout", 0, "leave after this time, for example 20m")
	return c
}

func (f runFlags) check() error {
	switch {
	case f.approve == "plan":
		return &usageError{words: "--approve plan is not there yet: this version cannot show a plan before it starts", hint: "leave it out, or pass --approve never"}
	case f.approve != "never":
		return &usageError{words: fmt.Sprintf("--approve %s: it is never or plan", f.approve)}
	case f.timeout < 0:
		return &usageError{words: "--timeout is a time such as 20m"}
	case f.detach && f.standalone:
		return &usageError{words: "--detach hands the job to a daemon and --standalone uses none: choose one"}
	case f.detach && f.apply:
		return &usageError{words: "--apply waits for the result and --detach does not: choose one", hint: "relo apply ID applies it later"}
	}
	return nil
}

// budgetFlag is --budget; given is nil when it was left out.
type budgetFlag struct {
	value float64
	given *float64
}

func (b *budgetFlag) add(c *cobra.Command, usage string) {
	c.Flags().Float64Var(&b.value, "budget", 0, usage)
}

func (b *budgetFlag) check(c *cobra.Command) error {
	if !c.Flags().Changed("budget") {
		return nil
	}
	if b.value < 0 || math.IsNaN(b.value) || math.IsInf(b.value, 0) {
		return &usageError{words: "--budget is a sum in USD, 0 or more"}
	}
	b.given = &b.value
	return nil
}

// maxText is more than any model reads.
const maxText = 1 << 20

// text gives the job's text, from stdin when it is "-".
func (s *shell) text(arg string) (string, error) {
	if arg == "-" {
		data, err := io.ReadAll(io.LimitReader(s.in, maxText+1))
		if err != nil {
			return "", fmt.Errorf("read the text from stdin: %w", err)
		}
		arg = string(data)
	}
	switch {
	case strings.TrimSpace(arg) == "":
		return "", &usageError{words: "the text is empty", hint: firstJob}
	case len(arg) > maxText:
		return "", &usageError{words: "the text is longer than 1 MiB", hint: "put long material into a file of the repository and name it"}
	}
	return arg, nil
}

var errTimeout = errors.New("the time of --timeout is over")

func (s *shell) run(ctx context.Context, f runFlags, arg string) error {
	if err := f.check(); err != nil {
		return err
	}
	text, err := s.text(arg)
	if err != nil {
		return err
	}
	env, err := s.env("")
	if err != nil {
		return err
	}
	images, err := findImages(env.Dir, f.images)
	if err != nil {
		return err
	}
	if f.repo != "" && !filepath.IsAbs(f.repo) {
		f.repo = filepath.Join(env.Dir, f.repo)
	}
	if f.repo != "" {
		env.Dir = f.repo
	}
	cfg, err := s.load(env)
	if err != nil {
		return err
	}
	waiting := ctx
	if f.timeout > 0 {
		var stop context.CancelFunc
		waiting, stop = context.WithTimeoutCause(ctx, f.timeout, errTimeout)
		defer stop()
	}
	l, err := s.openToWork(ctx, env, cfg, f)
	if err != nil {
		return err
	}
	sub := protocol.Submit{Text: text, Repo: env.Dir, Model: f.model, Private: f.private, Approve: f.approve, AllowUnknown: f.yes, Budget: f.budget.given}
	return errors.Join(s.submit(waiting, l, sub, images, f), l.close())
}

// openToWork opens the API where the job will be done, and says where.
func (s *shell) openToWork(ctx context.Context, env app.Env, cfg *config.Config, f runFlags) (*link, error) {
	mode := app.Daemon
	if f.standalone || !s.running(env, cfg) {
		mode = app.Standalone
	}
	if f.detach && mode != app.Daemon {
		return nil, &protocol.Error{
			Code: protocol.CodeUnreachable, Message: "no daemon is running, and --detach leaves the job to one",
			Hint: "start relo serve, or leave --detach out", Retryable: true,
		}
	}
	l, err := s.openLasting(ctx, env, cfg, mode)
	if err != nil {
		return nil, err
	}
	if l.here && !f.standalone {
		s.note.line("no daemon is running: everything runs in this process and ends with the job (relo serve runs one)")
	}
	s.note.line("warning: agents' commands are not confined yet: they run with your rights on this machine")
	return l, nil
}

// openLasting opens the API so that it outlives ctx: a job in this process must
// be cancelled in order after a signal.
func (s *shell) openLasting(ctx context.Context, env app.Env, cfg *config.Config, mode app.Mode) (*link, error) {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	release := context.AfterFunc(ctx, end)
	l, err := s.open(life, env, cfg, mode)
	if err != nil || !release() {
		end()
		if l != nil {
			err = errors.Join(err, l.close())
		}
		return nil, errors.Join(err, ctx.Err())
	}
	closeLink := l.close
	l.close = func() error { defer end(); return closeLink() }
	return l, nil
}

func (s *shell) submit(ctx context.Context, l *link, sub protocol.Submit, images []attached, f runFlags) error {
	var err error
	if sub.Images, err = send(ctx, l.Client, images); err != nil {
		return err
	}
	// A signal in these milliseconds must not leave a job behind that nobody
	// knows the name of.
	accepted, err := l.Submit(context.WithoutCancel(ctx), sub)
	if err != nil {
		return err
	}
	if f.detach {
		if s.json {
			s.out.doc(accepted)
			return nil
		}
		s.out.line("%s", accepted.Job)
		s.note.line("%s follows it", s.hint("watch", accepted.Job))
		return nil
	}
	return s.attend(ctx, l, newView(s, accepted.Job), f.apply)
}

// send puts the pictures where the job finds them.
func send(ctx context.Context, c *client.Client, images []attached) ([]protocol.Attachment, error) {
	var out []protocol.Attachment
	for _, i := range images {
		data, err := i.read()
		if err != nil {
			return nil, err
		}
		sha, err := c.PutBlob(ctx, data)
		if err != nil {
			return nil, fmt.Errorf("send %s: %w", i.name, err)
		}
		out = append(out, protocol.Attachment{Name: i.name, SHA256: sha, Bytes: len(data)})
	}
	return out, nil
}
