package chat

const (
	// maxID is how long OpenAI takes the id of a call: "string too long. Expected a
	// string with maximum length 40".
	maxID = 40
	// shortID is the exact length of an id at Mistral.
	shortID = 9
	// maxCalls bounds the calls of one answer: far over what models make at once
	// (OpenAI takes at most 128 tools).
	maxCalls = 256
)
