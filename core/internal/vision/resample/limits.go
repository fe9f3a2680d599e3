package resample

const (
	// weightBits: a weight is an int16 that stands for a part of 1<<weightBits, so that the kernel's
	// peak, which is 1 where nothing is reduced, fits.
	weightBits = 14

	// wideRatio is the reduction above which weights are so small that 14 bits would be coarse;
	// they get wideBits then (a peak of 1.1/wideRatio still fits) and wider sums, in plain Go.
	wideRatio = 128
	wideBits  = 21

	// phases a wide axis knows between two pixels: its kernel, hundreds of pixels wide, does not
	// change within a thirty-second of one, and a long side's weights fit into some megabytes.
	phases = 32

	// extraBits are kept below a level between the passes. With six, 255 and the kernel's overshoot
	// of an eighth fit into an int16.
	extraBits = 6

	// stripRows of the result are reduced by one goroutine at a time. At a strip's edge the rows in
	// the kernel's reach are read twice: about ten source rows of each hundred and fifty.
	stripRows = 64

	// alonePixels of source and fewer are not worth a second goroutine.
	alonePixels = 64 << 10

	// maxPooled bytes of a worker's scratch are kept for the next picture; a wide panorama's are not.
	maxPooled = 8 << 20

	// mixedLanes is how many neighbours the kernels for pixels weigh at once, planeLanes those for
	// single bytes; weights are padded with zeros to a multiple.
	mixedLanes = 4
	planeLanes = 8

	// slack is how many numbers a kernel may read behind the last one that counts.
	slack = 16
)
