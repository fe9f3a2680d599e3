// Package pngread decodes the common sorts of PNG row by row, so that a picture
// can be reduced while it is read. What it accepts, refuses and shows is what the
// standard decoder does; sorts that it leaves to that one it says so of.
package pngread
