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
	pixels int          // looked at
	equal  int          // of them like the one to the left
	weight [filters]int // of the rows under each filter
	bits   float64      // entropy a byte under the lightest filter
}

// look takes the sample of rows from up to to.
func look(src *source, from, to int) sample {
	n, depth := src.rowBytes(), src.form.depth()
	buf := make([]byte, 3*n)
	row, before, out := buf[:n], buf[n:2*n], buf[2*n:]
	s := sample{bytes: n * (to - from)}
	var counts [filters][256]int
	for y := from + min(sampleStep, to-from)/2; y < to; y += sampleStep {
		src.row(row, y)
		if y > 0 {
			src.row(before, y-1)
		}
		s.pixels += src.w - 1
		s.equal += equals(row, depth)
		for f := range filters {
			f.apply(out, row, before, depth)
			s.weight[f] += weight(out)
			for _, b := range out {
				counts[f][b]++
			}
		}
	}
	s.bits = entropy(&counts[s.lightest()])
	return s
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

// choose decides from a sample.
func choose(s sample, f form) plan {
	share := 1.0
	if s.pixels > 0 {
		share = float64(s.equal) / float64(s.pixels)
	}
	if f == indexed || share >= flatShare {
		return plan{filter: none, level: flatLevel, guess: int(float64(s.bytes) * (1 - share) / 2)}
	}
	p := plan{filter: s.lightest(), level: flate.HuffmanOnly, guess: int(float64(s.bytes) * s.bits / 8)}
	if share >= photoShare {
		p.level, p.guess = 1, p.guess*3/4
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

// entropy is the bits a byte that counts are worth.
func entropy(counts *[256]int) float64 {
	total := 0
	for _, c := range counts {
		total += c
	}
	sum := 0.0
	for _, c := range counts {
		if c > 0 {
			sum -= float64(c) * math.Log2(float64(c)/float64(total))
		}
	}
	return sum / max(1, float64(total))
}
