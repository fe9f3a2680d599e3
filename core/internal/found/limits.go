package found

import "time"

const (
	// askTime bounds one question to a local server: one that is there answers in
	// milliseconds, one that is not refuses at once.
	askTime = time.Second
	// maxAnswer bounds an answer: a list of hundreds of models has some 200 kB.
	maxAnswer = 4 << 20
	// maxModels bounds how many models of a server are told.
	maxModels = 60
	// asked is how many models are asked about at a time.
	asked = 8
	// maxSettings bounds another program's file.
	maxSettings = 1 << 20
)
