package gateway

import "time"

const (
	// triesPerModel bounds how often one model of the chain is asked again after
	// it was busy or cut off, before the next takes over.
	triesPerModel = 3
	// triesOfLast is the same for the last model of the chain: nobody takes over,
	// so a provider's hiccup of some seconds is waited out.
	triesOfLast = 5
	// triesOfBusy is the same for a provider that says "too many requests": it is asked
	// at the pace that its gate has found, so it is a matter of time alone.
	triesOfBusy = 12
	// firstWait and longestWait bound the wait between tries when the provider
	// names none; longestTold bounds the one that it names.
	firstWait   = 500 * time.Millisecond
	longestWait = 20 * time.Second
	longestTold = 2 * time.Minute
	// jitterShare: a wait that was told is made longer by at most this part of it, so that
	// not all come back at once.
	jitterShare = 10
	// settleWait bounds writing a row after the caller has left.
	settleWait = 10 * time.Second
	// budgetPoll is how often a request that waits for others' reservations looks again.
	budgetPoll = 250 * time.Millisecond

	// widestGate is how many requests an endpoint gets at once as long as it never said
	// "too many": more than any machine has workers.
	widestGate = 64
	// gateRest is how many answers in a row let one more through at once, times the width.
	gateRest = 2

	// healsPerRequest is how often a refused request is sent once more in another form;
	// for a size, whose words may not say which, once more than for all else.
	healsPerRequest = 1
	healsOfSize     = 2

	// wordsKept is how many descriptions are remembered (model calls, "The describer").
	wordsKept = 256
	// fitsKept in bytes: pictures that were made smaller, for the next rounds of the same agents.
	fitsKept = 64 << 20
	// lookTokens of a description: about 250 words, and what a model thinks before them.
	lookTokens = 2048
	// lookTime bounds one look, all models that may look together.
	lookTime = 3 * time.Minute
	// looksAtOnce of one request.
	looksAtOnce = 2
	// packRounds is how often a request is packed anew after its pictures were made to
	// fit: their size in bytes is known only then.
	packRounds = 3
	// meters is how many attempts' last counts are remembered.
	meters = 512
	// leastPicture in tokens: a smaller picture is lost in the inexactness of the count.
	leastPicture = 60
	// learnedKept bounds what is remembered of endpoints: placements, sizes, unreadable pictures.
	learnedKept = 4096

	keepPictures = 3 // when the rules name none, as pictures.keep of the config
)
