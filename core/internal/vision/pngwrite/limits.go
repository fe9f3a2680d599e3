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

	// sampleStep: every so many-th row of a strip is looked at to choose its plan.
	sampleStep = 8

	// flatShare of pixels like their left neighbour: rows are packed unfiltered, by matches.
	flatShare = 0.45
	// flatLevel is the level of those.
	flatLevel = 2
	// photoShare: fewer equal neighbours than this find no matches, so none are looked for.
	photoShare = 0.1
)
