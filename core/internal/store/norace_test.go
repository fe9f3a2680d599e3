//go:build !race

package store

// raced says that this is the race detector's build, some ten times slower.
const raced = false
