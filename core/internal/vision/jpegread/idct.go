package jpegread

import "encoding/binary"

// The inverse DCT of T.81 A.3.3, and the same for the lowest 4×4, 2×2 or 1 of a block's frequencies, which give its pixels at
// a half, a quarter, an eighth of the size: a basis function of 8 samples, cos((2x+1)uπ/16), is at a half of them
// cos((2x+1)uπ/8), and so on, with the weight that leaves a mean a mean. Each of the two passes computes
// 2√2 times its samples, so that the mean and frequency 4 need no product; constants have scale bits after the
// point and nothing is rounded before the end.
const (
	scale = 12

	// √2·cos(uπ/16), u 1 to 7 without 4.
	c1 = 5681 // 1.387040
	c2 = 5352 // 1.306563
	c3 = 4816 // 1.175876
	c5 = 3218 // 0.785695
	c6 = 2217 // 0.541196
	c7 = 1130 // 0.275899
)

// finish is how far both passes' results are above a sample, and half of that with the level shift of 128.
const (
	finish = 2*scale + 3
	middle = 1<<(finish-1) + 128<<finish
)

// sample takes a value to 0…255.
func sample(v int) uint64 {
	if uint(v) > 255 {
		return uint64(^(v >> 63) & 255)
	}
	return uint64(v)
}

// mean is the sample of a block that is nothing but its mean.
func mean(c int16) uint64 { return sample((int(c)+4)>>3 + 128) }

func render8(line []byte, stride int, coefs []int16, last []int8) {
	for i, k := range last {
		if k == noBlock {
			continue
		}
		to := line[8*i:]
		if k == 0 {
			v := mean(coefs[64*i]) * 0x0101010101010101
			for y := range 8 {
				binary.LittleEndian.PutUint64(to[y*stride:], v)
			}
			continue
		}
		in := (*[64]int16)(coefs[64*i:])
		if k <= lastOfFour {
			idct8of4(to, stride, in)
		} else {
			idct8(to, stride, in)
		}
	}
}

// idct8 makes 8×8 pixels.
func idct8(to []byte, stride int, in *[64]int16) {
	var mid [64]int
	for x := range 8 {
		a0, a1, a2, a3 := int(in[x]), int(in[8+x]), int(in[16+x]), int(in[24+x])
		a4, a5, a6, a7 := int(in[32+x]), int(in[40+x]), int(in[48+x]), int(in[56+x])
		if a1|a2|a3|a4|a5|a6|a7 == 0 {
			a0 <<= scale
			for y := 0; y < 64; y += 8 {
				mid[y+x] = a0
			}
			continue
		}
		s, t := (a0+a4)<<scale, (a0-a4)<<scale
		u, v := a2*c2+a6*c6, a2*c6-a6*c2
		e0, e1, e2, e3 := s+u, t+v, t-v, s-u
		o0 := a1*c1 + a3*c3 + a5*c5 + a7*c7
		o1 := a1*c3 - a3*c7 - a5*c1 - a7*c5
		o2 := a1*c5 - a3*c1 + a5*c7 + a7*c3
		o3 := a1*c7 - a3*c5 + a5*c3 - a7*c1
		mid[x], mid[56+x] = e0+o0, e0-o0
		mid[8+x], mid[48+x] = e1+o1, e1-o1
		mid[16+x], mid[40+x] = e2+o2, e2-o2
		mid[24+x], mid[32+x] = e3+o3, e3-o3
	}
	for y := range 8 {
		m := (*[8]int)(mid[8*y:])
		a0, a1, a2, a3, a4, a5, a6, a7 := m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7]
		s, t := (a0+a4)<<scale+middle, (a0-a4)<<scale+middle
		u, v := a2*c2+a6*c6, a2*c6-a6*c2
		e0, e1, e2, e3 := s+u, t+v, t-v, s-u
		o0 := a1*c1 + a3*c3 + a5*c5 + a7*c7
		o1 := a1*c3 - a3*c7 - a5*c1 - a7*c5
		o2 := a1*c5 - a3*c1 + a5*c7 + a7*c3
		o3 := a1*c7 - a3*c5 + a5*c3 - a7*c1
		w := sample((e0+o0)>>finish) | sample((e1+o1)>>finish)<<8 | sample((e2+o2)>>finish)<<16 | sample((e3+o3)>>finish)<<24 |
			sample((e3-o3)>>finish)<<32 | sample((e2-o2)>>finish)<<40 | sample((e1-o1)>>finish)<<48 | sample((e0-o0)>>finish)<<56
		binary.LittleEndian.PutUint64(to[y*stride:], w)
	}
}

