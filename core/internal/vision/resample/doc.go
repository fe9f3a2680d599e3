// Package resample reduces pictures with the Catmull-Rom kernel, in fixed point
// and in two passes, down first and then across. The same pixels always give the
// same pixels, on every machine and with any number of cores. It never enlarges.
package resample
