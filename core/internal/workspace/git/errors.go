package git

import (
	"errors"
	"fmt"
	"strings"
)

// Kind says what Relo does next about an error; the zero value is git's own
// failure, told to the person as it is.
type Kind string

// The kinds.
const (
	KindNoRepository Kind = "no-repository" // not inside a git repository
	KindNoCommits    Kind = "no-commits"    // HEAD names a commit that is not there
	KindNoWorktree   Kind = "no-worktree"   // a bare repository, or one whose files are elsewhere
	KindNoGit        Kind = "no-git"        // the program is missing
	KindOldGit       Kind = "old-git"       // older than 2.38
	KindOwner        Kind = "owner"         // git does not trust the folder's owner
	KindNotFound     Kind = "not-found"     // no such revision, path or ref
	KindExists       Kind = "exists"        // something is already at that place
	KindRace         Kind = "race"          // a ref moved meanwhile
	KindLocked       Kind = "locked"        // another git holds a lock for too long
	KindEdited       Kind = "edited"        // a file was edited meanwhile; nothing of it was lost
	KindTooBig       Kind = "too-big"       // over a limit of this package
	KindBadName      Kind = "bad-name"      // an id, ref or path that is not allowed
	KindInProgress   Kind = "in-progress"   // a merge, rebase or the like that the person has to end first
	KindUnfit        Kind = "unfit-folder"  // a folder without git that is too much to work on
	KindInUse        Kind = "in-use"        // the person has the branch checked out, or work of theirs on it
)

// Error is a refusal with git's own words (bounded) and our reading of them.
type Error struct {
	Kind  Kind
	Doing string // what was tried
	Words string // git's own words; may be empty
	Hint  string // what the person can do; may be empty
	Paths []string
	Err   error
}

// Error gives one line, or git's own lines when it said several.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("git: ")
	b.WriteString(e.Doing)
	for _, part := range []string{e.Words, e.Hint} {
		if part != "" {
			b.WriteString(": ")
			b.WriteString(part)
		}
	}
	if e.Words == "" && e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap gives the error below, if any.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether err is an *Error of that kind.
func Is(err error, k Kind) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == k
}

func badName(what, name string) error {
	return &Error{Kind: KindBadName, Doing: fmt.Sprintf("use %q as %s", bound(name, 200), what), Words: "not allowed"}
}

// bound cuts words to n bytes and takes control characters out, since git repeats
// names of files and those may hold terminal escapes.
func bound(words string, n int) string {
	words = strings.TrimSpace(strings.ToValidUTF8(words, "?"))
	words = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0)) {
			return '?'
		}
		return r
	}, words)
	if len(words) <= n {
		return words
	}
	return strings.ToValidUTF8(words[:n], "") + "…"
}

// listed names the first few of many paths.
func listed(paths []string) string {
	shown := paths
	if len(shown) > maxListed {
		shown = shown[:maxListed]
	}
	quoted := make([]string, len(shown))
	for i, p := range shown {
		quoted[i] = fmt.Sprintf("%q", p)
	}
	words := strings.Join(quoted, ", ")
	if more := len(paths) - len(shown); more > 0 {
		words += fmt.Sprintf(" and %d more", more)
	}
	return words
}

// reading turns git's words into a kind; 0 when they say nothing special.
func reading(words string) Kind {
	for _, row := range readings {
		for _, w := range row.words {
			if strings.Contains(words, w) {
				return row.kind
			}
		}
	}
	return ""
}

// readings are git's words (it runs with LC_ALL=C), the more special ones first.
var readings = []struct {
	kind  Kind
	words []string
}{
	{KindOwner, []string{"detected dubious ownership"}},
	{KindNoWorktree, []string{"cannot use bare repository"}},
	{KindNoRepository, []string{"not a git repository"}},
	{KindRace, []string{"but expected", "reference already exists", "unable to resolve reference"}},
	{KindLocked, []string{".lock': File exists", "Another git process seems to be running", "/commondir: "}},
	{KindNotFound, []string{
		"bad revision", "Needed a single revision", "Not a valid object name", "unknown revision",
		"does not exist in", "not a valid object", "invalid object name", "not a tree object", "bad object",
	}},
	{KindExists, []string{"already exists"}},
}
