// Package envelope reads requests of other people's programs: the transcript in them, and
// where their pictures are, so that these can be changed while every other byte stays; and
// writes answers in the same wire's words. It opens no connection.
package envelope
