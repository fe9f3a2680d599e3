package picture

import "time"

// The limits of one picture. Each can be lowered in Options; tests do.
const (
	// maxBytes of a file; larger ones are exports, not screenshots.
	maxBytes = 40 << 20
	// maxPixels is what the memory promise allows at four bytes a pixel.
	maxPixels = 36_000_000
	// maxMemory is promised for one picture: the file, the decoded pixels and
	// what the decoder holds beside them.
	maxMemory = 300 << 20
	// maxScans of a JPEG. The largest number seen in a real one is 18; a valid
	// file of 120 KB with a thousand scans costs 18 s.
	maxScans = 64
	// maxSent is what every provider takes: 3.5 MiB are less than the 5 MiB of
	// base64 that Anthropic allows ("Vision", API documentation).
	maxSent = 3<<20 + 1<<19
	// DefaultMaxEdge is the longest edge that Anthropic's models read without
	// scaling on their side ("Vision", API documentation).
	DefaultMaxEdge = 1568
	// MinMaxEdge and MaxMaxEdge bound what an agent may ask for.
	MinMaxEdge = 256
	MaxMaxEdge = 2576
	// maxTime for one picture, from the free place to the encoded bytes.
	maxTime = 30 * time.Second
	// maxAtOnce bounds the memory of all preparations: twice maxMemory.
	maxAtOnce = 2
	// maxShrinks by a fifth end the ladder: a tenth of the edge is left then.
	maxShrinks = 10
	// tokenPixels is the pixels a token covers ("Vision", Anthropic's API documentation).
	tokenPixels = 750
	// maxLinks followed by hand, as many as Linux follows.
	maxLinks = 40
	// unzipped of a gzip file is enough to see whether it is an SVG.
	unzipped = 4 << 10
	// readable is the reduction beyond which small text is lost: at 2 a letter
	// of 16 pixels is still 8 high.
	readable = 2.0
)

// The qualities of the JPEG ladder, tried in this order.
var qualities = [...]int{90, 75}
