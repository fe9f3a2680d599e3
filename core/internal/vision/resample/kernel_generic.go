//go:build !amd64

package resample

// fast is false: there are no kernels for this processor.
var fast = false

func mixRows(dst []byte, rows [][]byte, weights []int16, _ []*byte) { mixRowsPlain(dst, rows, weights) }

func mixAcross4(dst, src []byte, t *taps) { mixAcross4Plain(dst, src, t) }

func mixAcross1(dst, src []byte, t *taps) { mixAcross1Plain(dst, src, t) }
