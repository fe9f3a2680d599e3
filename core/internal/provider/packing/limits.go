package packing

const (
	// bytesPerToken is OpenAI's rule of thumb for English, which the ledger uses too.
	bytesPerToken = 4
	// pixelsPerToken is what Anthropic's guide "Vision" said of all its models until 2026, and the
	// default for models whose own rule is not known.
	pixelsPerToken = 750
	// overhead in bytes is what a picture costs in a body beside its base64: keys, the media
	// type, the words that say whose it is.
	overhead = 512
	// plainLine and describedLine bound in bytes what stands in the place of a picture that
	// became words; a description has about 250 words.
	plainLine     = 512
	describedLine = 4 << 10
	// reserve in bytes is kept free of a request's limit for what a wire adds to the text:
	// names of fields, schemas of tools, escaping.
	reserve = 64 << 10
	// ampleBytes is the most that a picture which must be made to fit may have where nothing
	// names a limit: what every provider takes of one picture.
	ampleBytes = 3<<20 + 1<<19
	// roomBytes is the least that a picture which is made to fit may take though it was smaller,
	// and growth how many times its own size: a padded, converted or reduced one may grow, since
	// reduced letters have more colours.
	roomBytes = 256 << 10
	growth    = 2
	// leastBytes is the least that pictures are made for want of room: below it a screenshot can
	// no longer be read, and words tell more.
	leastBytes = 64 << 10
	// countSteps parts the most pictures of a request: so many leave at once when it is
	// passed, so that the beginning stays the same over some rounds.
	countSteps = 4

	// maxHeader bounds a data URL before its comma.
	maxHeader = 256
	// leastBlob in characters of base64: shorter data URLs of other kinds are read as the text they are.
	leastBlob = 512
	// maxLifted bounds the pictures taken from one text: as many as the strictest well-known
	// wire takes in a request.
	maxLifted = 20

	// lowWater of the room is left by a compaction, in quarters, so that the next rounds need none.
	lowWater = 3
	// freshRounds are the newest answers of the model whose results are never shortened.
	freshRounds = 2
	// headKept and tailKept are the bytes that stay of a shortened result; one shorter than
	// longResult is left whole, since nothing would be won.
	headKept   = 1200
	tailKept   = 600
	longResult = 2400
)
