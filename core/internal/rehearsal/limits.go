package rehearsal

import "time"

const (
	// A turn takes 60 to 160 ms: some thirty turns, two at a time and with what the
	// tools take, are a demo of about ten seconds.
	shortestPause = 60 * time.Millisecond
	pauseStep     = 10 * time.Millisecond
	pauses        = 11

	readHeader = 5 * time.Second // the clients are on this machine
	closing    = 2 * time.Second // for answers that are being written; delays end at once

	maxShapes = 64  // more areas of one colour than that, and a picture is no drawn card
	maxTail   = 600 // bytes of output that a report quotes, from the end
)
