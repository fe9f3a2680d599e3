package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/relo-dev/relo/core/internal/protocol"
)

const planHead = `// The plan. Save and close: you are asked before it begins. An empty file changes nothing.
// Lines that begin with // are not read. A task may be removed, added or moved.
//   difficulty: easy, normal or hard       vision: true when the task needs eyes
//   dependsOn: ids of tasks that come first  use: a model of yours, provider/id
`

// planText is a plan as a person edits it: JSON with comments.
func planText(plan protocol.PlanDoc) string {
	var b strings.Builder
	b.WriteString(planHead + "{\n")
	field(&b, "  ", "summary", plan.Summary, ",")
	b.WriteString("  \"tasks\": [\n")
	for i, t := range plan.Tasks {
		b.WriteString("    {\n")
		if t.Model != "" {
			fmt.Fprintf(&b, "      // %s\n", flat(because(t.Model, t.Reason), 0))
		}
		field(&b, "      ", "id", t.ID, ",")
		field(&b, "      ", "title", t.Title, ",")
		field(&b, "      ", "instructions", t.Instructions, ",")
		field(&b, "      ", "difficulty", t.Difficulty, ",")
		field(&b, "      ", "vision", t.Vision, ",")
		for _, f := range []struct {
			name string
			list []string
		}{{"images", t.Images}, {"files", t.Files}, {"checks", t.Checks}} {
			if len(f.list) > 0 {
				field(&b, "      ", f.name, f.list, ",")
			}
		}
		field(&b, "      ", "use", t.Use, ",")
		field(&b, "      ", "dependsOn", append([]string{}, t.DependsOn...), "")
		b.WriteString("    }" + map[bool]string{true: ",\n", false: "\n"}[i < len(plan.Tasks)-1])
	}
	b.WriteString("  ]\n}\n")
	return b.String()
}

func field(b *strings.Builder, indent, name string, value any, end string) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil { // words, flags and lists of words always encode
		text.WriteString("null")
	}
	fmt.Fprintf(b, "%s%q: %s%s\n", indent, name, strings.TrimSpace(text.String()), end)
}

// faultMark begins the lines that say what was wrong with the plan before.
const faultMark = "//! "

func withFaults(text string, faults []string) string {
	var b strings.Builder
	for _, f := range faults {
		b.WriteString(faultMark + flat(f, 0) + "\n")
	}
	return b.String() + text
}

func withoutFaults(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		if !strings.HasPrefix(l, faultMark) {
			b.WriteString(l)
		}
	}
	return b.String()
}

// stripComments blanks what stands behind // outside of strings, and commas
// before a closing bracket. What is left stands where it stood.
func stripComments(text string) string {
	out := []byte(text)
	inString, comma := false, -1
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString, comma = !inString, -1
		case inString:
		case c == '/' && i+1 < len(out) && out[i+1] == '/':
			for ; i < len(out) && out[i] != '\n'; i++ {
				out[i] = ' '
			}
		case c == ',':
			comma = i
		case (c == ']' || c == '}') && comma >= 0:
			out[comma], comma = ' ', -1
		case c != ' ' && c != '\t' && c != '\n' && c != '\r':
			comma = -1
		}
	}
	return string(out)
}

// readCommented reads one JSON document with comments; a fault names its line.
func readCommented(text string, into any) error {
	plain := stripComments(text)
	dec := json.NewDecoder(strings.NewReader(plain))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil && dec.More() {
		err = errors.New("there is something behind the plan")
	}
	if err == nil {
		return nil
	}
	at := dec.InputOffset()
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = e.Offset
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at = e.Offset
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		at, err = int64(len(plain)), errors.New("it ends too early: a bracket or a quote is missing")
	}
	line := strings.Count(plain[:min(int(at), len(plain))], "\n") + 1
	return &usageError{words: fmt.Sprintf("line %d: %s", line, strings.TrimPrefix(err.Error(), "json: ")), hint: "relo approve ID --edit shows the form"}
}

// planFile reads a plan from a file, or from stdin as "-".
func (s *shell) planFile(name string) (*protocol.PlanDoc, error) {
	in := s.in
	if name != "-" {
		f, err := os.Open(name) //nolint:gosec // the person names the file
		if err != nil {
			return nil, &usageError{words: fmt.Sprintf("--file %s cannot be read: %v", name, cause(err))}
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxText+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the plan: %w", err)
	case len(text) > maxText:
		return nil, &usageError{words: "the plan is longer than 1 MiB"}
	}
	return readPlan(string(text))
}

// editText opens a text in the person's editor and gives what was saved.
func (s *shell) editText(ctx context.Context, text string) (edited string, err error) {
	dir, err := os.MkdirTemp("", "relo-plan-")
	if err != nil {
		return "", fmt.Errorf("make a file to edit: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "plan.jsonc")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("make a file to edit: %w", err)
	}
	if err := s.edit(ctx, cmp.Or(s.getenv("VISUAL"), s.getenv("EDITOR")), file); err != nil {
		return "", err
	}
	saved, err := os.ReadFile(file) //nolint:gosec // the file that was made above
	if err != nil {
		return "", fmt.Errorf("read what was edited: %w", err)
	}
	return string(saved), nil
}

// runEditor runs an editor in the person's terminal; its command may have flags.
func runEditor(ctx context.Context, command, file string) error {
	words := strings.Fields(command)
	if len(words) == 0 {
		vi, err := exec.LookPath("vi")
		if err != nil {
			return &usageError{words: "no editor is set", hint: "set VISUAL or EDITOR, for example EDITOR=nano; or pass the plan with --file"}
		}
		words = []string{vi}
	}
	c := exec.CommandContext(ctx, words[0], append(words[1:], file)...) //nolint:gosec // the person's own editor
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("the editor %s failed: %w", words[0], err)
	}
	return nil
}
