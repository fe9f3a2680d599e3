//go:build !amd64

package pngread

func unSub(row []byte, size int)            { unSubScalar(row, size, 0) }
func unUp(row, above []byte)                { unUpScalar(row, above, 0) }
func unAverage(row, above []byte, size int) { unAverageScalar(row, above, size, 0) }
func unPaeth(row, above []byte, size int)   { unPaethScalar(row, above, size, 0) }

func adler(sum uint32, b []byte) uint32 { return adlerScalar(sum, b) }
