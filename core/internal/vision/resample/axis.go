package resample

import "math"

// catmullRom is the cubic kernel with b = 0, c = 1/2 (Mitchell and Netravali, "Reconstruction
// Filters in Computer Graphics", 1988). The conversions keep compilers from fusing a product
// and a sum, which would round differently from machine to machine.
func catmullRom(t float64) float64 {
	switch t = math.Abs(t); {
	case t < 1:
		a := float64(1.5*t) - 2.5
		return float64(float64(a*t)*t) + 1
	case t < support:
		a := 2.5 - float64(0.5*t)
		b := float64(a*t) - 4
		return float64(b*t) + 2
	}
	return 0
}

// support of the kernel on each side, in pixels of the result.
const support = 2

// spread is how n pixels lie over size of a side, n ≤ size. The kernel is widened by the reduction,
// so that every source pixel has its say; with n == size each has its own only.
type spread struct {
	size, n int
	// sample, if there is one, says which sample of a plane stands for a pixel, and does not fall.
	// The result is then what the full plane would give, each sample repeated.
	sample func(int) int
}

// samples gives how many there are for the whole side.
func (s spread) samples() int { return s.at(s.size-1) + 1 }

func (s spread) at(x int) int {
	if s.sample == nil {
		return x
	}
	return s.sample(x)
}

// wide says whether weights are so small that they need more bits.
func (s spread) wide() bool { return s.samples()/s.n >= wideRatio }

// reach is the source pixels under one pixel's kernel, both included, and the kernel's middle.
type reach struct {
	lo, hi int
	centre float64
}

func (s spread) reach(i int) reach {
	scale := float64(s.size) / float64(s.n)
	centre := float64((float64(i)+0.5)*scale) - 0.5
	if s.wide() {
		centre = math.Round(centre*phases) / phases
	}
	if s.size == s.n {
		return reach{i, i, centre}
	}
	// At exactly support the kernel is zero.
	lo, hi := math.Floor(centre-float64(support*scale))+1, math.Ceil(centre+float64(support*scale))-1
	return reach{max(0, int(lo)), min(s.size-1, int(hi)), centre}
}

// weights appends the samples' weights, which add up to 1<<bits, to all and says which sample is
// first; it never falls from pixel to pixel. Weights are rounded so that their running sum is right;
// so however many and small they are, a plain colour stays what it is.
func (s spread) weights(all []int16, r reach, bits uint) (first int, _ []int16) {
	scale, total := float64(s.size)/float64(s.n), 0.0
	for x := r.lo; x <= r.hi; x++ {
		total += catmullRom((float64(x) - r.centre) / scale)
	}
	sum, before := 0.0, 0
	for x := r.lo; x <= r.hi; x++ {
		sum += catmullRom((float64(x) - r.centre) / scale)
		if x < r.hi && s.at(x+1) == s.at(x) {
			continue
		}
		now := int(math.RoundToEven(sum / total * float64(int(1)<<bits)))
		all = append(all, int16(now-before)) //nolint:gosec // at most 1.2 of 1<<14
		before = now
	}
	return s.at(r.lo), all
}

// axis is one direction's weights in fixed point: those of pixel i are count[i] from at[i] on, for
// the samples from first[i] on, over 1<<bits.
type axis struct {
	first, at, count []int32
	weights          []int16
	bits             uint
	size             int // samples
	most             int // the largest count
	stride           int // at[i] is i*stride, a multiple of the kernels' lanes, unless the axis is wide; the rest is 0
	reach            int // one behind the last sample that a kernel reads, the rest included
}

// axisOf puts a spread into fixed point, for kernels of so many lanes.
func axisOf(s spread, lanes int) *axis {
	a := &axis{bits: weightBits, size: s.samples()}
	a.first, a.at, a.count = make([]int32, s.n), make([]int32, s.n), make([]int32, s.n)
	if s.wide() {
		a.bits = wideBits
	}
	seen := map[reach]int{}
	for i := range s.n {
		r := s.reach(i)
		if whole := math.Floor(r.centre); s.wide() && s.sample == nil {
			// Most pixels' kernels lie alike on their samples.
			like := reach{r.lo - int(whole), r.hi - int(whole), r.centre - whole}
			if j, ok := seen[like]; ok {
				a.first[i] = a.first[j] + int32(r.lo-s.reach(j).lo) //nolint:gosec // a picture's side
				a.at[i], a.count[i] = a.at[j], a.count[j]
				continue
			}
			seen[like] = i
		}
		begin, first := len(a.weights), 0
		first, a.weights = s.weights(a.weights, r, a.bits)
		a.first[i], a.at[i], a.count[i] = int32(first), int32(begin), int32(len(a.weights)-begin) //nolint:gosec // a picture's side
		a.most = max(a.most, len(a.weights)-begin)
	}
	a.pad(lanes)
	return a
}

// pad lays the weights out for the kernels, which wide axes do not have.
func (a *axis) pad(lanes int) {
	a.reach = a.size
	if a.bits != weightBits {
		return
	}
	a.stride = (a.most + lanes - 1) / lanes * lanes
	padded := make([]int16, len(a.first)*a.stride)
	for i := range a.first {
		_, w := a.window(i)
		copy(padded[i*a.stride:], w)
		a.at[i] = int32(i * a.stride) //nolint:gosec // fewer than wideRatio*4 weights a pixel
		a.reach = max(a.reach, int(a.first[i])+a.stride)
	}
	a.weights = padded
}

// copies says that each pixel is a sample.
func (a *axis) copies() bool { return a.most == 1 && a.size == len(a.first) }

// window gives the first sample of pixel i and the weights.
func (a *axis) window(i int) (first int, weights []int16) {
	return int(a.first[i]), a.weights[a.at[i]:][:a.count[i]]
}
