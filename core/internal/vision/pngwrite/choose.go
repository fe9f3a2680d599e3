package pngwrite

import (
	"encoding/binary"
	"math"
)

// way is what packs the filtered rows.
type way uint8

const (
	matching way = iota // the matcher, for flat rows of three or four bytes a pixel
	general             // a packer that knows nothing of pixels
	quick               // the same in a hurry
	coding              // codes alone, no matches
)

// plan is how a strip is packed.
type plan struct {
	filter filter
	way    way
	guess  int // bytes it may come to; orders the work, decides nothing
}

// sample is what some rows of a strip show. Each of their pixels is like a neighbour, or like
// another seen before, or new.
type sample struct {
	bytes  int          // of the whole strip
	width  int          // of a row in bytes
	seen   int          // bytes looked at
	same   int          // pixels like the one to the left or above
	known  int          // other pixels whose colour was seen a little before
	fresh  int          // pixels of a new colour
	weight [filters]int // of the rows under each filter
}

// look takes the sample of the rows from first up to last.
func look(src *source, first, last int) sample {
	n, depth := src.rowBytes(), src.form.depth()
	buf := make([]byte, 3*n)
	row, before, out := buf[:n], buf[n:2*n], buf[2*n:]
	s := sample{bytes: n * (last - first), width: n}
	var seen [1 << seenBits]uint32
	for y := first + min(sampleStep, last-first)/2; y < last; y += sampleStep {
		src.row(row, y)
		if y > 0 {
			src.row(before, y-1)
		}
		s.seen += n
		s.pixels(row, before, depth, &seen)
		if src.form == indexed {
			continue
		}
		for f := sub; f < filters; f++ {
			f.apply(out, row, before, depth)
			s.weight[f] += weight(out)
		}
	}
	return s
}

// pixels sorts a row's pixels.
func (s *sample) pixels(row, before []byte, depth int, seen *[1 << seenBits]uint32) {
	left, mask := uint32(0), uint32(1<<(8*depth)-1)
	for i := 0; i+4 <= len(row); i += depth {
		p := binary.LittleEndian.Uint32(row[i:]) & mask
		above := binary.LittleEndian.Uint32(before[i:]) & mask
		if p == left || p == above {
			s.same++
			left = p
			continue
		}
		left = p
		if at := &seen[p*colourPrime>>(32-seenBits)]; *at == p {
			s.known++
		} else {
			s.fresh++
			*at = p
		}
	}
}

// lightest is the filter that left the least.
func (s *sample) lightest() filter {
	best := sub
	for f := sub; f < filters; f++ {
		if s.weight[f] < s.weight[best] {
			best = f
		}
	}
	return best
}

// raw guesses the strip's bits a byte when unfiltered rows are packed by matches.
func (s *sample) raw(depth int) float64 {
	known, fresh := knownBits, freshBits
	if depth == 1 {
		known = greyBits
	}
	return (float64(s.known)*known + float64(s.fresh)*fresh + float64(s.same)*sameBits) / float64(max(1, s.seen))
}

// filtered guesses the same for rows under the lightest filter. All weight comes from pixels unlike
// their neighbours, and there differences lie about zero like a Laplace distribution, whose
// entropy is log2(2e) and the logarithm of its mean.
func (s *sample) filtered(depth int) float64 {
	other := float64((s.known + s.fresh) * depth)
	if other == 0 {
		return 0
	}
	mean := float64(s.weight[s.lightest()]) / other
	bits := min(8.5, max(0.5, math.Log2(2*math.E*mean)))
	return (bits*other + float64(s.same)*sameBits) / float64(max(1, s.seen))
}

// choose decides from a sample: colours of a palette, and rows whose colours come again, as they
// are, by matches; photos as differences, by codes alone; what is between as differences, by
// quick matches.
func choose(s sample, f form) plan {
	raw, filtered := s.raw(f.depth()), s.filtered(f.depth())
	if f == indexed || raw <= filtered {
		p := plan{filter: none, way: matching, guess: int(raw * float64(s.bytes) / 8)}
		if f.depth() < 3 || s.width < matchWidth || s.bytes < matchBytes {
			p.way = general
		}
		return p
	}
	p := plan{filter: s.lightest(), way: coding, guess: int(filtered * float64(s.bytes) / 8)}
	if float64(s.same) >= photoShare*float64(s.same+s.known+s.fresh) {
		p.way = quick
	}
	return p
}
