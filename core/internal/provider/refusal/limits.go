package refusal

const (
	// maxPhrase in runes: a line of a notice holds it beside the model's name.
	maxPhrase = 120
	// maxSaid in bytes: an error's body is kept to as much (provider.MaxErrorBody), and
	// reading it takes at most some tenths of a second, whatever it holds.
	maxSaid = 8 << 10
	// maxDepth bounds how deep JSON is read, with JSON in its strings: a gateway before
	// a gateway before a provider makes three documents of four levels.
	maxDepth = 16
	// maxTries bounds how many braces of one text are tried as the start of JSON.
	maxTries = 4
	// maxGap in runes is how far the parts of a row's phrase may stand apart.
	maxGap = 80
	// minModel in runes: a shorter id could be a word of the sentence.
	minModel = 4
)
