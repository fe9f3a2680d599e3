package pngread

// The filters of the PNG specification (9.2).
const (
	filterNone = iota
	filterSub
	filterUp
	filterAverage
	filterPaeth
)

// unfilter undoes a row's filter in place. above is the row before it, unfiltered and as long; size is the
// bytes a pixel, 1 at least.
func unfilter(filter byte, row, above []byte, size int) error {
	switch filter {
	case filterNone:
	case filterSub:
		unSub(row, size)
	case filterUp:
		unUp(row, above)
	case filterAverage:
		unAverage(row, above, size)
	case filterPaeth:
		unPaeth(row, above, size)
	default:
		return errFilter
	}
	return nil
}

// The scalar twins begin at byte from, before which the row is unfiltered already.

func unSubScalar(row []byte, size, from int) {
	for i := max(size, from); i < len(row); i++ {
		row[i] += row[i-size]
	}
}

func unUpScalar(row, above []byte, from int) {
	above = above[:len(row)]
	for i := from; i < len(row); i++ {
		row[i] += above[i]
	}
}

func unAverageScalar(row, above []byte, size, from int) {
	above = above[:len(row)]
	for i := from; i < min(size, len(row)); i++ {
		row[i] += above[i] / 2
	}
	for i := max(size, from); i < len(row); i++ {
		row[i] += byte((int(row[i-size]) + int(above[i])) / 2)
	}
}

// unPaethScalar goes through the bytes of a pixel one after the other, each with its own left and corner.
func unPaethScalar(row, above []byte, size, from int) {
	above = above[:len(row)]
	for first := from; first < min(from+size, len(row)); first++ {
		var a, c int
		if first >= size {
			a, c = int(row[first-size]), int(above[first-size])
		}
		for i := first; i < len(row); i += size {
			b := int(above[i])
			row[i] += byte(paeth(a, b, c))
			a, c = int(row[i]), b
		}
	}
}

// paeth is the one of a (left), b (above) and c (corner) that a+b-c is nearest to, earlier ones first. Between the
// smaller and the larger of a and b lies c, or 3c-a-b lies beyond one of them and tells which.
func paeth(a, b, c int) int {
	low, high, turn := min(a, b), max(a, b), 3*c-a-b
	switch {
	case turn <= low:
		return high
	case high <= turn:
		return low
	}
	return c
}
