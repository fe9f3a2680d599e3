// Package e2e holds the tests of the whole program: the real binary with real
// git, NATS and SQLite, against providers that play by the real ones' rules. It
// holds no code that the program runs.
package e2e
