// Package pngwrite writes PNG files for sending: how rows are filtered and packed
// follows the content, so that flat drawings and photos both are quick and small.
// The same pixels always give the same bytes, with any number of cores. It writes
// nothing but pixels: no text, no time, no profile.
package pngwrite
