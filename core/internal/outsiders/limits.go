package outsiders

import "time"

const (
	// startTime bounds the start of a server and its list: npx may have to unpack it.
	startTime = 30 * time.Second
	// callTime bounds one call; an agent that waits longer does nothing else.
	callTime = 2 * time.Minute
	// closeTime is how long a server may take to end by itself.
	closeTime = 2 * time.Second
	// maxTools of one server, and maxAll of all: each costs tokens in every request, and
	// providers refuse more than 128 (OpenAI's API reference, "tools").
	maxTools = 64
	maxAll   = 100
	// maxName is the longest name of a tool that every wire takes.
	maxName = 64
	// maxDescription in bytes of a tool, and maxSchema of its arguments.
	maxDescription = 2 << 10
	maxSchema      = 32 << 10
	// maxText of a result in bytes: head and tail of what is longer.
	maxText = 48 << 10
	// maxPictures of one result, as of relo_image.
	maxPictures = 4
	// maxSaid is how much of what a server says on its standard error is kept for words.
	maxSaid = 2 << 10
	// maxPages of a list.
	maxPages = 20
)
