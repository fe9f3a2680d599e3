package refusal

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Sizes are the limits that the words of a refusal name; 0: not named.
type Sizes struct {
	Edge      int // pixels of the longest side, at most
	Bytes     int // of a picture, raw, at most
	Pictures  int // in a request, at most
	MinEdge   int // pixels of a side, at least
	MinPixels int // of a picture, at least
}

// sizeRow finds a number and says what it limits.
type sizeRow struct {
	re  *regexp.Regexp
	set func(s *Sizes, n int, unit string)
}

// sizeRows read the sentences of the rows of class size, and their kin. The number is
// the group n, its unit the group u.
var sizeRows = sync.OnceValue(func() []sizeRow {
	row := func(pattern string, set func(s *Sizes, n int, unit string)) sizeRow {
		return sizeRow{regexp.MustCompile(pattern), set}
	}
	edge := func(s *Sizes, n int, _ string) { s.Edge = least(s.Edge, n) }
	pictures := func(s *Sizes, n int, _ string) { s.Pictures = least(s.Pictures, n) }
	// Whether a provider counts base64 is often not said: so it is taken to.
	coded := func(s *Sizes, n int, unit string) { s.Bytes = least(s.Bytes, n*units[unit]/4*3) }
	return []sizeRow{
		// "… exceed max allowed size: 8000 pixels", "… for many-image requests: 2000 pixels" (claude-code#27090, #52220)
		row(`(?:max\w*|exceed\w*|at most|up to|limit\w*|larger than|bigger than)\D{0,60}?(?P<n>\d+) ?(?P<u>)(?:px|pixels?)\b`, edge),
		row(`(?:width|height|dimensions?|resolution|edge|side)\D{0,50}?(?:max\w*|exceed\w*|at most|up to|limit\w*|larger than|smaller than or equal)\D{0,20}?(?P<n>\d{3,5})(?P<u>)\b`, edge),
		// "image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes": Anthropic counts base64 (claude-code#8202)
		row(`> (?P<n>\d+) (?P<u>bytes)`, coded),
		row(`base64[^.]{0,60}?(?:exceed\w*|limit\w*|max\w*|over)[^.\d]{0,30}\(?(?P<n>\d+) ?(?P<u>bytes|kb|kib|mb|mib)`, coded),
		row(`(?:exceed\w*|max\w*|at most|up to|limit\w*|larger than|under|below|less than)[^.\d>]{0,40}(?P<n>\d+) ?(?P<u>kb|kib|mb|mib)\b`, coded),
		row(`(?:^|[^\d.])(?P<n>\d+) ?(?P<u>kb|kib|mb|mib)(?: \w+){0,2} (?:max\w*|limit\w*)`, coded),
		// "Too much media: 0 document pages + 101 images > 100"
		row(`images? > (?P<n>\d+)(?P<u>)`, pictures),
		// "At most 1 image(s) may be provided in one prompt" (vLLM)
		row(`(?:at most|maximum (?:of|is)?|max\w*|up to|no more than|limit(?:ed)? (?:of|to|is)|more than) ?(?P<n>\d+)(?P<u>) (?:\w+ )?(?:image|picture|photo)`, pictures),
		row(`(?:images?|pictures?)\D{0,30}(?:at most|maximum of|max\w*|up to|limit(?: is| of)?:?) ?(?P<n>\d{1,3})(?P<u>)\b(?: per| in|\W*$|\.)`, pictures),
		// "[height:8 or width:1000 must be larger than 10]" (DashScope)
		row(`must be (?:larger|greater|bigger|more) than (?P<n>\d+)(?P<u>)`, func(s *Sizes, n int, _ string) { s.MinEdge = max(s.MinEdge, n+1) }),
		row(`(?:at least|minimum(?: of)?|smaller than) (?P<n>\d+)(?P<u>) (?:total |px total |pixels in )`, func(s *Sizes, n int, _ string) { s.MinPixels = max(s.MinPixels, n) }),
		row(`(?:at least|minimum(?: of| is)?|smaller than) (?P<n>\d{1,3})(?P<u>) ?(?:px|pixels?|x)\b`, func(s *Sizes, n int, _ string) { s.MinEdge = max(s.MinEdge, n) }),
	}
})

var units = map[string]int{"bytes": 1, "kb": 1000, "kib": 1 << 10, "mb": 1000 * 1000, "mib": 1 << 20}

// least keeps the smaller of two limits; 0 is none.
func least(a, b int) int {
	if a == 0 || b < a {
		return b
	}
	return a
}

// ReadSizes finds the limits in the words of a refusal of class Size, JSON or not.
func ReadSizes(words string) Sizes {
	lower := hear(Refusal{Words: words}).lower
	lower = strings.ReplaceAll(lower, ",", "") // 5,242,880
	var s Sizes
	for _, r := range sizeRows() {
		for _, m := range r.re.FindAllStringSubmatch(lower, -1) {
			if n, err := strconv.Atoi(m[r.re.SubexpIndex("n")]); err == nil && n > 0 {
				r.set(&s, n, m[r.re.SubexpIndex("u")])
			}
		}
	}
	if s.MinEdge > 0 && s.Edge > 0 && s.Edge <= s.MinEdge {
		s.Edge = 0 // one number was read both ways: it is the least that is taken
	}
	return s
}
