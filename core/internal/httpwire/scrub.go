package httpwire

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// minSecret is the shortest secret that is looked for in foreign text: shorter
// ones would hit ordinary words, and guard nothing.
const minSecret = 6

// Scrubber replaces secrets in foreign text, as they are and as JSON or a URL
// would write them: some servers repeat the key that they refuse.
func Scrubber(secrets ...string) *strings.Replacer {
	var forms []string
	for _, s := range secrets {
		// "Bearer x" hides x too
		for _, word := range append(strings.Fields(s), s) {
			if len(word) < minSecret || strings.EqualFold(word, "bearer") {
				continue
			}
			forms = append(forms, word, url.QueryEscape(word), url.PathEscape(word))
			if b, err := json.Marshal(word); err == nil {
				forms = append(forms, string(b[1:len(b)-1])) // without the quotes
			}
		}
	}
	// The longest first, so that one secret that begins like another is hidden whole.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, f := range slices.Compact(forms) {
		pairs = append(pairs, f, "[secret]")
	}
	return strings.NewReplacer(pairs...)
}

// Confidential reports whether a header of this name holds a secret.
func Confidential(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "key", "token", "secret", "cookie", "password"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}
