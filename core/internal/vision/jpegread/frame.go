package jpegread

import "image"

// component is one plane of the picture.
type component struct {
	id    byte
	h, v  int // blocks of an MCU, across and down
	quant byte

	side   int // pixels of a block's side in the output: 1, 2, 4 or 8
	wide   int // blocks across, whole MCUs
	plane  []byte
	stride int

	kept  []int16  // of a progressive file: the coefficients of each block that are needed
	spots [64]int  // where in a block's the coefficients are, in the order of the file; not below room for none
	room  int      // how many a block has
	seen  []uint64 // for each block a bit for each coefficient that is not 0, in the order of the file
}

// frame is what SOF says, T.81 B.2.2.
type frame struct {
	width, height    int
	comps            []component
	baseline         bool
	progressive      bool
	lost             int64 // squares of the brightness's coefficients that were thrown away
	mcusWide, mcusUp int

	gray *image.Gray
	ycc  *image.YCbCr
}

// readFrame takes what image/jpeg takes.
func (d *decoder) readFrame(m byte, body []byte) error {
	if d.comps != nil {
		return damaged("two frames")
	}
	d.baseline, d.progressive = m == markSOF0, m == markSOF2
	n := (len(body) - 6) / 3
	if len(body) != 6+3*n || n != 1 && n != 3 && n != 4 || int(body[5]) != n {
		return damaged("frame of a wrong length")
	}
	if body[0] != 8 {
		return damaged("not eight bits a sample")
	}
	d.height = int(body[1])<<8 + int(body[2])
	d.width = int(body[3])<<8 + int(body[4])
	d.comps = make([]component, n)
	for i := range d.comps {
		s := body[6+3*i:]
		c := component{id: s[0], h: int(s[1] >> 4), v: int(s[1] & 15), quant: s[2]}
		for _, o := range d.comps[:i] {
			if o.id == c.id {
				return damaged("two components of one name")
			}
		}
		if c.quant > 3 {
			return damaged("quantisation table of a wrong number")
		}
		if !sampled(c.h) || !sampled(c.v) {
			return damaged("sampling that is not known")
		}
		d.comps[i] = c
	}
	if err := d.sampling(); err != nil {
		return err
	}
	h, v := 8*d.comps[0].h, 8*d.comps[0].v
	d.mcusWide, d.mcusUp = (d.width+h-1)/h, (d.height+v-1)/v
	return nil
}

func sampled(n int) bool { return n == 1 || n == 2 || n == 4 }

// sampling checks how the components go together. A single one is read block by block whatever it says, T.81 A.2.2;
// four are not ours, so they are not checked.
func (d *decoder) sampling() error {
	c := d.comps
	switch len(c) {
	case 1:
		c[0].h, c[0].v = 1, 1
	case 3:
		if c[0].v == 4 || c[0].h%c[1].h != 0 || c[0].v%c[1].v != 0 || c[1].h != c[2].h || c[1].v != c[2].v {
			return damaged("sampling that is not known")
		}
	}
	return nil
}

// ours tells whether this package decodes the file. How RGB is known is image/jpeg's rule.
func (d *decoder) ours() bool {
	if d.comps == nil || d.width == 0 || d.height == 0 {
		return false
	}
	if len(d.comps) == 1 {
		return true
	}
	if len(d.comps) != 3 {
		return false
	}
	if d.jfif {
		return true
	}
	if d.adobe && d.adobeTransform == 0 {
		return false
	}
	return d.comps[0].id != 'R' || d.comps[1].id != 'G' || d.comps[2].id != 'B'
}

// ratios are the chroma samplings that image/jpeg knows, and those that come of them at a smaller size.
var ratios = map[[2]int]image.YCbCrSubsampleRatio{
	{1, 1}: image.YCbCrSubsampleRatio444, {1, 2}: image.YCbCrSubsampleRatio440, {2, 1}: image.YCbCrSubsampleRatio422,
	{2, 2}: image.YCbCrSubsampleRatio420, {4, 1}: image.YCbCrSubsampleRatio411, {4, 2}: image.YCbCrSubsampleRatio410,
}

// makePlanes makes the output, as large as whole MCUs at the chosen size.
func (d *decoder) makePlanes() {
	side := 8 / d.denom
	for i := range d.comps {
		c := &d.comps[i]
		c.side, c.wide = side, d.mcusWide*c.h
	}
	y := &d.comps[0]
	whole := image.Rect(0, 0, y.wide*side, d.mcusUp*y.v*side)
	shown := image.Rect(0, 0, (d.width+d.denom-1)/d.denom, (d.height+d.denom-1)/d.denom)
	if len(d.comps) == 1 {
		m := image.NewGray(whole)
		y.plane, y.stride = m.Pix, m.Stride
		m.Rect = shown
		d.gray = m
		return
	}
	cb, cr := &d.comps[1], &d.comps[2]
	across, down := y.h/cb.h, y.v/cb.v
	for cb.side < 8 && across > 1 && down > 1 {
		cb.side, across, down = 2*cb.side, across/2, down/2
	}
	cr.side = cb.side
	m := image.NewYCbCr(whole, ratios[[2]int{across, down}])
	y.plane, y.stride = m.Y, m.YStride
	cb.plane, cb.stride = m.Cb, m.CStride
	cr.plane, cr.stride = m.Cr, m.CStride
	m.Rect = shown
	d.ycc = m
}

// picture is the finished output.
func (d *decoder) picture() image.Image {
	if d.gray != nil {
		return d.gray
	}
	return d.ycc
}
