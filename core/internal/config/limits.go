package config

import "time"

const (
	// maxFile bounds a configuration file; the largest sensible one is a few
	// hundred models, and a project's file is a stranger's.
	maxFile = 1 << 20
	// maxDepth bounds nesting: the deepest key has six levels, and the parser recurses.
	maxDepth = 40
	// maxFaults bounds a report; nobody reads more.
	maxFaults = 100
	// maxSecret bounds what a file or a command may give as a key.
	maxSecret = 64 << 10
	// keyTime is how long a cmd: key may take: a password manager asks a person.
	keyTime = time.Minute
	// keyGrace is how long a stopped command may hold its output open.
	keyGrace = 5 * time.Second
	// maxBackups bounds the copies of old configurations beside the new one.
	maxBackups = 99
	// nearWords is the greatest edit distance at which a word is offered instead.
	nearWords = 3
)
