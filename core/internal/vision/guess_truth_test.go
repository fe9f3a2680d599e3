package vision

import (
	"bufio"
	"crypto/sha256"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/reference/sight-guess.md anew")

// page is the report that the repository keeps.
const page = "../../../docs/reference/sight-guess.md"

// truth is one line of a table in testdata.
type truth struct {
	id      string
	yes, no int
	release string // date, empty when nobody says
	textOut string
}

// readTruth reads the ids that the rows were written with, and those held out.
func readTruth(t testing.TB) []truth {
	t.Helper()
	return readTable(t, "truth.tsv", 4000)
}

func readTable(t testing.TB, name string, least int) []truth {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var all []truth
	for sc := bufio.NewScanner(f); sc.Scan(); {
		col := strings.Split(sc.Text(), "\t")
		if len(col) < 6 || col[0] == "model_id" {
			continue
		}
		yes, errYes := strconv.Atoi(col[1])
		no, errNo := strconv.Atoi(col[2])
		if errYes != nil || errNo != nil {
			t.Fatalf("line %q: rows are not numbers", sc.Text())
		}
		all = append(all, truth{col[0], yes, no, col[4], col[5]})
	}
	if len(all) < least {
		t.Fatalf("only %d ids read: the table is cut", len(all))
	}
	return all
}

// heldOut says whether an id belongs to the third that was put aside before the rows
// were written, and that nobody looked at until they were done. Ids that differ only
// in their route fall on the same side.
func heldOut(id string) bool {
	id = strings.TrimRight(id, "/")
	last := strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	last, _, _ = strings.Cut(last, ":")
	last, _, _ = strings.Cut(last, "@")
	return sha256.Sum256([]byte(last))[0]%3 == 0
}

// firm says whether an id counts in the metric: at least three catalogue rows of which
// four fifths agree.
func (m truth) firm() bool { return m.yes+m.no >= 3 && 5*max(m.yes, m.no) >= 4*(m.yes+m.no) }

// rare says whether it has one or two rows which agree: a single route may strip
// pictures, so these are noisy.
func (m truth) rare() bool { return !m.firm() && m.yes+m.no > 0 && (m.yes == 0 || m.no == 0) }

func (m truth) sees() bool { return m.yes > m.no }

// quarter is when the model came out.
func (m truth) quarter() string {
	year, rest, ok := strings.Cut(m.release, "-")
	month, err := strconv.Atoi(rest[:min(2, len(rest))])
	if !ok || err != nil || year < "2000" { // the catalogues' zero date
		return "not said"
	}
	return fmt.Sprintf("%s Q%d", year, (month+2)/3)
}

// tally counts catalogue rows by what the guess says of their id.
type tally struct {
	ids, rows, yesRight, yesWrong, noRight, noWrong int
	wrong                                           []string
}

func (c *tally) add(m truth) {
	a, chat := Guess(m.id)
	if !chat || m.textOut == "0" {
		return
	}
	weight := m.yes + m.no
	c.ids++
	c.rows += weight
	switch {
	case a.Sight == Sees && m.sees():
		c.yesRight += weight
	case a.Sight == Blind && !m.sees():
		c.noRight += weight
	case a.Sight == Sees:
		c.yesWrong += weight
		c.wrong = append(c.wrong, m.id)
	case a.Sight == Blind:
		c.noWrong += weight
		c.wrong = append(c.wrong, m.id)
	}
}

// share is a part in percent; without anything to count it is NaN, and shown as a dash.
func share(part, of int) float64 { return 100 * float64(part) / float64(of) }

func (c *tally) yes() float64      { return share(c.yesRight, c.yesRight+c.yesWrong) }
func (c *tally) no() float64       { return share(c.noRight, c.noRight+c.noWrong) }
func (c *tally) coverage() float64 { return share(c.yesRight+c.yesWrong+c.noRight+c.noWrong, c.rows) }

func (c *tally) row(title string) string {
	cell := func(v float64) string {
		if math.IsNaN(v) {
			return "–"
		}
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("| %s | %d | %d | %s | %s | %s |\n", title, c.ids, c.rows, cell(c.yes()), cell(c.no()), cell(c.coverage()))
}

func (c *tally) floor(t *testing.T, title string, yes, no, coverage float64) {
	t.Helper()
	if c.yes() < yes || c.no() < no || c.coverage() < coverage {
		t.Errorf("%s: yes %.2f < %.2f, no %.2f < %.2f or coverage %.2f < %.2f %%", title, c.yes(), yes, c.no(), no, c.coverage(), coverage)
	}
}

// score is every figure of the guess.
type score struct {
	firm, rare map[string]*tally // by part
	quarters   map[string]*tally // firm ids of the whole table
}

// The parts of the ids.
const (
	partTuned  = "the rows were written with these"
	partHeld   = "held out, a third"
	partUnseen = "in another catalogue, never looked at"
)

func measure(t *testing.T) score {
	t.Helper()
	s := score{map[string]*tally{}, map[string]*tally{}, map[string]*tally{}}
	for _, part := range []string{partTuned, partHeld, partUnseen} {
		s.firm[part], s.rare[part] = &tally{}, &tally{}
	}
	put := func(m truth, part string) {
		switch {
		case m.firm():
			s.firm[part].add(m)
		case m.rare():
			s.rare[part].add(m)
		}
	}
	for _, m := range readTruth(t) {
		part := partTuned
		if heldOut(m.id) {
			part = partHeld
		}
		put(m, part)
		if m.firm() {
			if s.quarters[m.quarter()] == nil {
				s.quarters[m.quarter()] = &tally{}
			}
			s.quarters[m.quarter()].add(m)
		}
	}
	for _, m := range readTable(t, "unseen.tsv", 1000) {
		put(m, partUnseen)
	}
	return s
}

func TestGuessAgreesWithThePublicCatalogues(t *testing.T) {
	s := measure(t)
	for part, c := range s.firm {
		c.floor(t, part, 99.5, 99.5, 95)
	}
	tuned := s.firm[partTuned]
	var unseen tally
	for _, c := range []*tally{s.firm[partHeld], s.firm[partUnseen]} {
		unseen.rows += c.rows
		unseen.yesRight, unseen.yesWrong = unseen.yesRight+c.yesRight, unseen.yesWrong+c.yesWrong
		unseen.noRight, unseen.noWrong = unseen.noRight+c.noRight, unseen.noWrong+c.noWrong
	}
	const apart = 0.5 // points
	unseen.floor(t, "all ids that no row was written with", tuned.yes()-apart, tuned.no()-apart, tuned.coverage()-apart)
	s.rare[partTuned].floor(t, "one or two rows, noisy", 87, 98, 85)
	s.rare[partHeld].floor(t, "one or two rows held out, noisy", 87, 97.5, 83)
}

func TestTheReportOfTheGuessIsCurrent(t *testing.T) {
	text := report(measure(t), readTruth(t))
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(page)
	if err != nil || string(old) != text {
		t.Errorf("%s is not current (%v): go test ./core/internal/vision -run Report -update", page, err)
	}
}

const tableHead = "| %s | ids | rows | yes right, %% | no right, %% | covered, %% |\n|---|---|---|---|---|---|\n"

func report(s score, all []truth) string {
	var b strings.Builder
	b.WriteString(`# How good the guess from a name is

Written by a test of the package vision from testdata/truth.tsv and testdata/unseen.tsv: what public catalogues say of a
model, against what ` + "`relo models guess`" + ` says from its id alone. Only chat models count. Rows are catalogue entries, one for each
provider that lists the id; "covered" is the share of them for which the guess says yes or no.

## Ids with at least three rows of which four fifths agree

`)
	fmt.Fprintf(&b, tableHead, "")
	for _, part := range []string{partTuned, partHeld, partUnseen} {
		b.WriteString(s.firm[part].row(part))
	}
	b.WriteString("\nThe third was held out by a digest of the id's last part before any row was written, and was not looked at until the rows were done. " +
		"The other catalogue is an npm package that names many ids which the table does not.\n\n## By quarter of release\n\nThe same ids of the table, written with or held out.\n\n")
	fmt.Fprintf(&b, tableHead, "released")
	for _, q := range slices.Sorted(maps.Keys(s.quarters)) {
		if s.quarters[q].ids > 0 {
			b.WriteString(s.quarters[q].row(q))
		}
	}
	wrong := 0
	for _, c := range s.firm {
		wrong += len(c.wrong)
	}
	fmt.Fprintf(&b, "\nWrong among them: %d.\n\n## Ids with one or two rows which agree\n\nNoisy: one route that strips pictures makes a row of its own.\n\n", wrong)
	fmt.Fprintf(&b, tableHead, "")
	for _, part := range []string{partTuned, partHeld, partUnseen} {
		b.WriteString(s.rare[part].row(part))
	}
	b.WriteString("\n## The wrong ones, each with a reason\n\n| id | guess | its rows say | because |\n|---|---|---|---|\n")
	for _, m := range all {
		if line := wrongLine(m, all); line != "" {
			b.WriteString(line)
		}
	}
	return b.String()
}

// wrongLine is an id's line when the guess is wrong on it.
func wrongLine(m truth, all []truth) string {
	a, chat := Guess(m.id)
	if !chat || m.textOut == "0" || a.Sight == Unknown || !m.firm() && !m.rare() || (a.Sight == Sees) == m.sees() {
		return ""
	}
	says := map[bool]string{true: "yes", false: "no"}
	return fmt.Sprintf("| `%s` | %s (%s) | %s, %d | %s |\n", m.id, a.Sight, a.Detail, says[m.sees()], m.yes+m.no, whyWrong(m, a, all))
}

// whyWrong gives the reason for a wrong guess, from the table itself where it has one.
func whyWrong(m truth, a Answer, all []truth) string {
	norm := Normalize(m.id)
	best := truth{}
	for _, o := range all {
		if o.id != m.id && Normalize(o.id) == norm && o.yes+o.no > best.yes+best.no && (o.sees() == (a.Sight == Sees)) {
			best = o
		}
	}
	switch {
	case best.id != "":
		return fmt.Sprintf("the same model under `%s` has %d rows that say yes and %d that say no: this route differs", best.id, best.yes, best.no)
	case sightWordsInID[a.Detail]:
		return "the name itself says that it sees: this route serves it without pictures, or its row is wrong"
	case a.Sight == Sees:
		return fmt.Sprintf("the %s family sees from this version on; this spelling is listed by %d route only, without pictures", a.Detail, m.no)
	default:
		return fmt.Sprintf("the %s family is text only up to this version; this spelling is listed by %d route only", a.Detail, m.yes)
	}
}

func TestModelsWithoutWordsAreToldFromChatModels(t *testing.T) {
	var missed []string
	var all int
	for _, m := range readTruth(t) {
		if m.textOut != "0" {
			continue
		}
		all++
		if _, chat := Guess(m.id); chat {
			missed = append(missed, m.id)
		}
	}
	t.Logf("%d of %d ids that put out no text are taken for chat models: %s", len(missed), all, strings.Join(missed, ", "))
	if 20*len(missed) > all {
		t.Errorf("more than one in twenty missed: %d of %d", len(missed), all)
	}
}
