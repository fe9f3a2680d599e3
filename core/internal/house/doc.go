// Package house tests the shape of the code itself: the floors, the sizes, the
// words. It holds no code that the program runs.
package house
