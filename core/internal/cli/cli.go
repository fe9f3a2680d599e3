// Package cli is the command line: it reads flags, asks the API and prints. The
// result goes to stdout and all else to stderr; with --json stdout holds JSON
// and nothing else. It decides nothing about jobs, keeps no state, draws no
// colour and never prints a secret.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/config"
)

// Run is the program: it takes the arguments behind the program's name and
// gives the exit code of contracts §3. When ctx ends, its cause should be a
// *SignalError, which then decides the code.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) (exit int) {
	return (&shell{doors: realDoors(), in: stdin, out: &paper{w: stdout}, note: &paper{w: stderr}, getenv: getenv}).start(ctx, args)
}

// shell is one run of the program: where words come from and go to.
type shell struct {
	doors
	in                              io.Reader
	out                             *paper // results
	note                            *paper // all else
	getenv                          func(string) string
	json                            bool
	quiet, noColor, noInput, reader bool // flags of every command
	brief                           bool // help was asked for with -h
	yes                             bool // of approve
	// Of the demo: hints name them.
	home, program string
}

func (s *shell) start(ctx context.Context, args []string) int {
	root := s.root()
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.note)
	// A command line that cannot be read may ask for JSON all the same.
	for _, a := range args {
		if a == "--" {
			break
		}
		s.json = s.json || a == "--json"
		s.brief = s.brief || a == "-h"
	}
	ran, err := root.ExecuteContextC(ctx)
	if err != nil && ran.ValidateFlagGroups() != nil { // cobra says it like any other error
		err = &usageError{words: excluded(ran), hint: ran.CommandPath() + " --help"}
	}
	if err == nil {
		err = s.out.err
	}
	return s.end(ctx, err)
}

// excluded names the flags that were given and exclude each other.
func excluded(c *cobra.Command) string {
	var given []string
	c.Flags().Visit(func(f *pflag.Flag) {
		if len(f.Annotations) > 0 {
			given = append(given, "--"+f.Name)
		}
	})
	return strings.Join(given, " and ") + " exclude each other"
}

func (s *shell) root() *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:   "relo",
		Short: "Plans a job, gives its tasks to models that fit, and reviews what they did",
		Long: "Relo plans a job, gives its tasks to models that fit, and reviews what they did.\n" +
			"Try relo demo: it needs no key and no network.",
		SilenceErrors: true, SilenceUsage: true,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if version && len(args) == 0 {
				s.version()
				return nil
			}
			return group(c, args)
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print the version")
	pf := root.PersistentFlags()
	pf.BoolVar(&s.json, "json", false, "print JSON and nothing else on stdout")
	pf.BoolVarP(&s.quiet, "quiet", "q", false, "results and errors only")
	pf.BoolVar(&s.noInput, "no-input", false, "never ask; fail and say what to pass")
	pf.BoolVar(&s.noColor, "no-color", false, "no colours, as with NO_COLOR")
	pf.BoolVar(&s.reader, "screen-reader", false, "plain sentences: nothing is drawn twice or told by place or colour")
	root.PersistentPreRun = func(*cobra.Command, []string) {
		s.note.mute = s.quiet
		for _, p := range []*paper{s.out, s.note} {
			p.colour, p.width = s.colours(p.w), s.widthOf(p.w)
		}
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &usageError{words: flagWords(err), hint: c.CommandPath() + " --help"}
	})
	root.SetHelpCommand(helpCmd())
	root.AddCommand(s.commands()...)
	s.furnish(root)
	return root
}

// commands are all of them; furnish puts them into groups.
func (s *shell) commands() []*cobra.Command {
	return []*cobra.Command{
		s.runCmd(), s.watchCmd(), s.jobsCmd(), s.showCmd(), s.whyCmd(), s.logsCmd(), s.diffCmd(), s.picturesCmd(), s.costsCmd(),
		s.approveCmd(), s.sayCmd(), s.pauseCmd(), s.resumeCmd(), s.retryCmd(), s.cancelCmd(), s.applyCmd(), s.discardCmd(),
		s.modelsCmd(), s.providersCmd(), s.imageCmd(), s.lookCmd(), s.mcpCmd(), s.proxyCmd(), s.demoCmd(), s.doctorCmd(), s.configCmd(), s.serveCmd(), s.workerCmd(), s.versionCmd(), s.daemonCmd(), s.trustCmd(), s.exportCmd(),
		completionCmd(), exitCodesTopic(), environmentTopic(), statesTopic(),
	}
}

