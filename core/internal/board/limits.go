package board

import "time"

const (
	// wide is the width from which the models have a column of their own: below
	// it titles would be cut to a few letters.
	wide = 64
	// maxModel bounds the models' column, and minTitle is what is always left for a title.
	maxModel = 28
	minTitle = 8
	// maxWords is the longest answer to an order: it has one row.
	maxWords = 300
	// staysFor is how long the answer to an order stays: long enough to read it twice.
	staysFor = 10 * time.Second
	// maxTyped is the longest message that is typed in the view; more is written with relo say.
	maxTyped = 4000
	// pageKeep is how many rows stay when a page is turned, so that the eye finds its place.
	pageKeep = 2
	// before is which part of the rows stands above the one that is looked at: a third.
	before = 3
)
