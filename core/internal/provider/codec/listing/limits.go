package listing

const (
	// maxID in bytes: ids are shown and compared; the longest in use have some hundred.
	maxID = 300
	// maxModels bounds one list; the longest known, of an aggregator, has some hundreds,
	// of a hub some thousands.
	maxModels = 20_000
	// maxTokens is more than any model holds; what is above is no number of tokens.
	maxTokens = 1 << 30
)
