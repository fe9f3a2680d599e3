package toolbox

import "time"

// What a tool may read, say and take. A model's context is the scarcest thing
// that a tool spends, so every answer is bounded and says what it left out.
const (
	maxText   = 20 << 20 // a file that read, edit and grep open: larger ones are data, not sources
	maxWrite  = 8 << 20  // content of one write: more than any model writes
	maxAnswer = 48 << 10 // bytes of one answer of read, ls, glob and grep, about 12,000 tokens
	maxLines  = 2000     // lines of one read
	maxLine   = 2000     // characters of one line in read; minified files have lines of megabytes
	maxHit    = 300      // characters of one line in grep
	maxHits   = 200      // lines of one grep
	maxNames  = 500      // names of one ls or glob
	maxWalk   = 200_000  // entries that one glob or grep walks over
	sniff     = 8000     // bytes that are looked at to tell text from binary, as git does

	headOutput = 16 << 10 // of a command's output: how it began
	tailOutput = 24 << 10 // and how it ended, where errors are

	defaultTimeout = 120 * time.Second
	maxTimeout     = 600 * time.Second
	// A command has ended but something in the background holds its output open:
	// how long to wait for words that are still on their way.
	lingering = 200 * time.Millisecond
	// Close gives killed processes this long to be gone.
	closing = 2 * time.Second
	polling = 10 * time.Millisecond
)

// What is read of a PDF: enough for a long specification, and no bomb.
const (
	maxInflated    = 16 << 20  // bytes of one stream
	maxInflatedAll = 128 << 20 // and of all that are read
	maxPDFText     = 4 << 20   // bytes of text of a whole document
	maxPages       = 500
	maxObjects     = 200_000
	maxNesting     = 60 // of arrays, dictionaries and the tree of pages
)
