package double

// The limits that the real ones have.
const (
	// maxRequest is Anthropic's: "32 MB for the Messages API" (its documentation,
	// "Errors", request_too_large). OpenAI takes more; the double does not need it.
	maxRequest = 32 << 20
	// maxBase64 is Anthropic's for one picture: "image exceeds 5 MB maximum: … bytes >
	// 5242880 bytes", counted in base64 (claude-code#8202).
	maxBase64 = 5 << 20
	// maxEdge and maxEdgeMany are Anthropic's, the second for requests of more than
	// manyPictures (claude-code#27090, #52220; its documentation, "Vision").
	maxEdge      = 8000
	maxEdgeMany  = 2000
	manyPictures = 20
	// maxPictures: "Too much media: 0 document pages + 101 images > 100".
	maxPictures = 100
	// maxDataURL is OpenAI's for one picture ("below 20 MB in size").
	maxDataURL = 20 << 20
	// maxCallID is OpenAI's: "Expected a string with maximum length 40".
	maxCallID = 40
	// maxBedrockPictures, maxBedrockBytes and maxEdge are Bedrock's: "up to 20 images. Each
	// image's size, height, and width must be no more than 3.75 MB, 8000 px, and 8000 px"
	// (its API reference, Message). The double counts them over a request.
	maxBedrockPictures = 20
	maxBedrockBytes    = 3932160
	// maxBedrockName is Bedrock's for a tool's name and a toolUseId.
	maxBedrockName = 64
	// maxDecode is the size in pixels up to which a picture is decoded whole to see
	// whether it can be read; over it only its header is.
	maxDecode = 16 << 20

	charsPerToken  = 4   // OpenAI's rule of thumb for English
	pixelsPerToken = 750 // Anthropic's documentation, "Vision": width × height / 750
	textPiece      = 24  // characters of text in one event of a stream
)
