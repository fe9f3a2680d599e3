package resample

// What follows says what the kernels do, number by number; those in assembly give the same.

// tile is how many sums are held at once, in the first-level cache.
const tile = 512

// mixDownScalar mixes rows of bytes into one row with extraBits below a level, cut to an int16.
func mixDownScalar(out []int16, rows [][]byte, weights []int16, bits uint) {
	var sums [tile]int32
	shift := bits - extraBits
	for at := 0; at < len(out); at += tile {
		to := out[at:min(at+tile, len(out))]
		sum := sums[:len(to)]
		for i := range sum {
			sum[i] = 1 << (shift - 1)
		}
		for k, w := range weights {
			row := rows[k][at : at+len(sum)]
			for i, v := range row {
				sum[i] += int32(w) * int32(v)
			}
		}
		for i, v := range sum {
			to[i] = int16(min(max(v>>shift, -1<<15), 1<<15-1))
		}
	}
}

// level rounds a sum to a byte.
func level(sum int64, shift uint) byte {
	return byte(min(max((sum+1<<(shift-1))>>shift, 0), 255))
}

// mixPlaneScalar mixes each byte of out from neighbours in mid.
func mixPlaneScalar(out []byte, mid []int16, a *axis, from int) {
	shift := a.bits + extraBits
	for x := from; x < len(out); x++ {
		first, weights := a.window(x)
		row := mid[first : first+len(weights)]
		var sum int64
		for k, w := range weights {
			sum += int64(w) * int64(row[k])
		}
		out[x] = level(sum, shift)
	}
}

// mixPixelsScalar mixes each pixel of out, four bytes, from neighbours in mid of three or four
// numbers; of three, the fourth is 255.
func mixPixelsScalar(out []byte, mid []int16, a *axis, l Layout) {
	shift, step := a.bits+extraBits, int(l)
	for x := range len(out) / 4 {
		first, weights := a.window(x)
		row := mid[first*step : (first+len(weights))*step]
		var r, g, b, alpha int64
		for k, w := range weights {
			p := row[k*step : k*step+step]
			r += int64(w) * int64(p[0])
			g += int64(w) * int64(p[1])
			b += int64(w) * int64(p[2])
			alpha += int64(w) * int64(p[step-1])
		}
		o := out[4*x : 4*x+4 : 4*x+4]
		o[0], o[1], o[2], o[3] = level(r, shift), level(g, shift), level(b, shift), 255
		if l == NRGBA {
			o[3] = level(alpha, shift)
		}
	}
}

// mixDownAlphaScalar mixes rows of pixels with alpha into one row of colours times alpha and of
// alpha times 255: 0..65025 and the kernel's overshoot. With ready, colours are times alpha already.
func mixDownAlphaScalar(out []int32, rows [][]byte, weights []int16, bits uint, ready bool) {
	for i := 0; i < len(out); i += 4 {
		var r, g, b, alpha int64
		for k, w := range weights {
			p := rows[k][i : i+4 : i+4]
			a := int64(w) * 255
			alpha += a * int64(p[3])
			if !ready {
				a = int64(w) * int64(p[3])
			}
			r += a * int64(p[0])
			g += a * int64(p[1])
			b += a * int64(p[2])
		}
		o, half := out[i:i+4:i+4], int64(1)<<(bits-1)
		o[0], o[1] = int32((r+half)>>bits), int32((g+half)>>bits)     //nolint:gosec // 17 bits and a sign
		o[2], o[3] = int32((b+half)>>bits), int32((alpha+half)>>bits) //nolint:gosec // 17 bits and a sign
	}
}

// mixAcrossAlphaScalar mixes each pixel of out, four numbers, from neighbours in mid.
func mixAcrossAlphaScalar(out, mid []int32, a *axis) {
	half := int64(1) << (a.bits - 1)
	for x := range len(out) / 4 {
		first, weights := a.window(x)
		row := mid[4*first : 4*(first+len(weights))]
		var sum [4]int64
		for k, w := range weights {
			p := row[4*k : 4*k+4 : 4*k+4]
			for c, v := range p {
				sum[c] += int64(w) * int64(v)
			}
		}
		for c, v := range sum {
			out[4*x+c] = int32((v + half) >> a.bits) //nolint:gosec // 17 bits and a sign
		}
	}
}

// divideAlpha turns mixed colours back into plain ones. What is wholly transparent has no colour.
func divideAlpha(out []byte, sums []int32) {
	const full = 255 * 255
	for i := 0; i < len(sums); i += 4 {
		p, o := sums[i:i+4:i+4], out[i:i+4:i+4]
		alpha := uint32(min(max(p[3], 0), full))
		a := (alpha + 127) / 255
		o[3] = byte(a)
		if a == 0 {
			o[0], o[1], o[2] = 0, 0, 0
			continue
		}
		for c := range 3 {
			v := uint32(max(p[c], 0))
			if alpha == full {
				v = (v + 127) / 255
			} else {
				v = (v*255 + alpha/2) / alpha
			}
			o[c] = byte(min(v, 255))
		}
	}
}

// toRGBScalar converts as color.YCbCrToRGB does (JFIF), for the pixels from one on.
func toRGBScalar(out, luma, cb, cr []byte, from int) {
	for i := from; i < len(luma); i++ {
		y, b, r := int32(luma[i])*0x10101, int32(cb[i])-128, int32(cr[i])-128
		o := out[4*i : 4*i+4 : 4*i+4]
		o[0] = cut16(y + 91881*r)
		o[1] = cut16(y - 22554*b - 46802*r)
		o[2] = cut16(y + 116130*b)
		o[3] = 255
	}
}

// cut16 is v over 1<<16, cut to a byte.
func cut16(v int32) byte { return byte(min(max(v>>16, 0), 255)) }
