// Package showing is what every call of relo_image has in common, whoever asks: the
// limits of a call and of a minute, and the shape of the answer. Who may ask, and
// where files come from, is decided by the caller.
package showing
