package found

import "time"

const (
	// dialTime bounds a knock at a local port: one where nobody listens refuses at once.
	dialTime = time.Second
	// lookTime bounds everything that one local server is asked: one that is there
	// answers in milliseconds, and whoever waits does so at a prompt.
	lookTime = 3 * time.Second
	// maxModels bounds how many models of a server are told.
	maxModels = 60
	// maxSettings bounds another program's file.
	maxSettings = 1 << 20
)
