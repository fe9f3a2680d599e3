package pngwrite

//go:noescape
func paethBlocks(dst, row, left, above, corner *byte, n int)

//go:noescape
func weightBlocks(row *byte, n int) int

// paethRow is paethScalar, sixteen bytes at a time.
func paethRow(dst, row, left, above, corner []byte) {
	n := len(dst) &^ 15
	row, left, above, corner = row[:len(dst)], left[:len(dst)], above[:len(dst)], corner[:len(dst)]
	if n > 0 {
		paethBlocks(&dst[0], &row[0], &left[0], &above[0], &corner[0], n)
	}
	paethScalar(dst[n:], row[n:], left[n:], above[n:], corner[n:])
}

// weight is weightScalar, sixteen bytes at a time.
func weight(row []byte) int {
	n := len(row) &^ 15
	if n == 0 {
		return weightScalar(row)
	}
	return weightBlocks(&row[0], n) + weightScalar(row[n:])
}