// nearEnough is how many letters a word may be off and still be guessed.
const nearEnough = 2

// group runs a command that only holds others: alone it shows its help, and
// an unknown word gets the nearest one.
func group(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return c.Help()
	}
	hint := c.CommandPath() + " --help lists the commands"
	c.SuggestionsMinimumDistance = nearEnough
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return &usageError{words: fmt.Sprintf("%q is not a command of %s", args[0], c.CommandPath()), hint: hint}
}

// helpCmd is cobra's own, but it refuses what is not there.
func helpCmd() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Say what a command does",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil {
				return &usageError{words: err.Error(), hint: c.Root().CommandPath() + " --help lists the commands"}
			}
			if len(rest) > 0 {
				return group(about, rest)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// flagWords says what is wrong with a flag, without the words of the parser.
func flagWords(err error) string {
	words, cause, bad := strings.Cut(err.Error(), " flag: ")
	if !bad || !strings.HasPrefix(words, "invalid argument ") {
		return err.Error()
	}
	number, _ := errors.AsType[*strconv.NumError](err)
	switch {
	case number != nil && number.Func == "ParseFloat":
		return words + ": it must be a number"
	case number != nil && number.Func == "ParseBool":
		return words + ": it must be true or false"
	case number != nil:
		return words + ": it must be a whole number"
	case strings.Contains(cause, "duration"):
		return words + ": it must be a time such as 20m"
	}
	return words + ": " + cause
}

// exactly asks for arguments by their names in the usage line.
func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return &usageError{words: names[len(args)] + " is missing", hint: c.UseLine()}
		case len(args) > len(names):
			return &usageError{words: fmt.Sprintf("%q is one argument too many", args[len(names)]), hint: c.UseLine()}
		}
		return nil
	}
}

func none(c *cobra.Command, args []string) error { return exactly()(c, args) }

// env is the environment for a command that works in dir; empty: where it runs.
func (s *shell) env(dir string) (app.Env, error) {
	if dir == "" {
		here, err := s.workdir()
		if err != nil {
			return app.Env{}, fmt.Errorf("find the current folder: %w", err)
		}
		dir = here
	}
	program, err := s.executable()
	if err != nil {
		program = "" // pictures are decoded in this process then
	}
	return app.Env{Getenv: s.getenv, Dir: dir, Stderr: s.note, Program: program}, nil
}

// forgiving gives the person's configuration to a command that only reaches the
// daemon or reads the record. A project's never matters to it, and a faulty one of
// the person's must not keep anybody from a job that runs.
func (s *shell) forgiving(env app.Env) (cfg *config.Config, faulty bool, err error) {
	env.Dir = ""
	cfg, err = s.load(env)
	faults, ok := config.AsFaults(err)
	if !ok {
		return cfg, false, err
	}
	words := ""
	if len(faults) > 0 {
		words = ": " + flat(faults[0].String(), lineRunes)
	}
	s.note.line("the configuration has a fault, which does not matter here%s", words)
	cfg, err = app.Defaults(env)
	return cfg, true, err
}

// asking opens the API for one command and closes it afterwards.
func (s *shell) asking(ctx context.Context, mode app.Mode, f func(*link) error) error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	cfg, _, err := s.forgiving(env)
	if err != nil {
		return err
	}
	return s.askingWith(ctx, env, cfg, mode, f)
}

// askingWith is asking under a configuration that was read already.
func (s *shell) askingWith(ctx context.Context, env app.Env, cfg *config.Config, mode app.Mode, f func(*link) error) error {
	l, err := s.open(ctx, env, cfg, mode)
	if err != nil {
		return err
	}
	return errors.Join(f(l), l.close())
}
