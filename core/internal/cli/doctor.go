package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
)

// doctorDoors lead to what looks after the set-up; tests open others.
type doctorDoors struct {
	doctor func(context.Context, app.Env, app.DoctorOptions) []app.Check
}

func realDoctor() doctorDoors { return doctorDoors{app.Doctor} }

func (s *shell) doctorCmd() *cobra.Command {
	var online bool
	c := &cobra.Command{
		Use: "doctor", Short: "Look whether everything that Relo needs is there, and say what to do",
		Long: "Look whether everything that Relo needs is there, and say what to do. Exit code 1 when something must be done.\n" +
			"Nothing is sent to a provider but the opening of a connection, unless --online is given.",
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error { return s.checkUp(c.Context(), online) },
	}
	c.Flags().BoolVar(&online, "online", false, "ask one model of each provider for one word, which may cost a little")
	return c
}

// checkDoc is one row of doctor.
type checkDoc struct {
	Name  string `json:"name"`
	State string `json:"state"` // ok, warn, fail
	Words string `json:"words"`
	Fix   string `json:"fix,omitempty"`
}

func (s *shell) checkUp(ctx context.Context, online bool) error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	o := app.DoctorOptions{Online: online, Terminal: s.terminal(s.out.w), Reads: s.terminal(s.in)}
	docs, rows, failed := []checkDoc{}, [][]string{}, false
	for _, c := range s.doctor(ctx, env, o) {
		docs = append(docs, checkDoc{c.Name, c.State, c.Words, c.Fix})
		rows = append(rows, []string{c.State, flat(c.Name, 0), flat(c.Words, 0)})
		if c.Fix != "" {
			rows = append(rows, []string{"", "", flat(c.Fix, 0)})
		}
		failed = failed || c.State == "fail"
	}
	if s.json {
		s.out.doc(map[string]any{"checks": docs})
	} else {
		s.out.table(rows)
	}
	if failed {
		return &endError{exitError}
	}
	return nil
}
