// Package jpegread decodes JPEGs at their size, a half, a quarter or an eighth of it, from fewer frequencies where
// a smaller picture is wanted anyway. It refuses what the standard decoder refuses; sorts that it
// leaves to that one it says so of.
package jpegread
