package catalog

// Bounds of what is read as a table: it may come over a network when a person asks
// for a newer one. The package of 18.2.11 has 73 routes and 5,474 models in 11 MB of
// JSON, the table 350 kB and its file 90 kB.
const (
	maxJSON  = 64 << 20 // bytes of models.json
	maxEntry = 256 << 10
	maxFile  = 4 << 20  // bytes of a table's file, compressed
	maxText  = 32 << 20 // bytes of a table, so that a small file cannot fill the memory
	maxRows  = 100_000
	// maxRoutes is also how many routes may speak of one model: their sets are bits.
	maxRoutes = 256
	maxID     = 200 // bytes of an id; the longest of the package has 96
	maxURL    = 300 // bytes of a route's address
	// maxTokens is more than any model takes, and less than overflows a sum.
	maxTokens = 1 << 30
	// maxPrice in USD for a million tokens: ten times the dearest.
	maxPrice = 10_000
)
