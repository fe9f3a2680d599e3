package picture

import (
	"image"
	"math"
	"slices"
)

const (
	// noise is the median difference, in levels of 255, that clean pictures stay
	// below: pages and photos were measured at 0 to 8, hidden pictures at 39 and
	// more (TestScalingAttacksAreNoted).
	noise = 16
	// halftone is the difference, in levels, between the mean of four neighbours as
	// numbers and as light, from which on they are taken for a half-tone: black and white
	// in turns is 128 as numbers and 186 as light.
	halftone = 24
	// halftones is the share of a picture that clean ones stay below: pages full of
	// fine lines were measured at 0.00 to 0.16, dithered ones at 1.00
	// (TestScalingAttacksAreNoted).
	halftones = 0.25
	// maxLost is the mean square, in levels, of what decoding a JPEG at a fraction may leave
	// out: a photo was measured at 28, a hidden picture at 6137 (TestHiddenPicturesInJPEGsAreNoted).
	// Above it, as pages of fine lines are too, the whole picture is decoded and looked at.
	maxLost = 300
	// gamma of a screen, near enough (IEC 61966-2-1).
	gamma = 2.2
	// samples a side are compared; more do not move the median.
	samples = 128
)

// sampler scales a second time at a grid of points, with the bilinear filter of
// four neighbours that most programs use, and compares the brightness with what is
// sent. A picture that hides another one for a scaler to reveal looks different
// to every scaler (Quiring and others, "Adversarial Preprocessing", USENIX Security
// 2020). It sees each source row once, so that it can watch a picture being decoded.
type sampler struct {
	across, down []sample
	uses         map[int][]use // by source row
	top, bottom  [][]float32   // brightness at each sample, mixed across
	number       [][]float32   // of the four neighbours of each sample, summed
	light        [][]float32   // the same of their light, 0..4
}

// sample is one point of the sent picture, between two source pixels.
type sample struct {
	at          int // in the sent picture
	first, next int // source pixels
	share       float32
}

// use of a source row: by which sample, as its first or its next row.
type use struct {
	sample int
	next   bool
}

// newSampler watches the part r of a source being reduced to w × h.
func newSampler(r image.Rectangle, w, h int) *sampler {
	s := &sampler{across: gridOf(r.Min.X, r.Dx(), w), down: gridOf(r.Min.Y, r.Dy(), h), uses: map[int][]use{}}
	for i, d := range s.down {
		s.uses[d.first] = append(s.uses[d.first], use{i, false})
		s.uses[d.next] = append(s.uses[d.next], use{i, true})
		for _, list := range []*[][]float32{&s.top, &s.bottom, &s.number, &s.light} {
			*list = append(*list, make([]float32, len(s.across)))
		}
	}
	return s
}

func gridOf(from, size, n int) []sample {
	scale, step := float64(size)/float64(n), max(1, n/samples)
	var all []sample
	for i := step / 2; i < n; i += step {
		centre := (float64(i)+0.5)*scale - 0.5
		first := int(math.Floor(centre))
		all = append(all, sample{
			i, from + min(max(first, 0), size-1), from + min(max(first+1, 0), size-1), float32(centre - float64(first)),
		})
	}
	return all
}

// row looks at a source row; bright gives the brightness of one of its pixels.
func (s *sampler) row(y int, bright func(x int) float32) {
	for _, u := range s.uses[y] {
		out := s.top[u.sample]
		if u.next {
			out = s.bottom[u.sample]
		}
		for i, a := range s.across {
			first, next := bright(a.first), bright(a.next)
			out[i] = first*(1-a.share) + next*a.share
			s.number[u.sample][i] += first + next
			s.light[u.sample][i] += lights[level(first)] + lights[level(next)]
		}
	}
}

// pixels looks at a row of 1, 3 or 4 bytes a pixel, as pngread gives them.
func (s *sampler) pixels(y int, row []byte, layout int) {
	if len(s.uses[y]) == 0 {
		return
	}
	s.row(y, func(x int) float32 {
		switch p := row[x*layout:]; layout {
		case 1:
			return float32(p[0])
		case 3:
			return brightness(float32(p[0]), float32(p[1]), float32(p[2]), 255)
		default:
			f := float32(p[3]) / 255
			return brightness(float32(p[0])*f, float32(p[1])*f, float32(p[2])*f, float32(p[3]))
		}
	})
}

// image looks at all the rows it needs of a decoded picture.
func (s *sampler) image(src image.Image) {
	read := rowReader(src)
	var px [4]float32
	for y := range s.uses {
		s.row(y, func(x int) float32 {
			read(x, y, px[:])
			return brightness(px[0], px[1], px[2], px[3])
		})
	}
}

// lights is the light of each level, 0..1.
var lights = func() (table [256]float32) {
	for i := range table {
		table[i] = float32(math.Pow(float64(i)/255, gamma))
	}
	return table
}()

func level(bright float32) uint8 { return uint8(min(max(bright, 0), 255) + 0.5) }

// halftones is the share of samples whose neighbours are darker as numbers, which
// scalers mix, than as light, which eyes see. A text drawn in half-tones on their own
// brightness is seen only after scaling.
func (s *sampler) halftones() float64 {
	found := 0
	for j := range s.down {
		for i := range s.across {
			seen := 255 * math.Pow(float64(s.light[j][i]/4), 1/gamma)
			if seen-float64(s.number[j][i]/4) > halftone {
				found++
			}
		}
	}
	return float64(found) / float64(len(s.down)*len(s.across))
}

// disagreement is the median difference to what is sent, in levels of 255.
func (s *sampler) disagreement(sent image.Image) float64 {
	at := brightnessOf(sent)
	all := make([]float32, 0, len(s.down)*len(s.across))
	for j, d := range s.down {
		for i, a := range s.across {
			bilinear := s.top[j][i]*(1-d.share) + s.bottom[j][i]*d.share
			all = append(all, float32(math.Abs(float64(bilinear-at(a.at, d.at)))))
		}
	}
	slices.Sort(all)
	return float64(all[len(all)/2])
}

// changes tells whether scaling shows what is not seen before.
func (s *sampler) changes(sent image.Image) bool {
	return s.disagreement(sent) > noise || s.halftones() > halftones
}

// brightnessOf reads a picture that was scaled here.
func brightnessOf(m image.Image) func(x, y int) float32 {
	switch m := m.(type) {
	case *image.Gray:
		return func(x, y int) float32 { return float32(m.Pix[y*m.Stride+x]) }
	case *image.NRGBA:
		return func(x, y int) float32 {
			p := m.Pix[y*m.Stride+4*x:]
			f := float32(p[3]) / 255
			return brightness(float32(p[0])*f, float32(p[1])*f, float32(p[2])*f, float32(p[3]))
		}
	}
	panic("picture: what was scaled is neither grey nor coloured")
}

// brightness of a colour times alpha, over white (ITU-R BT.601).
func brightness(r, g, b, a float32) float32 {
	return 0.299*r + 0.587*g + 0.114*b + 255 - a
}
