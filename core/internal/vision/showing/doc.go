// Package showing is what every call of relo_image has in common, whoever asks: the
// limits of a call, of a minute and of a job, and the shape of the answer. Who may
// ask, and where files come from, is decided by the caller; it opens no file.
package showing
