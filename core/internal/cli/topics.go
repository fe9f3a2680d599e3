package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/board"
)

// Command is the tree of commands for whoever writes pages about them; it is
// not run.
func Command() *cobra.Command {
	s := &shell{doors: realDoors(), out: &paper{}, note: &paper{}, getenv: func(string) string { return "" }}
	root := s.root()
	root.InitDefaultHelpCmd()
	return root
}

// ExitCode is an exit code and what it means.
type ExitCode struct {
	Code  string
	Means string
}

// ExitCodes lists the exit codes of every command.
func ExitCodes() []ExitCode {
	return []ExitCode{
		{"0", "done; also an empty list"},
		{"1", "an error of Relo or of the system"},
		{"2", "wrong usage or configuration"},
		{"3", "the job failed"},
		{"4", "a key is missing or was refused"},
		{"5", "stopped at the budget"},
		{"6", "the daemon cannot be reached, or is of another version"},
		{"7", "a person must decide or look"},
		{"8", "still running (show --exit-status, or the view was left with q)"},
		{"9", "cancelled"},
		{"124", "--timeout was reached"},
		{"130 143", "ended by SIGINT, by SIGTERM"},
	}
}

// Variable is an environment variable that Relo reads.
type Variable struct {
	Name  string
	Means string
}

// Variables lists the environment variables of the command line.
func Variables() []Variable {
	return []Variable{
		{"RELO_HOME", "one folder for configuration, record and cache, in the place of the XDG folders"},
		{"RELO_LOCAL_SERVERS", "which model servers on this machine discover and config init ask: none, or names of ollama, lmstudio, llamacpp, vllm, each with =URL where it is not the usual port"},
		{"OLLAMA_HOST", "where Ollama listens, as for Ollama itself; asked only on this machine"},
		{"ANTHROPIC_BASE_URL, OPENAI_BASE_URL", "the address that is proposed for a key in ANTHROPIC_API_KEY or OPENAI_API_KEY"},
		{"RELO_SCREEN_READER", "1: as --screen-reader"},
		{"RELO_PAGER, PAGER", "shows long text on a terminal (default: less); cat: none"},
		{"VISUAL, EDITOR", "edits a plan (approve --edit)"},
		{"NO_COLOR", "not empty: no colours"},
		{"CLICOLOR_FORCE", "not empty and not 0: colours also off a terminal"},
		{"CLICOLOR", "0: no colours"},
		{"TERM", "dumb: no live view, no colours"},
	}
}

// topic is a page of help that is no command.
func topic(name, short string, rows [][2]string) *cobra.Command {
	width := 0
	for _, r := range rows {
		width = max(width, board.Width(r[0]))
	}
	var b strings.Builder
	b.WriteString(short + ":")
	for _, r := range rows {
		fmt.Fprintf(&b, "\n  %s  %s", board.Pad(r[0], width), r[1])
	}
	return &cobra.Command{Use: name, Short: short, Long: b.String()}
}

func exitCodesTopic() *cobra.Command {
	var rows [][2]string
	for _, c := range ExitCodes() {
		rows = append(rows, [2]string{c.Code, c.Means})
	}
	return topic("exit-codes", "What the exit codes mean", rows)
}

func environmentTopic() *cobra.Command {
	var rows [][2]string
	for _, v := range Variables() {
		rows = append(rows, [2]string{v.Name, v.Means})
	}
	return topic("environment", "Which environment variables are read", rows)
}

func statesTopic() *cobra.Command {
	var rows [][2]string
	for _, m := range board.Meanings() {
		rows = append(rows, [2]string{m.Icon + " " + m.Word, m.Means})
	}
	return topic("states", "What the words for states mean", rows)
}
