package pngread

// The kernels work in place and want SSE2 only, which every amd64 has. Those for three bytes a pixel load
// four, and 16 where they do four pixels at a time; n leaves room for that.

//go:noescape
func upBlocks(row, above *byte, n int)

//go:noescape
func sub4Blocks(row *byte, n int)

//go:noescape
func sub3Blocks(row *byte, n int)

//go:noescape
func average4(row, above *byte, n int)

//go:noescape
func average3(row, above *byte, n int)

//go:noescape
func paeth4(row, above *byte, n int)

//go:noescape
func paeth3(row, above *byte, n int)

// adlerBlocks gives the sum of n bytes, and the sum of each times its distance from the end. n is a multiple of 16,
// adlerRun at most.
//
//go:noescape
func adlerBlocks(b *byte, n int) (low, high uint64)

func unUp(row, above []byte) {
	n := len(row) &^ 15
	above = above[:len(row)]
	if n > 0 {
		upBlocks(&row[0], &above[0], n)
	}
	unUpScalar(row, above, n)
}

func unSub(row []byte, size int) {
	done := 0
	switch {
	case size == 4 && len(row) >= 16:
		done = len(row) &^ 15
		sub4Blocks(&row[0], done)
	case size == 3 && len(row) >= 16:
		blocks := (len(row) - 4) / 12
		done = 12 * blocks
		sub3Blocks(&row[0], blocks)
	}
	unSubScalar(row, size, done)
}

// wholePixels is how many pixels of a row a kernel may do that loads four bytes for each.
func wholePixels(row []byte, size int) int {
	switch {
	case size == 4:
		return len(row) / 4
	case size == 3 && len(row) > 3:
		return (len(row) - 1) / 3
	}
	return 0
}

func unAverage(row, above []byte, size int) {
	n := wholePixels(row, size)
	above = above[:len(row)]
	switch {
	case n == 0:
	case size == 4:
		average4(&row[0], &above[0], n)
	default:
		average3(&row[0], &above[0], n)
	}
	unAverageScalar(row, above, size, n*size)
}

func unPaeth(row, above []byte, size int) {
	n := wholePixels(row, size)
	above = above[:len(row)]
	switch {
	case n == 0:
	case size == 4:
		paeth4(&row[0], &above[0], n)
	default:
		paeth3(&row[0], &above[0], n)
	}
	unPaethScalar(row, above, size, n*size)
}

// adler goes on with the Adler-32 checksum sum over b.
func adler(sum uint32, b []byte) uint32 {
	low, high := uint64(sum&0xffff), uint64(sum>>16)
	for len(b) >= 16 {
		n := min(len(b), adlerRun) &^ 15
		l, h := adlerBlocks(&b[0], n)
		high = (high + low*uint64(n) + h) % adlerMod
		low = (low + l) % adlerMod
		b = b[n:]
	}
	return adlerScalar(uint32(high<<16|low), b)
}
