package vision

import "testing"

func BenchmarkGuess(b *testing.B) {
	all := readTruth(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Guess(all[i%len(all)].id)
	}
}
