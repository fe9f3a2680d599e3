package cli

import (
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/config"
)

func (s *shell) configCmd() *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Show and change the configuration", Args: cobra.ArbitraryArgs, RunE: group}
	var origin bool
	show := &cobra.Command{
		Use: "show", Short: "Show every setting that holds here", Args: none,
		RunE: func(*cobra.Command, []string) error { return s.configShow(origin) },
	}
	show.Flags().BoolVar(&origin, "origin", false, "say who set each: flag, variable, project, user or default")
	c.AddCommand(show, s.configInitCmd(),
		&cobra.Command{
			Use: "schema", Short: "Print the JSON Schema of relo.json, for editors", Args: none,
			RunE: func(*cobra.Command, []string) error {
				s.out.raw(string(config.Schema()))
				return nil
			},
		},
		&cobra.Command{
			Use: "set PATH VALUE", Short: "Set one value in your relo.json; comments stay", Args: exactly("PATH", "VALUE"),
			Example: "  relo config set budget.perJob 3\n  relo config set providers.here.url http://127.0.0.1:11434",
			RunE:    func(_ *cobra.Command, args []string) error { return s.configSet(args[0], args[1]) },
		})
	return c
}

func (s *shell) configShow(origin bool) error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	cfg, err := s.load(env)
	if err != nil {
		return err
	}
	values := cfg.Values()
	if s.json {
		s.out.doc(map[string]any{"file": config.FindPlaces(s.getenv).File(), "values": values})
		return nil
	}
	var rows [][]string
	for _, v := range values {
		row := []string{flat(v.Path, 0)}
		if origin {
			row = append(row, flat(v.Origin, 0))
		}
		rows = append(rows, append(row, flat(string(v.Value), 0)))
	}
	s.out.table(rows)
	if len(cfg.Waiting) > 0 {
		s.note.line("the project's %s take effect only after you approve them", strings.Join(cfg.Waiting, " and "))
	}
	return nil
}

func (s *shell) configSet(path, value string) error {
	places := config.FindPlaces(s.getenv)
	if err := config.Set(places, path, value); err != nil {
		_, faulty := config.AsFaults(err)
		_, system := errors.AsType[*os.PathError](err)
		if faulty || system {
			return err
		}
		return &usageError{words: err.Error(), hint: "relo config schema prints what is allowed"}
	}
	if s.json {
		s.out.doc(map[string]string{"file": places.File(), "path": path})
		return nil
	}
	s.out.line("set %s in %s", path, places.File())
	return nil
}
