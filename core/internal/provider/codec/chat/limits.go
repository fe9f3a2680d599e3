package chat

import "errors"

const (
	// maxID is how long OpenAI takes the id of a call: "string too long. Expected a
	// string with maximum length 40".
	maxID = 40
	// shortID is the exact length of an id at Mistral.
	shortID = 9
	// maxCalls bounds the calls of one answer: far over what models make at once
	// (OpenAI takes at most 128 tools).
	maxCalls = 256
	// maxDetails bounds the entries of reasoning_details in one answer.
	maxDetails = 256
	// maxCacheKey is how long a key of a cache is sent as it is: OpenAI takes no longer
	// ones than 64 characters.
	maxCacheKey = 64
)

var errDetails = errors.New("more reasoning_details than any answer has")
