package bus

import "time"

const (
	// maxPayload bounds one message: a chunk of a picture in base64 (4 MiB raw)
	// with its envelope. The server's own advice is to stay at or below 8 MiB.
	maxPayload = 8 << 20
	// readyWait bounds the embedded server's start; it takes some 20 ms.
	readyWait = 10 * time.Second
	// ackWait is how long the broker waits for a worker's ack of a task. A worker
	// acks as soon as its claim is answered; a redelivery is harmless (the record
	// answers the second claim), so the bound is short.
	ackWait = 20 * time.Second
	// progressEvery is how often an endpoint that is still at work says so, and
	// quietMax how long a caller waits without hearing anything: three missed
	// signs of life and a margin.
	progressEvery = 2 * time.Second
	quietMax      = 8 * time.Second
	// eventBytes bounds the news stream; it can be refilled from the record.
	eventBytes = 256 << 20
	// dedupeWindow is the broker's memory of message ids.
	dedupeWindow = 2 * time.Minute
	// drainWait bounds the goodbye of a connection.
	drainWait = 2 * time.Second
)
