package picture

import (
	"context"
	"image"
	"math"
)

// taps are the source pixels that one sent pixel is mixed from, and their weights.
type taps struct {
	first   int
	weights []float32
}

// catmullRom is the cubic kernel with b = 0, c = 1/2 (Mitchell and Netravali,
// "Reconstruction Filters in Computer Graphics", 1988).
func catmullRom(t float64) float64 {
	switch t = math.Abs(t); {
	case t < 1:
		return (1.5*t-2.5)*t*t + 1
	case t < 2:
		return ((-0.5*t+2.5)*t-4)*t + 2
	}
	return 0
}

// tapsFor spreads n sent pixels over source pixels from..from+size. The kernel
// is widened by the reduction, so that every source pixel has its say.
func tapsFor(from, size, n int) []taps {
	const support = 2
	scale := float64(size) / float64(n)
	wide := max(scale, 1)
	all := make([]taps, n)
	for i := range all {
		centre := (float64(i)+0.5)*scale - 0.5
		lo := max(0, int(math.Floor(centre-support*wide)))
		hi := min(size-1, int(math.Ceil(centre+support*wide)))
		weights, total := make([]float64, hi-lo+1), 0.0
		for k := range weights {
			weights[k] = catmullRom((float64(lo+k) - centre) / wide)
			total += weights[k]
		}
		all[i] = taps{from + lo, make([]float32, len(weights))}
		for k := range weights {
			all[i].weights[k] = float32(weights[k] / total)
		}
	}
	return all
}

// scale reduces the part r of src to w × h with Catmull-Rom. Rows are reduced
// as they are needed and forgotten, so it holds one picture of the sent size
// and a few dozen rows.
func scale(ctx context.Context, src image.Image, r image.Rectangle, w, h int) (*image.NRGBA, error) {
	across, down := tapsFor(0, r.Dx(), w), tapsFor(r.Min.Y, r.Dy(), h)
	depth := 0
	for _, t := range down {
		depth = max(depth, len(t.weights))
	}
	ring := make([][]float32, depth)
	for i := range ring {
		ring[i] = make([]float32, 4*w)
	}
	read, full, sum := rowReader(src), make([]float32, 4*r.Dx()), make([]float32, 4*w)
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	next := r.Min.Y
	for y, t := range down {
		if err := late(ctx); err != nil {
			return nil, err
		}
		for ; next < t.first+len(t.weights); next++ {
			if next < t.first {
				continue // between two sent rows, needed by neither
			}
			read(r.Min.X, next, full)
			mixAcross(ring[next%depth], full, across)
		}
		clear(sum)
		for k, weight := range t.weights {
			for i, v := range ring[(t.first+k)%depth] {
				sum[i] += weight * v
			}
		}
		putRow(out.Pix[y*out.Stride:y*out.Stride+4*w], sum)
	}
	return out, nil
}

func mixAcross(out, row []float32, across []taps) {
	for x, t := range across {
		var r, g, b, a float32
		at := row[4*t.first:]
		for k, weight := range t.weights {
			p := at[4*k : 4*k+4 : 4*k+4]
			r += weight * p[0]
			g += weight * p[1]
			b += weight * p[2]
			a += weight * p[3]
		}
		o := out[4*x : 4*x+4 : 4*x+4]
		o[0], o[1], o[2], o[3] = r, g, b, a
	}
}

// putRow turns mixed pixels back into plain ones: the kernel overshoots, so
// values are cut, and alpha is divided out.
func putRow(out []uint8, sum []float32) {
	for i := 0; i < len(sum); i += 4 {
		a := min(max(sum[i+3], 0), 255)
		if a < 0.5 {
			clear(out[i : i+4])
			continue
		}
		for c := range 3 {
			out[i+c] = uint8(min(max(sum[i+c], 0)*255/a, 255) + 0.5)
		}
		out[i+3] = uint8(a + 0.5)
	}
}
