package jpegread

// lutBits is the width of the Huffman look-up: nearly all codes of a photo, many of them with
// their value, are that short, and a table stays small beside the first cache (4 KiB).
const lutBits = 10

// ringRows is how many rows of MCUs are between the reading of codes and the making of pixels:
// enough that neither waits for one uneven row, 4 × 192 KiB for 4000 pixels at 4:2:0.
const ringRows = 4

// serialBlocks is the number of blocks below which a second goroutine costs more than it brings.
const serialBlocks = 256

// maxBits is how many bits a coefficient, times its quantiser, may have. Eight-bit samples
// give 2^11 and a rounding (T.81 A.3.3 and F.1.1.4), so what is beyond 2^15 is damage.
const maxBits = 15
