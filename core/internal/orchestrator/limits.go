package orchestrator

import "time"

const (
	// lossesMax quarantines a task whose leases keep ending without a result: it
	// crashes whoever works on it (05 §4 of the design: five).
	lossesMax = 5
	// planTries is how often the Primary may submit a plan: the first and two more.
	planTries = 3
	// planTokens bounds one answer of the Primary: sixty tasks with instructions.
	planTokens = 32000
	// answerTokens bounds one answer of a worker; whole files are written with it.
	answerTokens = 32000
	// diffForReview bounds the diff that a reviewer reads, in bytes: some 25,000
	// tokens, which every model in use takes.
	diffForReview = 64 << 10
	// diffForPerson bounds one diff on the bus; the message limit is 8 MiB.
	diffForPerson = 4 << 20
	// snapshotEvery is how many events are folded at most when a job is read: some
	// 2 ms of work, for a state of some ten KiB that is written beside them.
	snapshotEvery = 200
	// watchEvery is how often leases and the outbox are looked at.
	watchEvery = 250 * time.Millisecond
	// outboxBatch bounds one reading of the outbox.
	outboxBatch = 64
	// workerGone is how many leases long a silent worker is still listed.
	workerGone = 3
	// effectWait bounds what goes on when the program ends.
	effectWait = 10 * time.Second
	// titleRunes bounds a job's title, which is its text's first line.
	titleRunes = 72
	// unverifiedMax fails a task whose attempts were called done without proof: one
	// more attempt is made with that said (04 §2 of the design).
	unverifiedMax = 2
	// retryEffect is the pause before something that did not work is tried again.
	retryEffect = 5 * time.Second
)
