package listing

const (
	// maxID in bytes: ids are shown and compared; the longest in use have some hundred.
	maxID = 300
	// MaxModels bounds one list; the longest known, of an aggregator, has some hundreds,
	// of a hub some thousands.
	MaxModels = 20_000
	// maxOwners is how many owners are told: one says who made the list, and an
	// aggregator's many say nothing.
	maxOwners = 20
	// maxText in bytes bounds a text, or a list of words, of an entry: the longest that is
	// read, what a Modelfile sets in Ollama's parameters, has a few thousand; a list of abilities some hundred.
	maxText = 64 << 10
	// maxNext in bytes bounds where the list goes on: it becomes a part of an address, and
	// servers take those of some thousands. Gemini's tokens have some hundred.
	maxNext = 4 << 10
	// maxTokens is more than any model holds; what is above is no number of tokens.
	maxTokens = 1 << 30
	// maxSize in thousand millions of parameters: a thousand times the largest known.
	maxSize = 1e6
)
