package resample

// mixRowsPlain is the reference of mixRows.
func mixRowsPlain(dst []byte, rows [][]byte, weights []int16) {
	for i := range dst {
		acc := int32(half)
		for k, row := range rows {
			acc += int32(weights[k]) * int32(row[i])
		}
		dst[i] = cut(acc)
	}
}

// mixAcross4Plain is the reference of mixAcross4.
func mixAcross4Plain(dst, src []byte, t *taps) {
	for x, tap := range t.list {
		r, g, b, a := int32(half), int32(half), int32(half), int32(half)
		at := src[4*int(tap.first):]
		for k, w := range t.weights[tap.weight:][:t.real] {
			p, w := at[4*k:4*k+4:4*k+4], int32(w)
			r += w * int32(p[0])
			g += w * int32(p[1])
			b += w * int32(p[2])
			a += w * int32(p[3])
		}
		o := dst[4*x : 4*x+4 : 4*x+4]
		o[0], o[1], o[2], o[3] = cut(r), cut(g), cut(b), cut(a)
	}
}

// mixAcross1Plain is the reference of mixAcross1.
func mixAcross1Plain(dst, src []byte, t *taps) {
	for x, tap := range t.list {
		acc := int32(half)
		at := src[tap.first:]
		for k, w := range t.weights[tap.weight:][:t.real] {
			acc += int32(w) * int32(at[k])
		}
		dst[x] = cut(acc)
	}
}

// cut gives the level of a sum of weighted levels; the kernel overshoots.
func cut(acc int32) byte {
	return uint8(min(max(acc>>bits, 0), 255)) //nolint:gosec // bounded here
}
