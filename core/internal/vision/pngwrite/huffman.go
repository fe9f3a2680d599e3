package pngwrite

import (
	"math/bits"
	"slices"
)

// code is one symbol's code as it is written, lowest bit first.
type code struct {
	bits uint16
	len  uint8
}

// codes fills out with the canonical codes (RFC 1951, 3.2.2) that suit the counts, none longer
// than limit. A symbol that is not counted gets no code.
func codes(out []code, counts []uint32, limit int) {
	var keys [maxSymbols]uint64 // count and symbol, so that sorting has one outcome
	n := 0
	for s, c := range counts {
		out[s] = code{}
		if c > 0 {
			keys[n] = uint64(c)<<16 | uint64(s)
			n++
		}
	}
	if n == 0 {
		return
	}
	slices.Sort(keys[:n])
	var lens [maxCodeLen + 2]int // how many codes of each length
	if n == 1 {
		lens[1] = 1
	} else {
		depths(keys[:n], &lens, limit)
	}
	at := 0
	for l := limit; l > 0; l-- { // the rarest get the longest
		for range lens[l] {
			out[keys[at]&0xffff].len = uint8(l)
			at++
		}
	}
	var next [maxCodeLen + 2]uint16
	for l := 1; l <= limit; l++ {
		next[l+1] = (next[l] + uint16(lens[l])) << 1
	}
	for s := range counts {
		if l := out[s].len; l > 0 {
			out[s].bits = bits.Reverse16(next[l]) >> (16 - l)
			next[l]++
		}
	}
}

// depths counts the code lengths of the sorted keys, by Moffat and Katajainen's method in place
// ("In-place calculation of minimum-redundancy codes", 1995), then shortens those beyond limit.
func depths(keys []uint64, lens *[maxCodeLen + 2]int, limit int) {
	var tree [maxSymbols]int
	n := len(keys)
	a := tree[:n]
	for i, k := range keys {
		a[i] = int(k >> 16)
	}
	a[0] += a[1]
	root, leaf := 0, 2
	take := func(next int) int { // the lighter of the next inner node and the next leaf
		if leaf >= n || root < next && a[root] < a[leaf] {
			v := a[root]
			a[root] = next
			root++
			return v
		}
		leaf++
		return a[leaf-1]
	}
	for next := 1; next < n-1; next++ {
		first := take(next)
		a[next] = first + take(next)
	}
	a[n-2] = 0
	for i := n - 3; i >= 0; i-- {
		a[i] = a[a[i]] + 1
	}
	open, inner, depth, at := 1, 0, 0, n-2
	for open > 0 {
		for at >= 0 && a[at] == depth {
			inner++
			at--
		}
		lens[min(depth, limit)] += open - inner
		open, inner, depth = 2*inner, 0, depth+1
	}
	full := 0 // of a code tree's leaves at the limit
	for l := 1; l <= limit; l++ {
		full += lens[l] << (limit - l)
	}
	for ; full > 1<<limit; full-- {
		l := limit - 1
		for lens[l] == 0 {
			l--
		}
		lens[limit]--
		lens[l]--
		lens[l+1] += 2
	}
}
