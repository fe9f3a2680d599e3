package hub

import "time"

const (
	// maxLine of a message on a pair of streams. The longest that an honest client
	// sends is a call with four paths of 4096 bytes.
	maxLine = 1 << 20
	// maxBody of a request over HTTP, for the same reason.
	maxBody = maxLine
	// lastWord is how long a client that has closed its end is still answered what it
	// asked before: a script that pipes its requests in gets its answers.
	lastWord = time.Second
	// restTime ends a connection over HTTP that nobody uses: agents that go away
	// seldom say so.
	restTime = 30 * time.Minute
)
