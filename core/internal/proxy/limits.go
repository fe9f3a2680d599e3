package proxy

import "time"

const (
	// maxBody is what an envelope takes.
	maxBody = 64 << 20
	// maxNamed models are listed to a program that named one that is not there.
	maxNamed = 20
	// charsPerToken is OpenAI's rule of thumb for English.
	charsPerToken = 4
	// quietTime is how long a program that waits for a stream hears nothing: many give a
	// connection up after 60 s, some after 30.
	quietTime = 15 * time.Second
	// maxReceipts of the newest pictures are remembered, for GET /v1/relo/receipts.
	maxReceipts = 512
)
