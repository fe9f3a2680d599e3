package pngread

// spread gives the function that brings an unfiltered row to the header's layout. It is nil where
// the row is in it already.
func (r *Reader) spread() func(dst, src []byte) {
	switch {
	case r.kind == indexed:
		return r.spreadIndexed()
	case r.kind == grey && r.depth < 8:
		return r.spreadLevels()
	case r.depth == 16:
		return r.spreadDeep()
	case r.kind == greyAlpha:
		return func(dst, src []byte) {
			for i := 0; i+1 < len(src) && 2*i+3 < len(dst); i += 2 {
				y := src[i]
				dst[2*i], dst[2*i+1], dst[2*i+2], dst[2*i+3] = y, y, y, src[i+1]
			}
		}
	case r.kind == grey && r.keyed:
		key := r.clear[1]
		return func(dst, src []byte) {
			for i, y := range src {
				putLevel(dst[4*i:], y, y == key)
			}
		}
	case r.kind == colour && r.keyed:
		key := [3]byte{r.clear[1], r.clear[3], r.clear[5]}
		return func(dst, src []byte) {
			for ; len(src) >= 3; src, dst = src[3:], dst[4:] {
				c := [3]byte(src)
				putColour(dst, c, c == key)
			}
		}
	}
	return nil
}

// putLevel writes one grey pixel of the layout NRGBA.
func putLevel(dst []byte, y byte, clear bool) { putColour(dst, [3]byte{y, y, y}, clear) }

// putColour writes one pixel of the layout NRGBA. Its colour stays where nothing of it is seen.
func putColour(dst []byte, c [3]byte, clear bool) {
	dst = dst[:4]
	dst[0], dst[1], dst[2], dst[3] = c[0], c[1], c[2], 255
	if clear {
		dst[3] = 0
	}
}

// eachBits calls set with each pixel's sample of 1, 2, 4 or 8 bits, the highest bits first.
func (r *Reader) eachBits(src []byte, set func(x int, v byte)) {
	each, depth := 8/r.depth, r.depth
	for x := 0; x < r.width; {
		b := src[x/each]
		for range min(each, r.width-x) {
			set(x, b>>(8-depth))
			b <<= depth
			x++
		}
	}
}

func (r *Reader) spreadLevels() func(dst, src []byte) {
	by, key, keyed := spreadBy[r.depth], r.clear[1], r.keyed
	return func(dst, src []byte) {
		r.eachBits(src, func(x int, v byte) {
			y := v * by
			if keyed {
				putLevel(dst[4*x:], y, y == key)
			} else {
				dst[x] = y
			}
		})
	}
}

func (r *Reader) spreadIndexed() func(dst, src []byte) {
	switch {
	case r.depth == 8 && r.keyed:
		return func(dst, src []byte) {
			for ; len(src) > 0 && len(dst) >= 4; src, dst = src[1:], dst[4:] {
				*(*[4]byte)(dst) = r.palette[src[0]]
			}
		}
	case r.depth == 8:
		return func(dst, src []byte) {
			for ; len(src) > 0 && len(dst) >= 3; src, dst = src[1:], dst[3:] {
				*(*[3]byte)(dst) = [3]byte(r.palette[src[0]][:])
			}
		}
	}
	n := int(r.layout())
	return func(dst, src []byte) {
		r.eachBits(src, func(x int, v byte) { copy(dst[n*x:n*x+n], r.palette[v][:]) })
	}
}

// spreadDeep keeps the high byte of each sample of 16 bits. A key is compared with all 16.
func (r *Reader) spreadDeep() func(dst, src []byte) {
	switch {
	case r.kind == greyAlpha:
		return func(dst, src []byte) {
			for ; len(src) >= 4; src, dst = src[4:], dst[4:] {
				dst[0], dst[1], dst[2], dst[3] = src[0], src[0], src[0], src[2]
			}
		}
	case r.kind == grey && r.keyed:
		key := [2]byte(r.clear[:])
		return func(dst, src []byte) {
			for ; len(src) >= 2; src, dst = src[2:], dst[4:] {
				putLevel(dst, src[0], [2]byte(src) == key)
			}
		}
	case r.kind == colour && r.keyed:
		return func(dst, src []byte) {
			for ; len(src) >= 6; src, dst = src[6:], dst[4:] {
				putColour(dst, [3]byte{src[0], src[2], src[4]}, [6]byte(src) == r.clear)
			}
		}
	}
	return func(dst, src []byte) { // one byte a sample is the layout's own
		for i := range dst {
			dst[i] = src[2*i]
		}
	}
}
