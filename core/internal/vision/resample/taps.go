package resample

import "math"

// bits of a weight's fraction: weights are 16 bits wide, and one is never above 1.2.
const bits = 14

const (
	one  = 1 << bits
	half = one / 2 // added before bits are cut off, so that the nearest level is taken
)

// support of the kernel, in source pixels on each side when nothing is reduced.
const support = 2

// phased is the number of taps from which on neighbours share tables of weights;
// phases is how many tables there are for all positions between two source pixels.
// A kernel so wide does not change within a thirty-second of a pixel.
const (
	phased = 64
	phases = 32
)

// tap says which source pixels one sent pixel is mixed from.
type tap struct {
	first  int32 // index of the first source element
	weight int32 // index of its weight
}

// taps of one axis: taps[i] begins k weights that sum up to one.
type taps struct {
	k       int // as many for each, filled up with weights of 0
	real    int // of k: the rest are filled up, and may lie behind the source
	reach   int // the element behind the last that a kernel may read
	list    []tap
	weights []int16
}

// catmullRom is the cubic kernel with b = 0, c = 1/2 (Mitchell and Netravali,
// "Reconstruction Filters in Computer Graphics", 1988).
func catmullRom(t float64) float64 {
	switch t = math.Abs(t); {
	case t < 1:
		return (1.5*t-2.5)*t*t + 1
	case t < support:
		return ((-0.5*t+2.5)*t-4)*t + 2
	}
	return 0
}

// span is a part of one axis that is reduced to n: it begins at from, between source
// elements lo and hi, and is size of them long. Chroma has fractions of elements.
type span struct {
	from, size float64
	lo, hi     int
	n          int
}

// taps spreads the sent pixels over the span. The kernel is widened by the reduction, so
// that every source element has its say. The number of taps is a multiple of step.
func (s span) taps(step int) taps {
	scale := s.size / float64(s.n)
	if scale == 1 && s.from == math.Trunc(s.from) {
		return s.copies(step)
	}
	wide := max(scale, 1)
	count := min(int(math.Ceil(2*support*wide))+1, s.hi-s.lo)
	t := taps{k: (count + step - 1) / step * step, real: count, list: make([]tap, s.n)}
	shared := map[[2]int32]int32{}
	for i := range t.list {
		centre := s.from + (float64(i)+0.5)*scale - 0.5
		if count >= phased {
			centre = math.Round(centre*phases) / phases
		}
		first := min(max(int(math.Ceil(centre-support*wide)), s.lo), s.hi-count)
		t.list[i] = tap{first: int32(first), weight: int32(len(t.weights))} //nolint:gosec // within a picture of 36 megapixels
		t.reach = max(t.reach, first+t.k)
		if count >= phased {
			_, frac := math.Modf(centre)
			// Tables differ by the position between two elements and, at the edges, by where they are cut off.
			id := [2]int32{int32(math.Round(frac * phases)), int32(first - int(centre))} //nolint:gosec // as above
			if at, ok := shared[id]; ok {
				t.list[i].weight = at
				continue
			}
			shared[id] = t.list[i].weight
		}
		t.weights = append(t.weights, kernel(centre-float64(first), wide, count, t.k)...)
	}
	return t
}

// copies takes each element as it is.
func (s span) copies(step int) taps {
	t := taps{k: step, real: 1, reach: int(s.from) + s.n - 1 + step, list: make([]tap, s.n), weights: make([]int16, step)}
	t.weights[0] = one
	for i := range t.list {
		t.list[i].first = int32(int(s.from) + i) //nolint:gosec // within a picture of 36 megapixels
	}
	return t
}

// kernel gives k weights for count elements around centre, the rest 0. Rounding is
// carried on from weight to weight, so that the sum is exactly one however small they are.
func kernel(centre, wide float64, count, k int) []int16 {
	raw, total := make([]float64, count), 0.0
	for i := range raw {
		raw[i] = catmullRom((float64(i) - centre) / wide)
		total += raw[i]
	}
	out, sum, before := make([]int16, k), 0.0, 0
	for i, w := range raw {
		sum += w / total * one
		now := int(math.Round(sum))
		out[i] = int16(now - before) //nolint:gosec // a weight is below 2
		before = now
	}
	return out
}
