package anthropic

const (
	// defaultMaxTokens is sent when a request names no limit: the wire demands one,
	// and every current Claude model can answer at least so much.
	defaultMaxTokens = 8192
	// maxBlocks bounds the content blocks of one answer, far over what models make.
	maxBlocks = 1024
	// maxID bounds an id of a call that is sent back.
	maxID = 64
	// redactedMark begins the Signature of a reasoning part that came as
	// redacted_thinking: its words are hidden, and it must go back as it came.
	redactedMark = "redacted:"
)
