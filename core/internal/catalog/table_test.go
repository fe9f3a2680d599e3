package catalog

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/vision"
)

// textOf is what a table's file holds. Files are compared by it: another version of Go
// may compress the same text to other bytes.
func textOf(t testing.TB, table *Table) string {
	t.Helper()
	var b strings.Builder
	if err := table.writeText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTheBuiltInTableIsWhole(t *testing.T) {
	t.Parallel()
	b := BuiltIn()
	routes, models := b.Counts()
	if routes < 70 || models < 5000 {
		t.Errorf("%d routes, %d models", routes, models)
	}
	if b.Package != "@oh-my-pi/pi-catalog" || b.Licence != "MIT" || b.Version == "" || len(b.Date) != len("2026-01-01") {
		t.Errorf("it is from %+v", b.Origin)
	}
	if len(modelsTSV) > 100<<10 {
		t.Errorf("%d bytes in the program, 100 KiB are the aim", len(modelsTSV))
	}
	notice, err := os.ReadFile("NOTICE")
	if err != nil || !strings.Contains(string(notice), "Copyright") || !strings.Contains(string(notice), b.Package+" "+b.Version+" ("+b.Date+")") {
		t.Errorf("NOTICE is not that of %s: %v", b.Version, err)
	}
	for name := range natures {
		if _, ok := b.byName[name]; !ok {
			t.Errorf("something is known of route %s, which is not in the table", name)
		}
	}
	for api, name := range presetRoutes {
		if _, ok := b.presets[api]; !ok {
			t.Errorf("%s is route %s, which is not in the table", api, name)
		}
	}
}

func TestATableIsWrittenAsItWasRead(t *testing.T) {
	t.Parallel()
	var first, second bytes.Buffer
	for _, to := range []*bytes.Buffer{&first, &second} {
		if err := BuiltIn().Write(to); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same table is written in two ways")
	}
	again, err := ReadTable(&first)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(textOf(t, BuiltIn()), textOf(t, again)); diff != "" {
		t.Error(diff)
	}
}

func TestEveryRowIsOfModelsAsTheyAre(t *testing.T) {
	t.Parallel()
	b := BuiltIn()
	for i := range b.rows {
		r := &b.rows[i]
		name := b.routes[r.route].name + "/" + r.id
		if r.context > 0 && r.most > r.context/2 {
			t.Errorf("%s: an answer of %d leaves no room in %d", name, r.most, r.context)
		}
		for _, p := range []*float64{r.price.Input, r.price.Output, r.price.Cached} {
			if p != nil && *p == 0 && !saysFree(r.id) {
				t.Errorf("%s has a price of 0 and does not say that it is free", name)
			}
		}
		if r.notChat && r.sight != vision.Unknown {
			t.Errorf("%s is no chat model and has sight %s", name, r.sight)
		}
	}
}

// leastCompared is how many models that see, by their vendor's word, a firm list has.
const leastCompared = 5

// TestFirmListsSayYesWhereTheVendorDoes is why their no is believed.
func TestFirmListsSayYesWhereTheVendorDoes(t *testing.T) {
	t.Parallel()
	b := BuiltIn()
	compared, wrong := map[string]int{}, map[string][]string{}
	for name, rows := range b.byKey {
		v := b.hear(rows)
		if v.vendor == nil || v.vendor.sight != vision.Sees {
			continue
		}
		said := map[int32]vision.Sight{}
		for _, i := range rows {
			if r := &b.rows[i]; r.sight == vision.Sees || said[r.route] != vision.Sees {
				said[r.route] = r.sight
			}
		}
		for route, sight := range said {
			at := b.routes[route]
			if compared[at.name]++; sight == vision.Blind && !at.nature.textOnly {
				wrong[at.name] = append(wrong[at.name], name)
			}
		}
	}
	for _, r := range b.routes {
		if r.nature.firm && len(wrong[r.name]) > 0 {
			t.Errorf("%s is called firm, and has no images for %v", r.name, wrong[r.name])
		}
		if r.nature.firm && r.nature.makes == nil && compared[r.name] < leastCompared {
			t.Errorf("%s is called firm by %d models that could be compared, want %d", r.name, compared[r.name], leastCompared)
		}
	}
	if len(wrong) < 5 || compared["openrouter"] < 50 {
		t.Errorf("the comparison finds nothing: %v, %v", wrong, compared)
	}
}

const models = `{
 "anthropic": {"claude-new": {"name": "Claude New", "baseUrl": "https://api.anthropic.com", "input": ["text", "image"], "contextWindow": 1000000, "maxTokens": 128000,
   "cost": {"input": 3, "output": 15, "cacheRead": 0.30000000000000004}}},
 "host": {
   "b/free-one:free": {"name": "x", "baseUrl": "https://{region}.api.example.org/v1/<account>/x", "input": ["text"], "contextWindow": 222222, "maxTokens": 8888, "cost": {"input": 0, "output": 0, "cacheRead": 0}},
   "a": {"name": "x", "baseUrl": "https://host.example/v1/", "input": ["text"], "contextWindow": 4000, "maxTokens": 4000, "supportsTools": false, "cost": {"input": 0, "output": 0, "cacheRead": 1}},
   "embed": {"name": "x", "kind": "embedding", "baseUrl": "", "input": ["text"], "contextWindow": null, "maxTokens": null, "cost": {"input": 0.02, "output": 0}},
   "auto": {"name": "x", "baseUrl": "", "input": ["text", "image"], "contextWindow": 2000, "maxTokens": 1000, "supportsTools": true, "cost": {"input": -1000000, "output": -1000000}},
   "has space": {}},
 "local": {"m": {"baseUrl": "local://inference"}}
}`

const slimmed = `relo-catalogue-1	some/package	1.2.3	MIT
>anthropic	api.anthropic.com
claude-new	i	1000000	128000	3	15	0.3
>host	*.api.example.org/v1	host.example/v1
a	t-	4000
auto	i+	2000	1000
b/free-one:free	t			0	0
embed	x			0.02
`

func TestSlimKeepsWhatIsAFact(t *testing.T) {
	t.Parallel()
	got, err := Slim(strings.NewReader(models), Origin{Package: "some/package", Version: "1.2.3", Licence: "MIT"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(slimmed, textOf(t, got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if k, ok := got.Find("anthropic", "", "claude-new"); !ok || k.Route != "anthropic" || k.MaxOutput != 128000 {
		t.Errorf("%+v, %v", k, ok)
	}
}

func TestWhatIsNoTableIsRefused(t *testing.T) {
	t.Parallel()
	head := "relo-catalogue-1\tp\t1\n>r\th\n"
	tests := []struct{ text, want string }{
		{"", "begins with"},
		{"relo-catalogue-2\tp\t1\n", "begins with"},
		{"relo-catalogue-1\tp\t1\tMIT\tday\tmore\n", "begins with"},
		{"relo-catalogue-1\tp\t1\nid\ti\n", "without a route"},
		{head + "id\tq\n", `flag 'q'`},
		{head + "id\ti\t-5\n", "no number of tokens"},
		{head + "id\ti\t0\n", "no number of tokens"},
		{head + "id\ti\t9999999999\n", "no number of tokens"},
		{head + "id\ti\t\t\tNaN\n", "no price"},
		{head + "id\ti\t\t\t-1\n", "no price"},
		{head + "id\ti\t\t\t1e300\n", "no price"},
		{head + "b\ti\na\ti\n", "stands behind"},
		{head + "a\ti\na\ti\n", "stands behind"},
		{head + "\n", "is called"},
		{head + "a b\ti\n", "is called"},
		{head + strings.Repeat("a", maxID+1) + "\ti\n", "is called"},
		{head + "a\t\t\t\t\t\t\tname\tmore\n", "too many columns"},
		{head + ">q\th\n", "stands behind"},
		{head + ">\n", "is called"},
		{head + ">s\t\n", "is at"},
	}
	for _, c := range tests {
		if _, err := parseTable(c.text); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), ErrTable.Error()) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := ReadTable(strings.NewReader("no gzip")); err == nil {
		t.Error("text is read as a file")
	}
	if _, err := ReadTable(bytes.NewReader(modelsTSV[:len(modelsTSV)/2])); err == nil {
		t.Error("half a file is read")
	}
}

func TestSlimRefusesWhatIsTooMuch(t *testing.T) {
	t.Parallel()
	from := Origin{Package: "p", Version: "1"}
	tests := []struct {
		name string
		in   io.Reader
		from Origin
	}{
		{"a list", strings.NewReader(`[]`), from},
		{"a list of routes", strings.NewReader(`{"a": []}`), from},
		{"nothing", strings.NewReader(``), from},
		{"cut", strings.NewReader(`{"a": {"b": {"input": ["te`), from},
		{"a word for a number", strings.NewReader(`{"a": {"b": {"contextWindow": "many"}}}`), from},
		{"a route twice", strings.NewReader(`{"a": {}, "a": {}}`), from},
		{"a huge model", strings.NewReader(`{"a": {"b": {"name": "` + strings.Repeat("x", maxEntry) + `"}}}`), from},
		{"too many routes", strings.NewReader("{" + numbered(maxRoutes+1) + "}"), from},
		{"too many models", strings.NewReader(`{"a": {` + numbered(maxRows+1) + "}}"), from},
		{"from nobody", strings.NewReader(`{}`), Origin{}},
		{"from two lines", strings.NewReader(`{}`), Origin{Package: "p", Version: "1\n>x"}},
	}
	for _, c := range tests {
		if _, err := Slim(c.in, c.from); err == nil {
			t.Errorf("%s is taken", c.name)
		}
	}
}

// numbered is so many keys of JSON with an empty object each.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(cmp.Or(map[bool]string{true: ","}[i > 0], " ") + `"k` + strings.Repeat("i", i%7) + string(rune('a'+i%26)) + tokens(int32(i+1)) + `": {}`)
	}
	return b.String()
}

func TestATableThatLostMuchReplacesNothing(t *testing.T) {
	t.Parallel()
	if err := BuiltIn().MayReplace(BuiltIn()); err != nil {
		t.Errorf("the same table: %v", err)
	}
	small, err := parseTable(slimmed)
	if err != nil {
		t.Fatal(err)
	}
	if err := small.MayReplace(BuiltIn()); err == nil || !strings.Contains(err.Error(), "less than half") {
		t.Errorf("a small table: %v", err)
	}
	if err := small.MayReplace(small); err == nil || !strings.Contains(err.Error(), "main vendors") {
		t.Errorf("a table of nobody: %v", err)
	}
}

func FuzzReadTable(f *testing.F) {
	f.Add(slimmed)
	f.Add("relo-catalogue-1\tp\t1\n>r\th\nid\ti+x\t1\t\t0.5\n")
	f.Add(">\n\n\t\t\t")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := parseTable(text)
		if err != nil {
			return
		}
		again, err := parseTable(textOf(t, table))
		if err != nil {
			t.Fatalf("%q is written so that it cannot be read: %v", text, err)
		}
		if diff := gocmp.Diff(textOf(t, table), textOf(t, again)); diff != "" {
			t.Error(diff)
		}
		for i := range table.rows {
			table.Find("openai-chat", "", table.rows[i].id)
		}
	})
}

func FuzzSlim(f *testing.F) {
	f.Add(models)
	f.Add(`{"a": {"b": {"baseUrl": "https://{}{", "contextWindow": 1e308, "maxTokens": -1, "cost": {"input": 1e-300}}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		table, err := Slim(strings.NewReader(text), Origin{Package: "p", Version: "1"})
		if err != nil {
			return
		}
		again, err := parseTable(textOf(t, table))
		if err != nil {
			t.Fatalf("%q gives a table that cannot be read: %v\n%q", text, err, textOf(t, table))
		}
		if diff := gocmp.Diff(textOf(t, table), textOf(t, again)); diff != "" {
			t.Error(diff)
		}
	})
}
