package pngread

import "encoding/binary"

const (
	adlerMod = 65521
	// adlerRun is the most bytes after which the second sum still fits 32 bits (RFC 1950's
	// reference code), a multiple of 16.
	adlerRun = 5552
)

// adlerScalar goes on with the Adler-32 checksum sum over b, eight bytes at a time: within a word the second
// sum counts the first byte eight times and the last once, which multiplying by the weights adds
// up in the highest 16 bits.
func adlerScalar(sum uint32, b []byte) uint32 {
	const pairs = 0x00ff00ff00ff00ff
	low, high := uint64(sum&0xffff), uint64(sum>>16)
	for len(b) >= 8 {
		n := min(len(b), adlerRun) &^ 7
		run := b[:n]
		for ; len(run) >= 8; run = run[8:] {
			x := binary.LittleEndian.Uint64(run)
			even, odd := x&pairs, x>>8&pairs
			high += 8*low + even*0x0008_0006_0004_0002>>48 + odd*0x0007_0005_0003_0001>>48
			low += (even + odd) * 0x0001_0001_0001_0001 >> 48
		}
		low, high = low%adlerMod, high%adlerMod
		b = b[n:]
	}
	for _, c := range b {
		low += uint64(c)
		high += low
	}
	return uint32(high%adlerMod<<16 | low%adlerMod)
}
