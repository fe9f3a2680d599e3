// Package jpegread decodes baseline JPEGs at a half, a quarter or an eighth of
// their size, from fewer frequencies, when a smaller picture is wanted anyway. It
// refuses what the standard decoder refuses; sorts that it leaves to that one it
// says so of.
package jpegread
