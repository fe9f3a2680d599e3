package pngwrite

const (
	// stripBytes is about how much is filtered and packed by itself: enough strips for
	// several cores and to tell a page's photos from its text, few enough that what each
	// costs (its codes, a first row that nothing precedes) is little.
	stripBytes = 512 << 10

	// windowBytes is how far deflate looks back.
	windowBytes = 32 << 10

	// paletteProbe: every so many-th row is asked first whether the colours are few. A page
	// that was made smaller mostly has thousands, and these rows show more than 256.
	paletteProbe = 16

	// palettePays is how many bytes of raw pixels a colour must save. A colour costs 3 or 4
	// bytes; raw pixels are packed to a tenth and less.
	palettePays = 40
)

// How a strip's plan is chosen.
const (
	// sampleStep: every so many-th row is looked at, about ten of a wide picture's strip.
	// Odd, since lines of text mostly stand an even number of rows apart.
	sampleStep = 11

	// seenBits: so many colours, at most, are remembered as seen; about what the matcher's
	// window holds of colours that come again.
	seenBits = 10

	// What a pixel costs in bits when raw rows are packed by matches: one like its
	// neighbour, one of a colour that was there before, one of a new colour, and a byte of
	// grey. Fitted by hand on 119 strips of pages, source, tables, drawings, photos and
	// pages with photos: on those same strips the smaller guess is the way that came out
	// smaller but for four, where it is 1, 4, 16 and 24 % larger.
	sameBits, knownBits, freshBits, greyBits = 0.4, 12.0, 23.0, 7.0

	// photoShare: with fewer pixels like a neighbour than this, matches among filtered rows
	// cost three times as much time as codes alone. They save about a fifth of a photo that
	// was a JPEG of the same size (a third at most), and make one with noise larger. Photos
	// have 0.00 to 0.23.
	photoShare = 0.25

	// matchWidth and matchBytes: narrower rows and smaller strips go to the general packer. In
	// narrow rows the matcher stumbles over each row's filter byte; in little data its
	// tables cost more than they find.
	matchWidth = 256
	matchBytes = 4 << 10

	// Levels of flate. On a grey page written as RGB those between 1 and 6 differ by 2 % in size
	// and by a factor of 2.5 in time; level 2 has half of that for a quarter more time.
	generalLevel = 2
	quickLevel   = 1
)

// How the matcher works. On seven pages of 1400 to 1920 pixels, beside zlib's level 6 as sharp uses it:
// 4 to 22 % smaller, in the time of flate's level 2, or a third more where text is dense.
const (
	// slack is how far a word read at the last byte goes over the end.
	slack = 8

	// hashBits: a strip's window holds ten thousand pixels, but few colours; with 14 bits
	// files are up to 0.4 % smaller and take a little longer.
	hashBits = 12

	// colourPrime and hashPrime spread colours and words (2 to the 32nd and the 64th by the golden ratio).
	colourPrime = 0x9e3779b1
	hashPrime   = 0x9e3779b97f4a7c15

	// pixelSlots is one for each pixel of a window, of three bytes or more.
	pixelSlots = windowBytes / 2

	// chainDepth is how many places of a colour are tried. Four make a file 1.3 % smaller and
	// take a quarter more time.
	chainDepth = 2

	// niceMatch is long enough to look no further, learnMatch how much of a match is learned.
	niceMatch  = 128
	learnMatch = 96

	// byteWorth and matchWorth weigh matches against each other, in bits. A byte is worth more
	// than text suggests: the fewer bytes are left outside matches, the longer their codes.
	byteWorth  = 8
	matchWorth = 6

	// blockTokens is after how many tokens new codes are made. Half as many change sizes by 0.2 %.
	blockTokens = 16 << 10
)
