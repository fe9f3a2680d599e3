package catalog

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/relo-dev/relo/core/internal/vision"
)

// The file is text with tabs, compressed. Its first line is the form and the origin, a
// line with > begins a route with its addresses, any other is a model:
//
//	id  flags  context  most-output  input  output  cached  name
//
// Flags: i takes pictures, t takes none, + calls tools, - calls none, x is no chat
// model, p makes pictures. An empty column is not known; empty columns at the end are left out.
const (
	formWord   = "relo-catalogue-1"
	routeMark  = ">"
	columns    = 8
	headFields = 5
)

// ErrTable is in the error of a table that cannot be read.
var ErrTable = errors.New("not a table of models")

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrTable}, args...)...)
}

// Write writes the table as ReadTable reads it. The same table gives the same bytes.
func (t *Table) Write(w io.Writer) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression) // its header has neither name nor time
	if err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	if err := errors.Join(t.writeText(z), z.Close()); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}

func (t *Table) writeText(w io.Writer) error {
	out := bufio.NewWriter(w)
	line := func(fields ...string) {
		_, _ = out.WriteString(strings.TrimRight(strings.Join(fields, "\t"), "\t") + "\n") // Flush tells
	}
	line(formWord, t.Package, t.Version, t.Licence, t.Date)
	for _, r := range t.routes {
		line(append([]string{routeMark + r.name}, r.urls...)...)
		for _, m := range t.rows[r.first:r.behind] {
			line(m.id, m.flags(), tokens(m.context), tokens(m.most), dollars(m.price.Input), dollars(m.price.Output), dollars(m.price.Cached), m.name)
		}
	}
	return out.Flush()
}

func (r *row) flags() string {
	var b []byte
	switch r.sight {
	case vision.Sees:
		b = append(b, 'i')
	case vision.Blind:
		b = append(b, 't')
	case vision.Unknown:
	}
	if r.tools != nil && *r.tools {
		b = append(b, '+')
	}
	if r.tools != nil && !*r.tools {
		b = append(b, '-')
	}
	if r.notChat {
		b = append(b, 'x')
	}
	if r.draws {
		b = append(b, 'p')
	}
	return string(b)
}

func tokens(n int32) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(int(n))
}

func dollars(p *float64) string {
	if p == nil {
		return ""
	}
	return strconv.FormatFloat(*p, 'f', -1, 64)
}

// ReadTable reads what Write wrote. It takes no more memory than the bounds of a table
// allow, whatever it is given; its errors wrap ErrTable, or are those of r.
func ReadTable(r io.Reader) (*Table, error) {
	z, err := gzip.NewReader(io.LimitReader(r, maxFile))
	if err != nil {
		return nil, broken("%v", err)
	}
	var text strings.Builder
	n, err := io.Copy(&text, io.LimitReader(z, maxText+1))
	if err != nil {
		return nil, broken("%v", err)
	}
	if n > maxText {
		return nil, broken("it has more than %d MiB", maxText>>20)
	}
	return parseTable(text.String())
}

func parseTable(text string) (*Table, error) {
	head, rest, _ := strings.Cut(text, "\n")
	f := strings.Split(head, "\t")
	for len(f) < headFields {
		f = append(f, "")
	}
	if f[0] != formWord || len(f) > headFields {
		return nil, broken("it begins with %.40q", head)
	}
	t := &Table{Origin: Origin{Package: f[1], Version: f[2], Licence: f[3], Date: f[4]}, yes: true}
	lines := strings.Count(rest, "\n")
	t.rows = make([]row, 0, min(lines+1, maxRows))
	prices := make([]float64, 0, 3*cap(t.rows)) // never grown, so that pointers into it stay
	for number := 2; rest != ""; number++ {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if err := t.parseLine(line, &prices); err != nil {
			return nil, broken("line %d: %v", number, err)
		}
	}
	t.prepare()
	return t, nil
}

func (t *Table) parseLine(line string, prices *[]float64) error {
	if name, ok := strings.CutPrefix(line, routeMark); ok {
		f := strings.Split(name, "\t")
		return t.newRoute(f[0], f[1:])
	}
	var f [columns]string
	n := 0
	for field := range strings.SplitSeq(line, "\t") {
		if n == columns {
			return errors.New("too many columns")
		}
		f[n] = field
		n++
	}
	r := row{id: f[0], name: f[7]}
	if err := t.mayAdd(r.id); err != nil {
		return err
	}
	if err := errors.Join(t.readFlags(&r, f[1]), readTokens(&r.context, f[2]), readTokens(&r.most, f[3])); err != nil {
		return err
	}
	if err := errors.Join(readPrice(&r.price.Input, f[4], prices), readPrice(&r.price.Output, f[5], prices), readPrice(&r.price.Cached, f[6], prices)); err != nil {
		return err
	}
	t.addRow(r)
	return nil
}

// newRoute begins a route when it may be there.
func (t *Table) newRoute(name string, urls []string) error {
	switch {
	case name == "" || len(name) > maxID || !plain(name):
		return fmt.Errorf("a route is called %.40q", name)
	case len(t.routes) == maxRoutes:
		return fmt.Errorf("more than %d routes", maxRoutes)
	case len(t.routes) > 0 && name <= t.routes[len(t.routes)-1].name:
		return fmt.Errorf("route %s stands behind %s", name, t.routes[len(t.routes)-1].name)
	}
	for _, url := range urls {
		if url == "" || len(url) > maxURL || !plain(url) {
			return fmt.Errorf("route %s is at %.40q", name, url)
		}
	}
	t.addRoute(name, urls)
	return nil
}

// mayAdd reports whether a model with this id may come next: ids of a route are sorted.
func (t *Table) mayAdd(id string) error {
	switch {
	case len(t.routes) == 0:
		return errors.New("a model without a route")
	case len(t.rows) == maxRows:
		return fmt.Errorf("more than %d models", maxRows)
	case !goodID(id):
		return fmt.Errorf("a model is called %.40q", id)
	}
	if last := t.routes[len(t.routes)-1]; last.behind > last.first && id <= t.rows[last.behind-1].id {
		return fmt.Errorf("model %s stands behind %s", id, t.rows[last.behind-1].id)
	}
	return nil
}

func goodID(id string) bool {
	return id != "" && len(id) <= maxID && !strings.HasPrefix(id, routeMark) && plain(id)
}

// plain reports whether a text is of visible letters alone and can be a column.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

func (t *Table) readFlags(r *row, flags string) error {
	for _, c := range flags {
		switch c {
		case 'i':
			r.sight = vision.Sees
		case 't':
			r.sight = vision.Blind
		case '+':
			r.tools = &t.yes
		case '-':
			r.tools = &t.not
		case 'x':
			r.notChat = true
		case 'p':
			r.draws = true
		default:
			return fmt.Errorf("flag %q is not known", c)
		}
	}
	return nil
}

func readTokens(to *int32, s string) error {
	if s == "" {
		return nil
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n <= 0 || n > maxTokens {
		return fmt.Errorf("%.20q is no number of tokens", s)
	}
	*to = int32(n)
	return nil
}

func readPrice(to **float64, s string, prices *[]float64) error {
	if s == "" {
		return nil
	}
	p, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(p) || p < 0 || p > maxPrice {
		return fmt.Errorf("%.20q is no price", s)
	}
	*prices = append(*prices, p)
	*to = &(*prices)[len(*prices)-1]
	return nil
}
