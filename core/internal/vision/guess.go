package vision

import (
	"strconv"
	"strings"
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
	for _, word := range notChat {
		if n.has(word) {
			answer.Detail = word
			return answer, false
		}
	}
	for _, word := range sightWordsInID {
		if n.has(word) {
			answer.Sight, answer.Detail = Sees, word
			return answer, true
		}
	}
	for i := range families {
		if families[i].fits(n) {
			answer.Sight, answer.Detail = families[i].sight, families[i].family
			return answer, true
		}
	}
	return answer, true
}

// fits tells whether the row speaks of this name.
func (r *row) fits(n name) bool {
	family := strings.Split(r.family, "-")
	behind := len(family)
	switch {
	case r.inside:
		behind = n.find(family)
	case !n.at(0, family):
		behind = -1
	}
	return behind >= 0 && r.words(n) && r.large(n) && r.within(n, behind)
}

func (r *row) words(n name) bool {
	if r.with == "" {
		return true
	}
	for word := range strings.SplitSeq(r.with, "|") {
		if n.has(word) || word == anyNumberV && n.hasNumberV() {
			return true
		}
	}
	return false
}

func (r *row) large(n name) bool {
	if r.least == 0 {
		return true
	}
	size, known := n.size()
	return !known || size >= r.least
}

// within compares the name's version, or its stamp where the row counts in
// stamps. A bare row speaks only of names with neither.
func (r *row) within(n name, behind int) bool {
	v, hasVersion := n.version(behind)
	stamp, hasStamp := n.stamp(behind)
	known := hasVersion
	if r.stamped {
		v, known = stamp, hasStamp
	}
	if !known {
		return r.bare && !hasVersion && !hasStamp
	}
	if r.from != "" && v.before(mustVersion(r.from)) {
		return false
	}
	return r.to == "" || !mustVersion(r.to).before(v)
}

// mustVersion reads a bound of the table; the tests prove that all of them read.
func mustVersion(s string) version {
	major, minor, _ := strings.Cut(s, ".")
	a, _ := strconv.Atoi(major)
	b, _ := strconv.Atoi(minor)
	return version{a, b}
}
