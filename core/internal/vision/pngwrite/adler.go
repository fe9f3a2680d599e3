package pngwrite

import "encoding/binary"

const (
	adlerMod = 65521
	// adlerRun is the most bytes after which the second sum still fits 32 bits (RFC 1950's
	// reference code), rounded down to whole words.
	adlerRun = 5552
)

// adler is the Adler-32 checksum of b, eight bytes at a time: within a word the second sum counts
// the first byte eight times and the last once, which multiplying by the weights adds up in the
// highest 16 bits.
func adler(b []byte) uint32 {
	const pairs = 0x00ff00ff00ff00ff
	low, high := uint64(1), uint64(0)
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

// joinAdler gives the Adler-32 of two runs of bytes from theirs; n is the second's length.
// The first run's low half is added to each of the second's n sums, less the one that every
// checksum begins with.
func joinAdler(first, second uint32, n int) uint32 {
	low := (uint64(first&0xffff) + adlerMod - 1) % adlerMod
	a := (low + uint64(second&0xffff)) % adlerMod
	b := (uint64(first>>16) + uint64(second>>16) + low*(uint64(n)%adlerMod)) % adlerMod
	return uint32(b<<16 | a)
}
