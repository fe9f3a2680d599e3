package envelope

const (
	// maxBody of a request: the largest that a provider takes is 50 MB (OpenAI's guide,
	// "Images and vision", 2026-11: "Up to 50 MB total payload size per request").
	maxBody = 64 << 20
	// maxDepth of nested values: the JSON Schema of a tool is the deepest part of real
	// requests and stays under thirty.
	maxDepth = 256
	// maxValues bounds the memory that a request of many tiny values takes: a node is 32
	// bytes, and a dialogue of a whole day has some ten thousand of them.
	maxValues = 1 << 20
	// maxPictures of one request: the most that a provider takes is 3000 (Vertex AI's
	// documentation, "Image understanding"); more is no dialogue.
	maxPictures = 4096
	// fewKeys is up to how many keys an object's doubled ones are looked for without a map.
	fewKeys = 16
	// maxName is how long a tool's name may be on every wire (OpenAI and Anthropic: 64).
	maxName = 64
	// maxQuoted bounds a foreign word inside of an error's text.
	maxQuoted = 60
)
