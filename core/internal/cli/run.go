package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
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
	repo, model, approve, file, progress    string
	images                                  []string
	private, apply, detach, standalone, dry bool
	yes                                     bool
	budget                                  budgetFlag
	timeout, grace                          time.Duration
}

func (s *shell) runCmd() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   `run "TEXT"`,
		Short: "Plan a job, do it and review it; the text may come from stdin as -",
		Long: "Plan a job, do it and review it. The text is the argument, a --file, or stdin as -.\n" +
			"On a terminal the plan is shown before anything begins, and a live view follows the work:\n" +
			"q or Ctrl-C leaves it and the job goes on. Off a terminal lines tell each change, and a signal cancels the job.",
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case f.file != "" && len(args) > 0:
				return &usageError{words: "the text is given twice: as an argument and as --file", hint: "choose one"}
			case f.file != "":
				return nil
			case len(args) > 1:
				return &usageError{words: "the text is more than one argument", hint: "put it in quotes: " + c.UseLine()}
			}
			return exactly("TEXT")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.budget.check(c); err != nil {
				return err
			}
			return s.run(c.Context(), f, strings.Join(args, ""))
		},
	}
	f.add(c)
	return c
}

func (f *runFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.repo, "repo", "", "the folder to work on (default: the current folder)")
	fl.StringVar(&f.file, "file", "", "read the text from this file")
	fl.StringArrayVar(&f.images, "image", nil, "a picture that comes with the job; may be given several times")
	fl.StringVar(&f.model, "model", "", "do every task with this model, provider/id")
	fl.BoolVar(&f.private, "private", false, "only models on your own machines")
	f.budget.add(c, "stop at this many USD (default: the configuration's)")
	fl.StringVar(&f.approve, "approve", "", "what you are asked before it starts: never or plan (default: plan on a terminal, else never)")
	fl.BoolVarP(&f.dry, "dry-run", "n", false, "make the plan, show it, and do nothing")
	fl.BoolVar(&f.apply, "apply", false, "apply the result to your files when it is ready")
	fl.BoolVar(&f.detach, "detach", false, "hand the job to the daemon and leave")
	fl.BoolVar(&f.standalone, "standalone", false, "do everything in this process")
	fl.BoolVar(&f.yes, "yes", false, "answer yes: to the plan, and when a price is not known")
	fl.DurationVar(&f.timeout, "timeout", 0, "leave after this time, for example 20m")
	fl.DurationVar(&f.grace, "grace", defaultGrace, "how long the job may take to end after a signal")
	progressFlag(c, &f.progress)
}

func (f runFlags) check() error {
	switch {
	case f.approve != "" && f.approve != approveNever && f.approve != approvePlan:
		return &usageError{words: fmt.Sprintf("--approve %s: it is never or plan", f.approve)}
	case f.dry && f.approve == approveNever, f.dry && f.detach, f.dry && f.apply:
		return &usageError{words: "--dry-run makes the plan and nothing else: leave --approve, --detach and --apply out"}
	case f.timeout < 0, f.grace < 0:
		return &usageError{words: "--timeout and --grace are times such as 20m"}
	case f.detach && f.standalone:
		return &usageError{words: "--detach hands the job to a daemon and --standalone uses none: choose one"}
	case f.detach && f.apply:
		return &usageError{words: "--apply waits for the result and --detach does not: choose one", hint: "relo apply ID applies it later"}
	}
	return nil
}

// What the person is asked before a job starts.
const (
	approveNever = "never"
	approvePlan  = "plan"
)

// approveOf is what holds when --approve was left out: a person at a terminal
// sees the plan, nobody else can answer.
func (s *shell) approveOf(f runFlags) string {
	switch {
	case f.dry:
		return approvePlan
	case f.approve != "":
		return f.approve
	case s.asks() && !s.json && !f.detach:
		return approvePlan
	}
	return approveNever
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
	if arg != "-" {
		return checkText(arg)
	}
	data, err := io.ReadAll(io.LimitReader(s.in, maxText+1))
	if err != nil {
		return "", fmt.Errorf("read the text from stdin: %w", err)
	}
	return checkText(string(data))
}

func checkText(text string) (string, error) {
	switch {
	case strings.TrimSpace(text) == "":
		return "", &usageError{words: "the text is empty", hint: firstJob}
	case len(text) > maxText:
		return "", &usageError{words: "the text is longer than 1 MiB", hint: "put long material into a file of the repository and name it"}
	}
	return text, nil
}

// jobText is the text of a job: the argument, or what a file holds.
func (s *shell) jobText(file, arg string) (string, error) {
	if file == "" {
		return s.text(arg)
	}
	f, err := os.Open(file) //nolint:gosec // the person names the file
	if err != nil {
		return "", &usageError{words: fmt.Sprintf("--file %s cannot be opened: %v", file, cause(err))}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", &usageError{words: fmt.Sprintf("--file %s cannot be read: %v", file, cause(err))}
	}
	return checkText(string(data))
}

var errTimeout = errors.New("the time of --timeout is over")

func (s *shell) run(ctx context.Context, f runFlags, arg string) error {
	if err := f.check(); err != nil {
		return err
	}
	progress, err := s.progressOf(f.progress)
	if err != nil {
		return err
	}
	f.progress = progress
	text, err := s.jobText(f.file, arg)
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
	if cfg, err = s.firstConfig(ctx, env, cfg, f.yes); err != nil {
		return err
	}
	if f.budget.given == nil && s.getenv("RELO_BUDGET") != "" {
		f.budget.given = cfg.Budget.PerJob // the daemon has an environment of its own
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
	sub := protocol.Submit{Text: text, Repo: env.Dir, Model: f.model, Private: f.private, Approve: s.approveOf(f), AllowUnknown: f.yes, Budget: f.budget.given, Attended: s.asks()}
	return errors.Join(s.submit(waiting, l, sub, images, f), l.close())
}

// openToWork opens the API where the job will be done, and says where.
func (s *shell) openToWork(ctx context.Context, env app.Env, cfg *config.Config, f runFlags) (*link, error) {
	mode := app.Daemon
	if f.standalone {
		mode = app.Standalone
	} else if !s.running(env, cfg) {
		if err := s.startForRun(ctx, env); err != nil {
			return nil, err
		}
	}
	l, err := s.openLasting(ctx, env, cfg, mode)
	if err != nil {
		return nil, err
	}
	s.saysWaiting(cfg, env.Dir)
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
	v := newView(s, accepted.Job)
	v.progress, v.plan = f.progress, true
	return s.attend(ctx, l, v, stay{apply: f.apply, yes: f.yes, dry: f.dry, grace: f.grace})
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
