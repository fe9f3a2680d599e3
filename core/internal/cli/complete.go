package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// completion is what the arguments of a command are.
type completion int

const (
	nothing completion = iota
	files
	jobs
	tasks // or jobs
	models
	anyModels // those of the providers' lists too
	providers
	shells
)

// completeTime is how long a shell waits for words; without them it goes on.
const completeTime = 2 * time.Second

// mostCompleted is how many jobs are offered: the newest.
const mostCompleted = 30

// completer offers words for an argument. What cannot be asked is not offered;
// nothing is said about it, since a person is in the middle of a line.
func (s *shell) completer(what completion) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		plain := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		ctx, stop := context.WithTimeout(c.Context(), completeTime)
		defer stop()
		var found []cobra.Completion
		var err error
		switch {
		case what == files:
			return nil, cobra.ShellCompDirectiveDefault
		case what == models || what == anyModels:
			found, err = s.offer(ctx, func(ctx context.Context, l *link) ([]cobra.Completion, error) {
				return offerModels(ctx, l, what == anyModels)
			})
		case what == providers:
			found, err = s.offerProviders()
		case len(args) > 0 || what == nothing || what == shells:
			return nil, plain
		default:
			found, err = s.offer(ctx, func(ctx context.Context, l *link) ([]cobra.Completion, error) {
				return offerJobs(ctx, l, what == tasks, word)
			})
		}
		if err != nil {
			cobra.CompDebugln(err.Error(), false)
			return nil, plain
		}
		return found, plain
	}
}

func (s *shell) offer(ctx context.Context, f func(context.Context, *link) ([]cobra.Completion, error)) (found []cobra.Completion, err error) {
	err = s.asking(ctx, app.Any, func(l *link) error {
		found, err = f(ctx, l)
		return err
	})
	return found, err
}

// offerProviders offers the providers of the configuration.
func (s *shell) offerProviders() ([]cobra.Completion, error) {
	p, cfg, err := s.providersHere()
	if err != nil {
		return nil, err
	}
	var found []cobra.Completion
	for _, d := range p.List(cfg) {
		found = append(found, cobra.CompletionWithDesc(d.Name, d.API))
	}
	return found, nil
}

func offerModels(ctx context.Context, l *link, all bool) ([]cobra.Completion, error) {
	doc, err := l.Models(ctx, protocol.ModelsRequest{All: all})
	if err != nil {
		return nil, err
	}
	var found []cobra.Completion
	for _, m := range doc.Models {
		if m.Chat {
			found = append(found, cobra.CompletionWithDesc(m.Ref, m.Vision.Words()))
		}
	}
	return found, nil
}

// offerJobs offers jobs, and behind the id of one and a slash its tasks.
func offerJobs(ctx context.Context, l *link, withTasks bool, word string) ([]cobra.Completion, error) {
	list, err := l.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	found := []cobra.Completion{}
	if len(list.Jobs) > 0 {
		found = append(found, cobra.CompletionWithDesc(lastJob, flat(list.Jobs[0].Title, jobRunes)))
	}
	for i, j := range list.Jobs[:min(len(list.Jobs), mostCompleted)] {
		found = append(found, cobra.CompletionWithDesc(short(j.ID), fmt.Sprintf("%s: %s", jobState(j.Status), flat(j.Title, jobRunes))))
		if !withTasks || (i > 0 && len(word) < shortID) {
			continue // the tasks of old jobs are asked for only when one is being typed
		}
		doc, err := l.Show(ctx, j.ID)
		if err != nil {
			return found, nil //nolint:nilerr // the jobs alone are worth offering
		}
		for _, t := range doc.Tasks {
			found = append(found, cobra.CompletionWithDesc(short(j.ID)+"/"+t.Key, flat(t.Title, jobRunes)))
		}
	}
	return found, nil
}

func completionCmd() *cobra.Command {
	return &cobra.Command{
		Use: "completion SHELL", Short: "Print a script that completes commands, ids and models: bash, zsh, fish or powershell",
		Long: "Print a script that makes your shell complete commands, flags, ids of jobs and tasks, and models.\n\n" +
			"  bash        source <(relo completion bash), in ~/.bashrc\n" +
			"  zsh         relo completion zsh > \"${fpath[1]}/_relo\"\n" +
			"  fish        relo completion fish > ~/.config/fish/completions/relo.fish\n" +
			"  powershell  relo completion powershell | Out-String | Invoke-Expression, in your profile\n\n" +
			"make install puts them where the shells look.",
		Args: exactly("SHELL"), ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(c *cobra.Command, args []string) error {
			root, out := c.Root(), c.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return &usageError{words: fmt.Sprintf("%q is not a shell that can be helped", args[0]), hint: "bash, zsh, fish or powershell"}
		},
	}
}
