package vision

import (
	"strings"
	"sync"
)

// Guess reads a model's sight off its id. The answer's source is Name and its
// detail the family or the word that decided, "" when nothing is known.
// chat is false for a model that answers nobody (embedding, speech, image
// generation, moderation, ranking): its sight is Unknown and no picker offers it.
//
// Words of sight (vl, vision, omni) come before families. A family says yes
// only when it heads the id, and every no ends at a version: above it the
// answer is Unknown, because a wrong no never heals while a wrong yes costs
// one refused request.
func Guess(id string) (answer Answer, chat bool) {
	n := parseName(id)
	answer.Source = Name
	if word := silent(id, n); word != "" {
		answer.Detail = word
		return answer, false
	}
	for _, w := range n.words {
		if sightWordsInID[w] {
			answer.Sight, answer.Detail = Sees, w
			return answer, true
		}
	}
	if i := decide(n); i >= 0 && families[i].sight != Unknown {
		answer.Sight, answer.Detail = families[i].sight, families[i].family
	}
	return answer, true
}

// silent returns the word or family that tells of a model which is no chat
// model, "" for a chat model.
func silent(id string, n name) string {
	for _, w := range n.words {
		if notChat[w] || w == picture && !n.alsoTalks() {
			return w
		}
	}
	t := tables()
	for _, family := range t.silent[n.words[0]] {
		if n.at(0, family) {
			return strings.Join(family, "-")
		}
	}
	path := strings.TrimRight(id[:min(len(id), maxID)], "/")
	for {
		part, rest, found := strings.Cut(path, "/")
		if !found {
			return ""
		}
		if part = strings.ToLower(part); notChatMakers[part] {
			return part
		}
		path = rest
	}
}

// alsoTalks tells of the families whose picture models answer in words as
// well: gemini-2.5-flash-image, gpt-5-image, but not gpt-image-1.
func (n name) alsoTalks() bool {
	if len(n.words) < 2 {
		return false
	}
	_, versioned := readVersion(n.words[1])
	return n.words[0] == "gemini" || n.words[0] == "gpt" && versioned
}

// rule is a row made ready: its words split and its bounds read.
type rule struct {
	*row
	place  int // in families; the smaller decides
	family []string
	with   [][]string
	first  version
	last   version
}

// index finds the rows that may speak of a name by a word of it.
type index struct {
	heads, inside map[string][]rule
	silent        map[string][][]string
}

var tables = sync.OnceValue(func() *index {
	t := &index{map[string][]rule{}, map[string][]rule{}, map[string][][]string{}}
	for i := range families {
		r := &families[i]
		ready := rule{row: r, place: i, family: strings.Split(r.family, "-")}
		for word := range strings.SplitSeq(r.with, "|") {
			if word != "" {
				ready.with = append(ready.with, strings.Split(word, "-"))
			}
		}
		ready.first, _ = readBound(r.from)
		ready.last, _ = readBound(r.to)
		rows := t.heads
		if r.inside {
			rows = t.inside
		}
		rows[ready.family[0]] = append(rows[ready.family[0]], ready)
	}
	for _, phrase := range notChatFamilies {
		words := strings.Split(phrase, "-")
		t.silent[words[0]] = append(t.silent[words[0]], words)
	}
	return t
})

// readBound reads a version or a stamp of the table; the tests prove that all of them read.
func readBound(s string) (version, bool) {
	if len(s) == 4 && isDigits(s) {
		return name{[]string{s}}.stamp(0)
	}
	return readVersion(s)
}

// decide returns the place of the row that decides, -1 when none fits: the first
// of those whose family heads the name, or else the first of those inside it.
func decide(n name) int {
	t := tables()
	if place := firstFit(t.heads[n.words[0]], n, 0); place >= 0 {
		return place
	}
	best := -1
	for i, w := range n.words {
		if place := firstFit(t.inside[w], n, i); place >= 0 && (best < 0 || place < best) {
			best = place
		}
	}
	return best
}

// firstFit returns the place of the first rule whose family stands at word i
// of the name and that speaks of it, -1 when none does.
func firstFit(rules []rule, n name, i int) int {
	for k := range rules {
		r := &rules[k]
		if n.at(i, r.family) && r.fits(n, i+len(r.family)) {
			return r.place
		}
	}
	return -1
}

// fits tells whether the row speaks of a name in which its family ends before
// the word behind.
func (r *rule) fits(n name, behind int) bool {
	return r.hasWords(n) && r.hasSize(n) && r.within(n, behind) && (!r.plain || n.isPlainFrom(behind))
}

// isPlainFrom tells whether the words from place i on are numbers, sizes,
// single letters and usual words.
func (n name) isPlainFrom(i int) bool {
	for _, w := range n.words[min(i, len(n.words)):] {
		if len(w) > 1 && !isDigit(w[0]) && !usual[w] {
			return false
		}
	}
	return true
}

func (r *rule) hasWords(n name) bool {
	for _, phrase := range r.with {
		if phrase[0] == anyNumberV && n.hasNumberV() || n.has(phrase) {
			return true
		}
	}
	return len(r.with) == 0
}

// hasSize lets a name without a size pass as large: the yes of a large model
// costs little, the no of a small one much.
func (r *rule) hasSize(n name) bool {
	if r.least == 0 && r.below == 0 {
		return true
	}
	size, known := n.size()
	if !known {
		return r.below == 0
	}
	return size >= r.least && (r.below == 0 || size < r.below)
}

// factsUntil is the year and month up to which the table was written: a bare
// row knows nothing of a later stamp.
var factsUntil = version{major: 2609}

// within compares the name's version, or its stamp where the row counts in
// stamps. A bare row speaks also of names with no version, and a row without
// bounds that is bare of all names.
func (r *rule) within(n name, behind int) bool {
	if r.bare && r.from == "" && r.to == "" {
		return true
	}
	v, hasVersion := n.version(behind)
	stamp, hasStamp := n.stamp(behind)
	known := hasVersion
	if r.stamped {
		v, known = stamp, hasStamp
	}
	if !known {
		return r.bare && !hasVersion && (!hasStamp || !factsUntil.before(stamp))
	}
	if r.from != "" && v.before(r.first) {
		return false
	}
	return r.to == "" || !r.last.before(v)
}
