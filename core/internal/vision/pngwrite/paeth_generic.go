package pngwrite

func paethRow(dst, row, left, above, corner []byte) {
	paethScalar(dst, row, left, above, corner)
}
