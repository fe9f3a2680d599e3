package discovery

import "time"

const (
	// askTime bounds everything that is asked of one endpoint: a list is a few hundred
	// kilobytes, and nobody waits longer for one.
	askTime = 20 * time.Second
	// idleTime is how long an endpoint may be silent in the middle.
	idleTime = 10 * time.Second
	// maxPage in bytes, after decompression: OpenRouter's list, the longest known of one
	// page, has some 600 kB; 5,000 models have some 8 MB at most.
	maxPage = 16 << 20
	// maxPages ends a list that goes on and on; at 1,000 models a page none has more.
	maxPages = 20
	// perPage is what is asked for; Anthropic's and Gemini's own largest.
	perPage = 1000
	// shows is how many models of one local server are looked at one by one.
	shows = 200
	// showsAtOnce keeps a small machine's server free for its work.
	showsAtOnce = 4
	// endpointsAtOnce is how many endpoints are asked side by side.
	endpointsAtOnce = 6
)
