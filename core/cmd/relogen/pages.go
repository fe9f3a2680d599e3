package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/relo-dev/relo/core/internal/board"
	"github.com/relo-dev/relo/core/internal/cli"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/job"
)

// manDir is where man pages lie, as in a prefix.
const manDir = "man/man1"

// madeBy stands at the head of every page in Markdown.
const madeBy = "Drawn from the code by `make generate`; do not edit.\n\n"

// pages gives every page by its name from the repository's folder.
func pages() (map[string][]byte, error) {
	schema := config.Schema()
	settings, err := configPage(schema)
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{
		"docs/reference/cli.md":             cliPage(cli.Command()),
		"docs/reference/config.md":          settings,
		"docs/reference/config.schema.json": schema,
		"docs/task-states.md":               []byte(job.Diagram()),
	}
	return all, manPages(all, cli.Command())
}

// manPages adds a page for each command that is listed.
func manPages(all map[string][]byte, c *cobra.Command) error {
	if c.Hidden || c.Name() == "help" {
		return nil
	}
	// A man page has a date; this one stands for the release that the words came with.
	date := time.Date(2026, time.November, 30, 0, 0, 0, 0, time.UTC)
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	c.DisableAutoGenTag = true
	var b bytes.Buffer
	if err := doc.GenMan(c, &doc.GenManHeader{Title: strings.ToUpper(name), Section: "1", Date: &date, Source: "Relo", Manual: "Relo"}, &b); err != nil {
		return fmt.Errorf("man page of %s: %w", name, err)
	}
	all[manDir+"/"+name+".1"] = b.Bytes()
	for _, sub := range c.Commands() {
		if err := manPages(all, sub); err != nil {
			return err
		}
	}
	return nil
}

// cliPage is the whole command line on one page.
func cliPage(root *cobra.Command) []byte {
	var b bytes.Buffer
	b.WriteString("# Command line\n\n" + madeBy)
	b.WriteString("Results are on stdout, everything else on stderr. With `--json` stdout holds one document, and of `run`, `watch` and `logs` one event\n" +
		"a line; an error is `{\"error\":{code, message, hint, retryable}}`. What programs read is stable; what people read may change.\n\n" +
		"An id is a job's or a task's, any prefix that only one has, `@last` for the newest job, or `JOB/KEY` with the plan's own word for a task.\n" +
		"Flags may stand before and behind arguments.\n\n")
	for _, g := range root.Groups() {
		fmt.Fprintf(&b, "**%s** ", g.Title)
		var names []string
		for _, c := range root.Commands() {
			if c.GroupID == g.ID && !c.Hidden && c.Name() != "help" {
				names = append(names, fmt.Sprintf("[`%s`](#relo-%s)", c.Name(), c.Name()))
			}
		}
		b.WriteString(strings.Join(names, " ") + "\n\n")
	}
	b.WriteString("## Flags of every command\n\n")
	flags(&b, root.PersistentFlags())
	section(&b, root)
	b.WriteString("## Exit codes\n\n| Code | Means |\n|---|---|\n")
	for _, c := range cli.ExitCodes() {
		fmt.Fprintf(&b, "| %s | %s |\n", c.Code, c.Means)
	}
	b.WriteString("\n## Environment\n\n| Variable | Means |\n|---|---|\n")
	for _, v := range cli.Variables() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", v.Name, v.Means)
	}
	b.WriteString("\n## Words for states\n\n| | Word | Means |\n|---|---|---|\n")
	for _, m := range board.Meanings() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.Icon, m.Word, m.Means)
	}
	return b.Bytes()
}

// section describes the commands below c, each under its whole name.
func section(b *bytes.Buffer, c *cobra.Command) {
	for _, sub := range c.Commands() {
		if sub.Hidden || sub.Name() == "help" || (!sub.Runnable() && !sub.HasSubCommands()) {
			continue
		}
		fmt.Fprintf(b, "## %s\n\n%s\n\n", sub.CommandPath(), strings.TrimRight(cmp.Or(sub.Long, sub.Short), ".")+".")
		if sub.Runnable() {
			fmt.Fprintf(b, "```\n%s\n```\n\n", sub.UseLine())
		}
		if sub.Example != "" {
			fmt.Fprintf(b, "Examples:\n\n```\n%s\n```\n\n", strings.ReplaceAll(strings.TrimPrefix(sub.Example, "  "), "\n  ", "\n"))
		}
		flags(b, sub.LocalNonPersistentFlags())
		section(b, sub)
	}
}

func flags(b *bytes.Buffer, set *pflag.FlagSet) {
	var rows []string
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		words, usage := pflag.UnquoteUsage(f)
		if words != "" {
			name += " " + words
		}
		dflt := ""
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "[]" && f.DefValue != "0s" && !strings.Contains(usage, "default") {
			dflt = " (default: " + f.DefValue + ")"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s%s |\n", name, strings.ReplaceAll(usage, "|", `\|`), dflt))
	})
	if len(rows) == 0 {
		return
	}
	slices.Sort(rows)
	b.WriteString("| Flag | |\n|---|---|\n" + strings.Join(rows, "") + "\n")
}
