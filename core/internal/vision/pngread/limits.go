package pngread

const (
	// maxFile keeps every length of a chunk in 31 bits, as the PNG specification has it (5.3).
	maxFile = 1<<31 - 1

	// maxRow is the most packed bytes of a row: four times 36 megapixels in one row. A header that
	// asks for more is left to the standard decoder, before anything is allocated.
	maxRow = 1 << 28

	// window is how far back DEFLATE refers (RFC 1951, 3.2.5).
	window = 1 << 15

	// blockBytes is about what is inflated at a time: it and its window stay in the second cache.
	blockBytes = 1 << 18

	// ringBlocks are in work at a time: one in each of three steps, and one that waits.
	ringBlocks = 4

	// serialBytes of rows and less are not worth a second goroutine.
	serialBytes = 1 << 18

	// slack is how far behind a block the inflater may write while it copies whole words.
	slack = 320

	// tailMost is the buffer through which the standard decoder reads: bytes behind the end of the
	// zlib stream that it had read ahead go unseen, others are an error.
	tailMost = 4096
)
