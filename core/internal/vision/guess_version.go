package vision

import (
	"strconv"
	"strings"
)

// version is a major and a minor number; 4.20 is later than 4.3.
type version struct{ major, minor int }

func (v version) before(w version) bool {
	return v.major < w.major || v.major == w.major && v.minor < w.minor
}

// readVersion reads 4, 4.5, 4.5.1, 4o or 4.6v. Sizes (8b), contexts (32k) and
// stamps of four digits are no versions; 03 is 0.3, as in v03.
func readVersion(w string) (version, bool) {
	for w != "" && (w[len(w)-1] == 'o' || w[len(w)-1] == 'v') {
		w = w[:len(w)-1]
	}
	if w == "" || !isDigit(w[0]) {
		return version{}, false
	}
	major, minor, dotted := strings.Cut(w, ".")
	minor, _, _ = strings.Cut(minor, ".")
	if !isDigits(major) || len(major) > 2 || dotted && !isDigits(minor) {
		return version{}, false
	}
	a, _ := strconv.Atoi(major)
	b, err := strconv.Atoi(minor)
	if dotted && err != nil { // more digits than a number holds
		return version{}, false
	}
	if len(major) == 2 && major[0] == '0' && !dotted {
		return version{0, a}, true
	}
	return version{a, b}, true
}

// name is a normalised id taken apart.
type name struct{ words []string }

func parseName(id string) name { return name{strings.Split(Normalize(id), "-")} }

// has tells whether the words of the phrase stand in the name side by side.
func (n name) has(phrase []string) bool {
	for i := range n.words {
		if n.at(i, phrase) {
			return true
		}
	}
	return false
}

func (n name) at(i int, phrase []string) bool {
	if i+len(phrase) > len(n.words) {
		return false
	}
	for k, w := range phrase {
		if n.words[i+k] != w {
			return false
		}
	}
	return true
}

// hasNumberV tells whether a version carries the letter of sight, as in 4.6v.
func (n name) hasNumberV() bool {
	for _, w := range n.words {
		if number, found := strings.CutSuffix(w, "v"); found && isNumber(number) {
			return true
		}
	}
	return false
}

// version reads the first version number at or behind word i.
func (n name) version(i int) (version, bool) {
	for ; i < len(n.words); i++ {
		if v, found := readVersion(n.words[i]); found {
			return v, true
		}
	}
	return version{}, false
}

// stamp reads a release stamp of year and month, as in mistral-small-2503.
func (n name) stamp(i int) (version, bool) {
	for ; i < len(n.words); i++ {
		w := n.words[i]
		if len(w) != 4 || !isDigits(w) {
			continue
		}
		if v, _ := strconv.Atoi(w); v/100 >= 23 && v/100 <= 39 && v%100 >= 1 && v%100 <= 12 {
			return version{v, 0}, true
		}
	}
	return version{}, false
}

// size reads the first size in thousand millions of parameters, as in 4b, 0.6b or 270m.
func (n name) size() (float64, bool) {
	for _, w := range n.words {
		end := len(w) - 1
		if end < 1 || w[end] != 'b' && w[end] != 'm' || !isNumber(w[:end]) {
			continue
		}
		v, err := strconv.ParseFloat(w[:end], 64)
		if err != nil {
			continue
		}
		if w[end] == 'm' {
			v /= 1000
		}
		return v, true
	}
	return 0, false
}
