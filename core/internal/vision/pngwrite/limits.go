package pngwrite

const (
	// stripBytes is about how much is filtered and packed by itself: enough strips for
	// several cores and to tell a page's photos from its text, few enough that what each
	// costs (its codes, a first row that nothing precedes) stays under a hundredth.
	stripBytes = 512 << 10

	// windowBytes is how far deflate looks back.
	windowBytes = 32 << 10

	// paletteProbe: every so many-th row is asked first whether the colours are few. A page
	// that was made smaller has thousands; these rows show more than 256 within microseconds.
	paletteProbe = 16

	// palettePays is how many bytes of raw pixels a colour must save. A colour costs 3 or 4
	// bytes; raw pixels are packed to a tenth and less.
	palettePays = 40

	// sampleStep: every so many-th row of a strip is looked at to choose its plan: about sixteen
	// rows of a wide picture. Odd, since lines of text mostly stand an even number of rows apart.
	sampleStep = 7

	// flatShare of pixels like their left neighbour, and rows are packed as they are, by matches.
	// Measured strip by strip: pages of text, source, tables and drawings have 0.67 to 0.98 and
	// grow by 5 to 20 % under any filter; strips that are half photo have 0.2 to 0.63 and shrink
	// by 2 to 25 %.
	flatShare = 0.64

	// photoShare: with fewer equal neighbours than this matches are few and cost three times as
	// much time as codes alone. Photos have 0.03 to 0.17.
	photoShare = 0.2

	// Levels of flate. Between 1 and 6 a page's size differs by 3 %, its time by a factor of 2.5; level
	// 2 gives most of the difference for a tenth of the time.
	flatLevel  = 2
	mixedLevel = 1
)
