package refusal

// Read says why a request with pictures was refused.
func Read(Refusal) Reading { return Reading{} }
