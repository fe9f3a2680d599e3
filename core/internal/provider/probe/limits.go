package probe

const (
	// edge in pixels: cheap, and over every provider's least size (Ollama 32 a side,
	// DashScope 10 a side, xAI 512 pixels in all).
	edge = 64
	// cell is how many pixels one dot of a digit's glyph takes: 35 × 49 of 64 × 64.
	cell = 7
	// maxTokens leaves a model that thinks first some room for its word.
	maxTokens = 400
	// rounds of both questions; the second only when the first is undecided.
	rounds = 2
	// enough right answers of the four of two rounds; undecided are too many for one
	// who is blind and too few for one who sees.
	enough    = 3
	undecided = 2
	// fewTokens is the most by which a count may differ without a picture in it. The
	// cheapest price of 64 × 64 pixels is Anthropic's, 64·64/750 = 5 tokens (its
	// documentation, "Vision"); others ask for 60 to 600.
	fewTokens = 3
	// leastTokens is what the question alone must count as; less is no count.
	leastTokens = 8
	// maxWords and maxQuote in runes: a line of a table holds the first, and at most
	// two answers are quoted in it.
	maxWords = 160
	maxQuote = 40
)