// lastOfFour is the last coefficient, in the order of the file, before the first that is not among the lowest 4×4.
const lastOfFour = 9

// idct8of4 makes 8×8 pixels of a block with none but its lowest 4×4 frequencies: the same pixels as idct8, sooner.
func idct8of4(to []byte, stride int, in *[64]int16) {
	var mid [32]int
	for x := range 4 {
		a0, a1, a2, a3 := int(in[x])<<scale, int(in[8+x]), int(in[16+x]), int(in[24+x])
		u, v := a2*c2, a2*c6
		e0, e1, e2, e3 := a0+u, a0+v, a0-v, a0-u
		o0, o1, o2, o3 := a1*c1+a3*c3, a1*c3-a3*c7, a1*c5-a3*c1, a1*c7-a3*c5
		mid[x], mid[28+x] = e0+o0, e0-o0
		mid[4+x], mid[24+x] = e1+o1, e1-o1
		mid[8+x], mid[20+x] = e2+o2, e2-o2
		mid[12+x], mid[16+x] = e3+o3, e3-o3
	}
	for y := range 8 {
		m := (*[4]int)(mid[4*y:])
		a0, a1, a2, a3 := m[0]<<scale+middle, m[1], m[2], m[3]
		u, v := a2*c2, a2*c6
		e0, e1, e2, e3 := a0+u, a0+v, a0-v, a0-u
		o0, o1, o2, o3 := a1*c1+a3*c3, a1*c3-a3*c7, a1*c5-a3*c1, a1*c7-a3*c5
		w := sample((e0+o0)>>finish) | sample((e1+o1)>>finish)<<8 | sample((e2+o2)>>finish)<<16 | sample((e3+o3)>>finish)<<24 |
			sample((e3-o3)>>finish)<<32 | sample((e2-o2)>>finish)<<40 | sample((e1-o1)>>finish)<<48 | sample((e0-o0)>>finish)<<56
		binary.LittleEndian.PutUint64(to[y*stride:], w)
	}
}

func render4(line []byte, stride int, coefs []int16, last []int8) {
	for i, k := range last {
		if k == noBlock {
			continue
		}
		to := line[4*i:]
		if k == 0 {
			v := uint32(mean(coefs[32*i])) * 0x01010101
			for y := range 4 {
				binary.LittleEndian.PutUint32(to[y*stride:], v)
			}
			continue
		}
		idct4(to, stride, (*[16]int16)(coefs[32*i:]))
	}
}

// idct4 makes 4×4 pixels. Of the four frequencies, 2 is what frequency 4 is among eight.
func idct4(to []byte, stride int, in *[16]int16) {
	var mid [16]int
	for x := range 4 {
		a0, a1, a2, a3 := int(in[x]), int(in[4+x]), int(in[8+x]), int(in[12+x])
		e0, e1 := (a0+a2)<<scale, (a0-a2)<<scale
		o0, o1 := a1*c2+a3*c6, a1*c6-a3*c2
		mid[x], mid[4+x], mid[8+x], mid[12+x] = e0+o0, e1+o1, e1-o1, e0-o0
	}
	for y := range 4 {
		m := (*[4]int)(mid[4*y:])
		e0, e1 := (m[0]+m[2])<<scale+middle, (m[0]-m[2])<<scale+middle
		o0, o1 := m[1]*c2+m[3]*c6, m[1]*c6-m[3]*c2
		w := sample((e0+o0)>>finish) | sample((e1+o1)>>finish)<<8 | sample((e1-o1)>>finish)<<16 | sample((e0-o0)>>finish)<<24
		binary.LittleEndian.PutUint32(to[y*stride:], uint32(w))
	}
}

func render2(line []byte, stride int, coefs []int16, last []int8) {
	for i, k := range last {
		if k == noBlock {
			continue
		}
		in := (*[4]int16)(coefs[8*i:])
		a, b, c, d := int(in[0])+4+128<<3, int(in[1]), int(in[2]), int(in[3])
		up, down := line[2*i:2*i+2], line[2*i+stride:2*i+stride+2]
		up[0], up[1] = byte(sample((a+b+c+d)>>3)), byte(sample((a-b+c-d)>>3))
		down[0], down[1] = byte(sample((a+b-c-d)>>3)), byte(sample((a-b-c+d)>>3))
	}
}

func render1(line []byte, coefs []int16, last []int8) {
	for i, k := range last {
		if k != noBlock {
			line[i] = byte(mean(coefs[2*i]))
		}
	}
}
