package bedrock

const (
	// maxBlocks bounds the content blocks of one answer, far over what models make.
	maxBlocks = 1024
	// maxID and maxName bound a toolUseId and a tool's name (Bedrock's API reference,
	// ToolUseBlock and ToolSpecification: at most 64).
	maxID   = 64
	maxName = 64
	// maxFrame bounds one frame: an event holds a piece of an answer, far below it.
	maxFrame = 8 << 20
	// preludeLen and leastFrame are the bytes of a frame before its headers (length,
	// length of the headers, checksum of both) and of one without headers and payload
	// (AWS's "Event stream encoding").
	preludeLen = 12
	leastFrame = 16
	// redactedMark begins the Signature of a reasoning part that came as
	// redactedContent: its words are hidden, and it must go back as it came.
	redactedMark = "redacted:"
)
