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
	unzipped = 16 << 10
	// documentHead of a file is enough to find the first element of a document:
	// licences and lists of entities stand before it.
	documentHead = 64 << 10
	// maxPointer bounds a Git LFS pointer ("must be smaller than 1024 bytes",
	// git-lfs/git-lfs docs/spec.md).
	maxPointer = 1024
	// maxGitFile bounds the small files by which git finds its folders.
	maxGitFile = 4 << 10
	// freshly written files are read twice, because a file system's clock steps by up to a
	// hundredth of a second (CONFIG_HZ=100) and shows no second write within one step.
	freshly = 50 * time.Millisecond
	// hereBytes and hereMemory are what a picture may have, in its file and decoded, to be
	// decoded in the calling process.
	hereBytes  = 256 << 10
	hereMemory = 4 << 20
	// childMemory that a child may write to: maxMemory, the file, what is sent, and
	// the program itself; the design promises 400 MiB a picture.
	childMemory = 480 << 20
	// childHeap is where a child's garbage collector begins to work hard.
	childHeap = 360 << 20
	// childCPU for one picture. The slowest sort that is let in, a progressive JPEG
	// of 36 megapixels and 64 scans, was measured well below it.
	childCPU = 20 * time.Second
	// childSettle is how long a child keeps the memory of its last picture: an agent that
	// looks often looks again soon, and fresh memory was measured to cost as much as half of
	// the work on a large one.
	childSettle = 15 * time.Second
	// childPictures a child prepares before another takes its place, so that nothing
	// that a decoder may have left behind grows for ever.
	childPictures = 5000
	// childRest is how long an idle child is kept: a start costs some hundredths of a second.
	childRest = time.Minute
	// childWords of what a dying child says are kept, in bytes.
	childWords = 300
	// exitCPU is the exit code of a child that used up its CPU time.
	exitCPU = 9
	// readable is the reduction beyond which small text is lost: at 2 a letter
	// of 16 pixels is still 8 high.
	readable = 2.0
)

// The qualities of the JPEG ladder, tried in this order.
var qualities = [...]int{90, 75}
