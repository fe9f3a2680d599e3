package showing

import "time"

// The limits of relo_image (contracts, "The hub's tools").
const (
	// PerCall is the most paths of one call. The tool's schema says it too.
	PerCall = 4
	// BytesPerCall of all pictures of one call, encoded: more than this fills half of
	// the smallest request that a provider takes (20 MB, as base64 a third more).
	BytesPerCall = 12 << 20
	// CallsPerMinute an agent may make: a loop that looks without acting is stopped,
	// one that works is not.
	CallsPerMinute = 30
	// AtOnce is how many pictures of a job are prepared at a time: two cores are busy
	// with two, and two at their most fill the memory that preparing may take.
	AtOnce = 2
	// TimePerCall bounds a call from its first place to its last picture.
	TimePerCall = 30 * time.Second
)
