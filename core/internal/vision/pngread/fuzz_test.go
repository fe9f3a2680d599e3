package pngread

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"slices"
	"testing"
)

// fuzzPixels keeps the pictures that are tried small.
const fuzzPixels = 1 << 16

// FuzzDifferential tries files as they are, and with all checksums mended: a changed byte would hardly
// ever get past them.
func FuzzDifferential(f *testing.F) {
	for _, s := range sorts {
		f.Add(s.draw(9, 7, anyFilter))
		for _, level := range []int{zlib.HuffmanOnly, zlib.NoCompression, zlib.BestCompression} {
			z := zippedAt(s.rows(31, 40, anyFilter), level)
			f.Add(s.file(31, 40, z[:len(z)/2], z[len(z)/2:]))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, data := range [][]byte{data, mended(data)} {
			r, ok := Open(data)
			if !ok || r.width*r.height > fuzzPixels {
				continue
			}
			differTwice(t, data)
		}
	})
}

// FuzzInflate tries a zlib stream in a picture of one row whose size is what the standard library makes of it.
func FuzzInflate(f *testing.F) {
	for _, n := range []int{0, 1, 300, 70000} {
		for _, level := range []int{zlib.HuffmanOnly, zlib.NoCompression, zlib.BestSpeed, zlib.BestCompression} {
			f.Add(zippedAt(append([]byte{0}, noise(n)...), level)[2:], uint16(n/2))
		}
	}
	s := sort{depth: 8, kind: grey}
	f.Fuzz(func(t *testing.T, deflated []byte, cut uint16) {
		z := append([]byte{0x78, 0x9c}, deflated...)
		width := 1 + unzippedSize(&z)
		at := min(int(cut), len(z))
		differTwice(t, s.file(width, 1, z[:at], z[at:]))
	})
}

// unzippedSize is how many bytes of a row z gives, and mends its checksum.
func unzippedSize(z *[]byte) int {
	src := bytes.NewReader(*z)
	r, err := zlib.NewReader(src)
	if err != nil {
		return 0
	}
	var out bytes.Buffer
	chunk := make([]byte, 4096)
	for out.Len() < fuzzPixels {
		n, err := r.Read(chunk)
		out.Write(chunk[:n])
		if err != nil {
			break
		}
	}
	if used := len(*z) - src.Len(); used >= 4 {
		binary.BigEndian.PutUint32((*z)[used-4:], adler32.Checksum(out.Bytes()))
	}
	return max(0, out.Len()-2)
}

// mended puts right the checksums of all chunks, and that of the pixel data when it lies in one chunk.
func mended(data []byte) []byte {
	data = slices.Clone(data)
	for at := len(signature); at+overhead <= len(data); {
		length := int64(binary.BigEndian.Uint32(data[at:]))
		if length > int64(len(data)-at-overhead) {
			break
		}
		end := at + 8 + int(length)
		if string(data[at+4:at+8]) == "IDAT" {
			body := data[at+8 : end]
			unzippedSize(&body)
		}
		binary.BigEndian.PutUint32(data[end:], crc32.ChecksumIEEE(data[at+4:end]))
		at = end + 4
	}
	return data
}
