package packing

import (
	"slices"

	"github.com/relo-dev/relo/core/internal/vision"
)

// Picture is what is known of one picture of a request.
type Picture struct {
	Key           string // SHA-256 of its bytes
	View          string // id of its view
	Width, Height int
	Bytes         int // before base64
	MediaType     string
	Tool          bool // a tool made it; false: a person gave it, or the task
	Unanswered    bool // of the turn that the model has not answered yet
	Described     bool // there is a description, which would stand in its place
}

// Reason says why a picture does not go as it is; empty: it does.
type Reason string

// The reasons, from that of the picture itself to that of its company.
const (
	Kind    Reason = "kind"    // of a kind that is not taken here
	Small   Reason = "small"   // too few pixels, or too long for its width
	Edge    Reason = "edge"    // too many pixels
	Bytes   Reason = "bytes"   // too large a file
	Request Reason = "request" // the request is too large
	Count   Reason = "count"   // there are too many pictures
)

// Fate is what becomes of one picture.
type Fate struct {
	Keep bool        // false: words stand in its place
	Fit  *vision.Fit // not nil: it must be made to fit this; it has MaxBytes always
	Why  Reason
}

// Plan says what becomes of each picture of a request, in the order of p, so that the request
// is within the limits: textBytes is what its other parts take in the body. What the model has not
// answered yet, then the newest keep of tools' pictures, are touched last; before them a
// person's, and first of all the older ones of tools, the oldest first, since a tool can look
// again. Over the request's bytes pictures become smaller in that order, then words.
//
// What a fitted picture will have is not known before, so Plan counts the most that its Fit
// allows. When each is made within its Fit, a second Plan with the real sizes changes nothing.
func Plan(p []Picture, textBytes int, l Limits, keep int) []Fate {
	s := newShelf(p, textBytes, l, keep)
	s.count()
	fit := l.Fit(s.kept)
	for i := range p {
		if s.fates[i].Keep {
			s.fit(i, fit)
		}
	}
	s.room(fit)
	return s.fates
}

// shelf is a plan in the making.
type shelf struct {
	p     []Picture
	fates []Fate
	most  []int // bytes that each may take
	lines int   // bytes of the words for those that left
	kept  int
	l     Limits
	text  int
	ranks [][]int // pictures by how soon they are given up, the oldest first
}

func newShelf(p []Picture, textBytes int, l Limits, keep int) *shelf {
	s := &shelf{p: p, fates: make([]Fate, len(p)), most: make([]int, len(p)), kept: len(p), l: l, text: textBytes, ranks: make([][]int, 4)}
	tools := 0
	for i := len(p) - 1; i >= 0; i-- {
		s.fates[i].Keep, s.most[i] = true, max(0, p[i].Bytes)
		rank := 0
		switch {
		case p[i].Unanswered:
			rank = 3
		case !p[i].Tool:
			rank = 1
		case tools < keep:
			rank = 2
		}
		if p[i].Tool {
			tools++
		}
		s.ranks[rank] = append(s.ranks[rank], i)
	}
	for _, r := range s.ranks {
		slices.Reverse(r)
	}
	return s
}

// words gives a picture up.
func (s *shelf) words(i int, why Reason) {
	s.fates[i] = Fate{Why: why}
	s.kept--
	if s.p[i].Described {
		s.lines += describedLine
	} else {
		s.lines += plainLine
	}
}

// count holds the number of pictures. More leave than must, so that the next
// pictures do not change the beginning again; of the newest only those that must.
func (s *shelf) count() {
	if s.l.Pictures <= 0 || s.kept <= s.l.Pictures {
		return
	}
	step := max(1, s.l.Pictures/countSteps)
	must := s.kept - s.l.Pictures
	may := (must + step - 1) / step * step
	for rank, order := range s.ranks {
		for _, i := range order {
			if must <= 0 && (rank >= 2 || may <= 0) {
				return
			}
			s.words(i, Count)
			must, may = must-1, may-1
		}
	}
}

// fit holds one picture against the limits of a picture.
func (s *shelf) fit(i int, f vision.Fit) {
	p := s.p[i]
	if f.Holds(p.Width, p.Height, p.Bytes, p.MediaType) {
		return
	}
	why := Bytes
	pixels := int64(p.Width) * int64(p.Height)
	switch {
	case !f.Takes(p.MediaType):
		why = Kind
	case f.MaxEdge > 0 && max(p.Width, p.Height) > f.MaxEdge, f.MaxPixels > 0 && pixels > int64(f.MaxPixels):
		why = Edge
	case f.MaxBytes == 0 || p.Bytes <= f.MaxBytes:
		why = Small
	}
	s.bound(i, least(f.MaxBytes, max(min(growth*p.Bytes, ampleBytes), roomBytes)), f, why)
}

// bound lets a picture stay with at most so many bytes.
func (s *shelf) bound(i, bytes int, f vision.Fit, why Reason) {
	f.MaxBytes, f.Kinds = bytes, slices.Clone(f.Kinds)
	if s.fates[i].Why != "" {
		why = s.fates[i].Why
	}
	s.fates[i] = Fate{Keep: true, Fit: &f, Why: why}
	s.most[i] = bytes
}

// room holds the size of the request: those of one rank become smaller, in steps; when all
// are as small as can be the oldest of them leave, and the rest are as large as there is room.
func (s *shelf) room(f vision.Fit) {
	if s.l.RequestBytes <= 0 {
		return
	}
	for _, order := range s.ranks {
		order = slices.DeleteFunc(order, func(i int) bool { return !s.fates[i].Keep })
		before := make([]Fate, len(s.fates))
		most := slices.Clone(s.most)
		copy(before, s.fates)
		smaller := func(level int) bool {
			for _, i := range order {
				s.fates[i], s.most[i] = before[i], most[i]
				if most[i] > level {
					s.bound(i, level, f, Request)
				}
			}
			return s.over() <= 0
		}
		if s.over() <= 0 {
			return
		}
		for !smaller(leastBytes) && len(order) > 0 {
			s.words(order[0], Request)
			order = order[1:]
		}
		if slices.ContainsFunc(levels, smaller) {
			return
		}
	}
}

// over is how many bytes the request has too many.
func (s *shelf) over() int {
	sum := s.text + s.lines + reserve - s.l.RequestBytes
	for i, fate := range s.fates {
		if fate.Keep {
			sum += coded(s.most[i]) + overhead
		}
	}
	return sum
}

// coded is the length of n bytes in base64.
func coded(n int) int { return (n + 2) / 3 * 4 }

// levels are the sizes that pictures are made for want of room: halves, so that they stay
// the same over some rounds.
var levels = []int{ampleBytes, ampleBytes / 2, ampleBytes / 4, ampleBytes / 8, ampleBytes / 16, ampleBytes / 32, leastBytes}
