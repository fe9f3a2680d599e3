package prompt

// How much of other people's text a prompt takes, in bytes. A prompt is paid for
// on every round, so each bound is what helps and no more.
const (
	maxProject  = 24 << 10  // AGENTS.md or CLAUDE.md: long ones repeat what the code says
	maxRepoMap  = 32 << 10  // about 8,000 tokens of tree and README
	maxDiff     = 120 << 10 // a reviewer reads the rest with its tools
	maxOutput   = 8 << 10   // of one check: errors are at the ends
	maxSummary  = 4 << 10   // of one attempt or author
	maxFindings = 30        // of one earlier attempt
	maxFinding  = 1 << 10
	maxList     = 60 // lines of siblings, looks, rungs
)
