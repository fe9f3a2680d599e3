// Package packing decides what one request may hold: which pictures stay, how small they
// must be made, and which become words; by the limits of the wire, the age of a picture and the
// room that is left. It decides only: bytes and pixels are others'.
package packing
