package gateway

import "time"

const (
	// triesPerModel bounds how often one model of the chain is asked again after
	// it was busy or cut off, before the next takes over.
	triesPerModel = 3
	// triesOfLast is the same for the last model of the chain: nobody takes over,
	// so a provider's hiccup of some seconds is waited out.
	triesOfLast = 5
	// firstWait and longestWait bound the wait between tries when the provider
	// names none; longestTold bounds the one that it names.
	firstWait   = 500 * time.Millisecond
	longestWait = 20 * time.Second
	longestTold = 2 * time.Minute
	// settleWait bounds writing a row after the caller has left.
	settleWait = 10 * time.Second
	// budgetPoll is how often a request that waits for others' reservations looks again.
	budgetPoll = 250 * time.Millisecond
)
