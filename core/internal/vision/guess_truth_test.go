package vision

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

// truth is one line of testdata/truth.tsv.
type truth struct {
	id      string
	yes, no int
	textOut string
}

func readTruth(t *testing.T) []truth {
	t.Helper()
	f, err := os.Open("testdata/truth.tsv")
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
		all = append(all, truth{col[0], yes, no, col[5]})
	}
	if len(all) < 4000 {
		t.Fatalf("only %d ids read: the table is cut", len(all))
	}
	return all
}

// tally counts catalogue rows by what the guess says of their id.
type tally struct {
	rows, yesRight, yesWrong, noRight, noWrong int
	wrong, open                                []string
}

func (c *tally) add(m truth, s Sight) {
	weight, sees := m.yes+m.no, m.yes > m.no
	c.rows += weight
	switch {
	case s == Sees && sees:
		c.yesRight += weight
	case s == Blind && !sees:
		c.noRight += weight
	case s == Sees:
		c.yesWrong += weight
		c.wrong = append(c.wrong, m.id+" is blind")
	case s == Blind:
		c.noWrong += weight
		c.wrong = append(c.wrong, m.id+" sees")
	default:
		c.open = append(c.open, m.id)
	}
}

func (c *tally) precisionYes() float64 { return float64(c.yesRight) / float64(c.yesRight+c.yesWrong) }
func (c *tally) precisionNo() float64  { return float64(c.noRight) / float64(c.noRight+c.noWrong) }
func (c *tally) coverage() float64 {
	return float64(c.yesRight+c.yesWrong+c.noRight+c.noWrong) / float64(c.rows)
}

func (c *tally) report(t *testing.T, title string) {
	t.Logf("%s: %d rows, precision of yes %.2f %%, of no %.2f %%, coverage %.2f %%", title, c.rows,
		100*c.precisionYes(), 100*c.precisionNo(), 100*c.coverage())
	t.Logf("%d ids wrong: %.300s", len(c.wrong), strings.Join(c.wrong, ", "))
	t.Logf("%d ids unknown: %.300s", len(c.open), strings.Join(c.open, ", "))
}

func (c *tally) floor(t *testing.T, yes, no, coverage float64) {
	t.Helper()
	if c.precisionYes() < yes || c.precisionNo() < no || c.coverage() < coverage {
		t.Errorf("below the floor: yes %.4f < %.4f, no %.4f < %.4f or coverage %.4f < %.4f",
			c.precisionYes(), yes, c.precisionNo(), no, c.coverage(), coverage)
	}
}

func TestGuessAgreesWithThePublicCatalogues(t *testing.T) {
	var firm, rare tally
	for _, m := range readTruth(t) {
		a, chat := Guess(m.id)
		if !chat || m.textOut == "0" {
			continue
		}
		most := max(m.yes, m.no)
		switch {
		case m.yes+m.no >= 3 && 5*most >= 4*(m.yes+m.no):
			firm.add(m, a.Sight)
		case m.yes == 0 || m.no == 0:
			rare.add(m, a.Sight)
		}
	}
	firm.report(t, "at least three catalogue rows, four fifths agree")
	firm.floor(t, 0.9965, 1, 0.97)
	rare.report(t, "one or two rows, all agree (noisy: a single route may strip pictures)")
	rare.floor(t, 0.87, 0.98, 0.80)
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
