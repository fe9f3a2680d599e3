package git

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// MapLimits bound a map; zero fields take the defaults in brackets.
type MapLimits struct {
	Lines    int // of the tree [160]
	Readme   int // bytes of README [3000]
	Project  int // bytes of AGENTS.md and CLAUDE.md together [8000]
	Subjects int // last commits [12]
}

func (l MapLimits) withDefaults() MapLimits {
	l.Lines = cmp.Or(max(l.Lines, 0), 160)
	l.Readme = cmp.Or(max(l.Readme, 0), 3000)
	l.Project = cmp.Or(max(l.Project, 0), 8000)
	l.Subjects = cmp.Or(max(l.Subjects, 0), 12)
	return l
}

// Map describes a commit to a planner that reads no files: the tree with counts,
// the languages, the beginning of README, the project's own word, the last
// commits' subjects. It is bounded whatever the repository's size.
func (r *Repo) Map(ctx context.Context, commit string, limits MapLimits) (string, error) {
	limits = limits.withDefaults()
	list, err := r.treeEntries(ctx, commit)
	if err != nil {
		return "", fmt.Errorf("map: %w", err)
	}
	var b strings.Builder
	top := plant(list)
	fmt.Fprintf(&b, "Files: %d\n", top.files)
	if words := languages(list); words != "" {
		fmt.Fprintf(&b, "Languages (files): %s\n", words)
	}
	b.WriteString("\nTree:\n")
	b.WriteString(top.draw(limits.Lines))
	for _, e := range list {
		if !strings.Contains(e.path, "/") && strings.HasPrefix(strings.ToLower(e.path), "readme") && strings.HasPrefix(e.mode, "100") {
			text, err := r.Blob(ctx, commit, e.path)
			if err != nil && !Is(err, KindTooBig) {
				return "", err
			}
			fmt.Fprintf(&b, "\n%s (beginning):\n%s\n", e.path, bound(string(text), limits.Readme))
			break
		}
	}
	word, err := r.project(ctx, commit, limits.Project)
	if err != nil {
		return "", err
	}
	if word != "" {
		b.WriteString("\n" + word + "\n")
	}
	subjects, err := r.text(ctx, call{at: r.home, plain: true, args: []string{
		"log", fmt.Sprintf("--max-count=%d", limits.Subjects), "--format=%s", "--end-of-options", commit,
	}})
	if err != nil {
		return "", fmt.Errorf("map: %w", err)
	}
	title := "\nLast commits:\n"
	for line := range strings.SplitSeq(subjects, "\n") {
		if line == rootSubject || line == workSubject {
			continue
		}
		fmt.Fprintf(&b, "%s- %s\n", title, bound(line, 120))
		title = ""
	}
	return b.String(), nil
}

// Project gives AGENTS.md and CLAUDE.md of a commit, bounded; empty when there is none.
func (r *Repo) Project(ctx context.Context, commit string) (string, error) {
	return r.project(ctx, commit, MapLimits{}.withDefaults().Project)
}

func (r *Repo) project(ctx context.Context, commit string, limit int) (string, error) {
	list, err := r.treeEntries(ctx, commit, "AGENTS.md", "CLAUDE.md")
	if err != nil {
		return "", err
	}
	var parts []string
	seen := map[string]bool{}
	for _, e := range list {
		if !strings.HasPrefix(e.mode, "100") || seen[e.id] { // a link names the other one
			continue
		}
		seen[e.id] = true
		text, err := r.blob(ctx, e.id, e.path)
		if err != nil && !Is(err, KindTooBig) {
			return "", err
		}
		words := bound(string(text), max(limit, 0))
		limit -= len(words)
		if words != "" && words != "…" {
			parts = append(parts, e.path+":\n"+words)
		}
	}
	return strings.Join(parts, "\n\n"), nil
}

// node is a folder of the tree.
type node struct {
	name    string
	files   int // below it, all depths
	folders map[string]*node
	own     []string
}

func plant(list []entry) *node {
	top := &node{folders: map[string]*node{}}
	for _, e := range list {
		at := top
		at.files++
		parts := strings.Split(e.path, "/")
		for _, p := range parts[:len(parts)-1] {
			next := at.folders[p]
			if next == nil {
				next = &node{name: p, folders: map[string]*node{}}
				at.folders[p] = next
			}
			at = next
			at.files++
		}
		at.own = append(at.own, parts[len(parts)-1])
	}
	return top
}

// draw opens folders breadth first while their lines fit, so that a deep folder
// never hides the shape of the whole.
func (n *node) draw(lines int) string {
	open := map[*node]bool{n: true}
	left := lines - len(n.folders) - min(len(n.own), lines/2)
	queue := n.children()
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if need := len(at.folders) + len(at.own); need <= left {
			open[at] = true
			left -= need
			queue = append(queue, at.children()...)
		}
	}
	var b strings.Builder
	n.write(&b, open, "", &lines)
	return b.String()
}

func (n *node) children() []*node {
	list := slices.Collect(maps.Values(n.folders))
	slices.SortFunc(list, func(a, b *node) int { return strings.Compare(a.name, b.name) })
	return list
}

func (n *node) write(b *strings.Builder, open map[*node]bool, indent string, left *int) {
	for _, f := range n.children() {
		if *left--; *left < 0 {
			fmt.Fprintf(b, "%s…\n", indent)
			return
		}
		if !open[f] {
			fmt.Fprintf(b, "%s%s/ (%d files, folded)\n", indent, bound(f.name, 100), f.files)
			continue
		}
		fmt.Fprintf(b, "%s%s/ (%d files)\n", indent, bound(f.name, 100), f.files)
		f.write(b, open, indent+"  ", left)
	}
	for i, name := range n.own {
		if *left--; *left < 0 {
			fmt.Fprintf(b, "%s… and %d more files\n", indent, len(n.own)-i)
			return
		}
		fmt.Fprintf(b, "%s%s\n", indent, strings.ReplaceAll(bound(name, 100), "\n", "?"))
	}
}

// languageNames are the endings that are worth a word to a planner.
var languageNames = map[string]string{
	".go": "Go", ".ts": "TypeScript", ".tsx": "TypeScript", ".js": "JavaScript", ".jsx": "JavaScript", ".mjs": "JavaScript",
	".py": "Python", ".rs": "Rust", ".java": "Java", ".kt": "Kotlin", ".swift": "Swift", ".c": "C", ".h": "C", ".cc": "C++",
	".cpp": "C++", ".hpp": "C++", ".cs": "C#", ".rb": "Ruby", ".php": "PHP", ".scala": "Scala", ".dart": "Dart", ".lua": "Lua",
	".ex": "Elixir", ".exs": "Elixir", ".hs": "Haskell", ".zig": "Zig", ".sh": "Shell", ".sql": "SQL", ".html": "HTML",
	".css": "CSS", ".scss": "CSS", ".vue": "Vue", ".svelte": "Svelte", ".md": "Markdown", ".tf": "Terraform", ".proto": "Protobuf",
}

func languages(list []entry) string {
	count := map[string]int{}
	for _, e := range list {
		if name := languageNames[strings.ToLower(path.Ext(e.path))]; name != "" {
			count[name]++
		}
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b))
	})
	words := make([]string, 0, len(names))
	for _, n := range names[:min(len(names), 12)] {
		words = append(words, fmt.Sprintf("%s %d", n, count[n]))
	}
	return strings.Join(words, ", ")
}
