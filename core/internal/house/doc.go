// Package house keeps the rules of the house that a machine can keep: who may
// import whom, which package is the door of which outside module, how long a
// file may get, what must be documented and which words stay out. It holds only
// tests, reads only source text, and is never imported.
package house
