package gemini

const (
	// maxParts bounds the parts of one answer, far over what models make.
	maxParts = 4096
	// mark begins the Signature of a part that carried a thoughtSignature of this wire.
	mark = "gemini:"
	// noThought stands for the signature of a call that another model made: Gemini 3
	// refuses a call without one (Gemini API documentation, "Thought signatures", which gives
	// this value for histories that it did not make).
	noThought = "skip_thought_signature_validator"
	// nested is the first version whose function responses hold pictures (Gemini API
	// documentation, "Function calling", multimodal function responses: Gemini 3 models).
	nested = 3
)
