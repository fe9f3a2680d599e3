package ollama

// The context that is asked for, and what it is worked out from.
const (
	// leastContext is the smallest num_ctx that is asked for: Ollama's own default on a
	// machine of 24 GiB of video memory, where a smaller one gets 4,096 (Ollama's
	// documentation, "Context length"), too few for an agent's first prompt. It is one
	// number for small requests and large ones alike, since every change of num_ctx
	// loads the model anew.
	leastContext = 32 << 10
	// mostContext bounds what is asked for; a model with less gets less ("requested
	// context size too large for model", Ollama's log, open-webui#26457).
	mostContext = 1 << 20
	// bytesPerToken is low on purpose (English and code have three to four): a context
	// that is too large costs memory, one that is too small costs the answer.
	bytesPerToken = 3
	// pixelsPerToken is that of Qwen's vision models, which spend the most of those that
	// Ollama serves: patches of 14 pixels, four of them a token (ollama#11217).
	pixelsPerToken = 28 * 28
	// pictureTokens is spent on a picture beside its pixels, and where its size is unknown.
	pictureTokens = 256
	// answerTokens is the room for the answer, thinking included, when the request asks
	// for more or does not say: a longer one ends with done_reason length.
	answerTokens = 8 << 10
)

// maxCalls bounds the calls of one answer: far over what models make at once.
const maxCalls = 256
