package catalog

import "fmt"

// leastShare of the built-in table's models has to be in one that replaces it, and
// leastVendors of mainVendors: a list that lost more is a mistake of whoever made it.
const leastShare, leastVendors = 0.5, 5

// mainVendors are the routes of which most have to be in a table.
var mainVendors = []string{"anthropic", "openai", "google", "mistral", "xai", "openrouter", "groq", "zai", "moonshot"}

// MayReplace reports whether the table may stand in front of another one, such as the
// built-in; the error says for people why not. It compares no versions: an older table
// may be wanted.
func (t *Table) MayReplace(old *Table) error {
	if has, need := len(t.rows), int(leastShare*float64(len(old.rows))); has < need {
		return fmt.Errorf("the new catalogue %s has %d models, the one of %s has %d: less than half is taken for a mistake", t.Version, has, old.Version, len(old.rows))
	}
	found := 0
	for _, name := range mainVendors {
		if i, ok := t.byName[name]; ok && t.routes[i].behind > t.routes[i].first {
			found++
		}
	}
	if found < leastVendors {
		return fmt.Errorf("the new catalogue %s knows %d of the main vendors, at least %d are needed", t.Version, found, leastVendors)
	}
	return nil
}
