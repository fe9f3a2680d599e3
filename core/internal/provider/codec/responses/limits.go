package responses

const (
	// maxID bounds an id of a call that is sent back: "string too long. Expected a string
	// with maximum length 64" (openai-python#2559's error, of call_id).
	maxID = 64
	// maxItems bounds the items of one answer, far over what models make.
	maxItems = 1024
	// mark begins the Signature of a reasoning part of this wire; behind it are the
	// item's id and its encrypted content, as they came.
	mark = "responses:"
)
