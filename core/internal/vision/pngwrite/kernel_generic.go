//go:build !amd64

package pngwrite

func paethRow(dst, row, left, above, corner []byte) {
	paethScalar(dst, row, left, above, corner)
}

func weight(row []byte) int { return weightScalar(row) }
