//go:build !amd64

package resample

// vector is false: there are no kernels for this processor.
var vector = false

func mixDown(out []int16, rows [][]byte, weights []int16, bits uint) {
	mixDownScalar(out, rows, weights, bits)
}

func mixPlane(out []byte, mid []int16, a *axis) { mixPlaneScalar(out, mid, a, 0) }

func mixPixels(out []byte, mid []int16, a *axis, l Layout) { mixPixelsScalar(out, mid, a, l) }

func mixDownAlpha(out []int32, rows [][]byte, weights []int16, bits uint, ready bool) {
	mixDownAlphaScalar(out, rows, weights, bits, ready)
}

func mixAcrossAlpha(out, mid []int32, a *axis) { mixAcrossAlphaScalar(out, mid, a) }

func toRGB(out, luma, cb, cr []byte) { toRGBScalar(out, luma, cb, cr, 0) }
