package pngwrite

import (
	"math"

	"github.com/klauspost/compress/flate"
)

// plan is how a strip is packed.
type plan struct {
	filter filter
	level  int // of flate
	guess  int // bytes it may come to; orders the work, decides nothing
}

// sample is what some rows of a strip show.
type sample struct {
	bytes  int          // of the whole strip
	seen   int          // bytes looked at
	pixels int          // that have a left neighbour
	equal  int          // of them like that neighbour
	weight [filters]int // of the rows under each filter; not weighed for flat ones
}

// look takes the sample of the rows from first up to last.
func look(src *source, first, last int) sample {
	n, depth := src.rowBytes(), src.form.depth()
	buf := make([]byte, 3*n)
	row, before, out := buf[:n], buf[n:2*n], buf[2*n:]
	s := sample{bytes: n * (last - first)}
	start := first + min(sampleStep, last-first)/2
	for y := start; y < last; y += sampleStep {
		src.row(row, y)
		s.seen += n
		s.pixels += src.w - 1
		s.equal += equals(row, depth)
	}
	if s.share() >= flatShare || src.form == indexed {
		return s
	}
	for y := start; y < last; y += sampleStep {
		src.row(row, y)
		if y > 0 {
			src.row(before, y-1)
		}
		for f := sub; f < filters; f++ {
			f.apply(out, row, before, depth)
			s.weight[f] += weight(out)
		}
	}
	return s
}

// share is how many of the pixels are like the one to their left.
func (s *sample) share() float64 {
	if s.pixels == 0 {
		return 1
	}
	return float64(s.equal) / float64(s.pixels)
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

// bits guesses what a byte under the lightest filter is worth: differences of photos lie about
// zero like a Laplace distribution, whose entropy is log2(2e) and the logarithm of its mean.
func (s *sample) bits() float64 {
	mean := float64(s.weight[s.lightest()]) / float64(max(1, s.seen))
	return min(8, max(0.2, math.Log2(2*math.E*mean)))
}

// choose decides from a sample: colours of a palette and flat rows as they are, by matches; photos
// as differences, by codes alone; what is between as differences, by quick matches.
func choose(s sample, f form) plan {
	share := s.share()
	if f == indexed || share >= flatShare {
		return plan{filter: none, level: flatLevel, guess: int(float64(s.bytes) * (1 - share) / 2)}
	}
	p := plan{filter: s.lightest(), level: flate.HuffmanOnly, guess: int(float64(s.bytes) * s.bits() / 8)}
	if share >= photoShare {
		p.level = mixedLevel
	}
	return p
}

// equals counts the pixels that are like the one to their left.
func equals(row []byte, depth int) int {
	n := 0
	switch depth {
	case 1:
		for i := 1; i < len(row); i++ {
			if row[i] == row[i-1] {
				n++
			}
		}
	case 3:
		for i := 3; i+2 < len(row); i += 3 {
			if row[i] == row[i-3] && row[i+1] == row[i-2] && row[i+2] == row[i-1] {
				n++
			}
		}
	default:
		for i := 4; i+3 < len(row); i += 4 {
			if [4]byte(row[i:]) == [4]byte(row[i-4:]) {
				n++
			}
		}
	}
	return n
}
