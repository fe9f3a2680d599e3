// Package client speaks the bus's API for those who ask: the command line and
// workers. It keeps no state of jobs; a stream that it follows is complete,
// because it sees a gap in the numbers and asks for what is missing.
package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/traffic"
)

// Line carries requests and news; the bus. Its errors are protocol.ErrAway and
// *protocol.Error.
type Line interface {
	Request(ctx context.Context, endpoint string, body []byte) ([]byte, error)
	News(job string, f func(data []byte)) (stop func(), err error)
}

// Client is the API, typed. It is safe for concurrent use.
type Client struct{ line Line }

// New makes a client over a line.
func New(l Line) *Client { return &Client{l} }

func call[Out any](ctx context.Context, c *Client, endpoint string, in any) (Out, error) {
	var out Out
	body, err := json.Marshal(in)
	if err != nil {
		return out, fmt.Errorf("%s: %w", endpoint, err)
	}
	answer, err := c.line.Request(ctx, endpoint, body)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		return out, fmt.Errorf("%s: the answer cannot be read: %w", endpoint, err)
	}
	return out, nil
}

// Submit hands in a job; the answer means that it is in the record.
func (c *Client) Submit(ctx context.Context, s protocol.Submit) (protocol.Accepted, error) {
	return call[protocol.Accepted](ctx, c, "job.submit", s)
}

// Cancel ends a job.
func (c *Client) Cancel(ctx context.Context, id, reason string) (protocol.Resolved, error) {
	return call[protocol.Resolved](ctx, c, "job.cancel", protocol.CancelQuery{ID: id, Reason: reason})
}

// Apply brings a ready job's work to the person's files.
func (c *Client) Apply(ctx context.Context, id string) (protocol.ApplyDoc, error) {
	return call[protocol.ApplyDoc](ctx, c, "job.apply", protocol.Ref{ID: id})
}

// Retry gives what waits, failed or was cancelled another attempt.
func (c *Client) Retry(ctx context.Context, q protocol.Retry) (protocol.Resolved, error) {
	return call[protocol.Resolved](ctx, c, "job.retry", q)
}

// Resolve finds what a short id means.
func (c *Client) Resolve(ctx context.Context, id string) (protocol.Resolved, error) {
	return call[protocol.Resolved](ctx, c, "job.resolve", protocol.Ref{ID: id})
}

// Jobs lists the jobs, newest first.
func (c *Client) Jobs(ctx context.Context) (protocol.JobList, error) {
	return call[protocol.JobList](ctx, c, "job.list", protocol.Empty{})
}

// Show gives a job, whole.
func (c *Client) Show(ctx context.Context, id string) (protocol.JobDoc, error) {
	return call[protocol.JobDoc](ctx, c, "job.show", protocol.Ref{ID: id})
}

// Why explains a task, or every task of a job.
func (c *Client) Why(ctx context.Context, id string) (protocol.WhyList, error) {
	return call[protocol.WhyList](ctx, c, "job.why", protocol.Ref{ID: id})
}

// Diff gives what a job or a task changes.
func (c *Client) Diff(ctx context.Context, id string) (protocol.DiffDoc, error) {
	return call[protocol.DiffDoc](ctx, c, "job.diff", protocol.Ref{ID: id})
}

// Costs sums the ledger: of one job, or of the last days when id is empty.
func (c *Client) Costs(ctx context.Context, id string, days int) (protocol.CostsDoc, error) {
	return call[protocol.CostsDoc](ctx, c, "costs.list", protocol.CostsQuery{ID: id, Days: days})
}

// Models lists models, and what each source says of their sight.
func (c *Client) Models(ctx context.Context, r protocol.ModelsRequest) (protocol.ModelsDoc, error) {
	return call[protocol.ModelsDoc](ctx, c, "models.list", r)
}

// ForgetRefusals ends what the daemon learned from refused pictures.
func (c *Client) ForgetRefusals(ctx context.Context, r protocol.ForgetRequest) (protocol.ForgottenDoc, error) {
	return call[protocol.ForgottenDoc](ctx, c, "models.forget", r)
}

// Status says how the daemon is.
func (c *Client) Status(ctx context.Context) (protocol.StatusDoc, error) {
	return call[protocol.StatusDoc](ctx, c, "daemon.status", protocol.Empty{})
}

// Events gives a page of a job's events; job is its full id.
func (c *Client) Events(ctx context.Context, q protocol.EventsQuery) (protocol.EventPage, error) {
	return call[protocol.EventPage](ctx, c, "job.events", q)
}

// chunk is how much of a file one message carries; the API takes no more.
const chunk = 4 << 20

// PutBlob sends a file and gives its SHA-256.
func (c *Client) PutBlob(ctx context.Context, data []byte) (string, error) {
	sum := sha256.Sum256(data)
	sha := hex.EncodeToString(sum[:])
	for at := 0; ; at += chunk {
		end := min(at+chunk, len(data))
		piece := protocol.BlobChunk{SHA256: sha, Size: int64(len(data)), Offset: int64(at), Data: data[at:end]}
		if _, err := call[protocol.Empty](ctx, c, "blob.put", piece); err != nil {
			return "", err
		}
		if end == len(data) {
			return sha, nil
		}
	}
}

// Blob fetches a file by its SHA-256; what comes is held against it.
func (c *Client) Blob(ctx context.Context, sha string) ([]byte, error) {
	var data []byte
	for {
		piece, err := call[protocol.BlobChunk](ctx, c, "blob.get", protocol.BlobQuery{SHA256: sha, Offset: int64(len(data))})
		if err != nil {
			return nil, err
		}
		data = append(data, piece.Data...)
		if int64(len(data)) >= piece.Size || len(piece.Data) == 0 {
			break
		}
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != sha {
		return nil, fmt.Errorf("file %s came damaged", sha)
	}
	return data, nil
}

// Hello is a worker's heartbeat.
func (c *Client) Hello(ctx context.Context, h protocol.Hello) (protocol.Welcome, error) {
	return call[protocol.Welcome](ctx, c, "worker.hello", h)
}

// Claim starts an attempt.
func (c *Client) Claim(ctx context.Context, h protocol.Hold) (protocol.Assignment, error) {
	return call[protocol.Assignment](ctx, c, "attempt.claim", h)
}

// Report tells an attempt's steps and checks.
func (c *Client) Report(ctx context.Context, r protocol.Report) error {
	_, err := call[protocol.Empty](ctx, c, "attempt.report", r)
	return err
}

// Finish hands in an attempt's result.
func (c *Client) Finish(ctx context.Context, f protocol.Finish) (protocol.Received, error) {
	return call[protocol.Received](ctx, c, "attempt.finish", f)
}

// Ask gets a model's answer under a lease.
func (c *Client) Ask(ctx context.Context, a protocol.Ask) (traffic.Answer, error) {
	return call[traffic.Answer](ctx, c, "model.call", a)
}

// Look asks a model that sees about a picture, under a lease.
func (c *Client) Look(ctx context.Context, a protocol.LookAsk) (traffic.Seen, error) {
	return call[traffic.Seen](ctx, c, "model.look", a)
}

// ErrStop is what a follower returns to end the following without an error.
var ErrStop = errors.New("enough")

const (
	// awayWait is the pause before asking again while the daemon is away, and
	// quietPoll how long no news may come before the record is asked whether
	// some was missed.
	awayWait  = 500 * time.Millisecond
	quietPoll = 2 * time.Second
	// awayAfter is how long the daemon may be silent before its follower is told:
	// longer than a restart takes, shorter than a person believes in a still view.
	awayAfter = 2 * time.Second
	// newsBuffer holds what arrives while a page is read; what does not fit is
	// seen as a gap and asked for.
	newsBuffer = 1024
)

// Follow calls f with every event of a job after a number, in order and each
// once, those that were and those to come, until f returns ErrStop or another
// error, or ctx ends. While the daemon is away it waits.
func (c *Client) Follow(ctx context.Context, id string, after int64, f func(job.Event) error) error {
	return c.FollowWith(ctx, id, after, f, nil)
}

// FollowWith is Follow that tells when the daemon went silent: away is called with
// gone once it has not answered for some 2 s, since being when it was first asked
// in vain, and without gone once it answers again. It is never called beside f.
func (c *Client) FollowWith(ctx context.Context, id string, after int64, f func(job.Event) error, away func(since time.Time, gone bool)) error {
	news := make(chan job.Event, newsBuffer)
	stop, err := c.line.News(id, func(data []byte) {
		var e job.Event
		if json.Unmarshal(data, &e) != nil {
			return
		}
		select {
		case news <- e:
		default:
		}
	})
	if err != nil {
		return err
	}
	defer stop()
	return quiet((&follower{Client: c, id: id, f: f, away: away}).follow(ctx, after, news))
}

func quiet(err error) error {
	if errors.Is(err, ErrStop) {
		return nil
	}
	return err
}

// follower is one following of a job.
type follower struct {
	*Client
	id    string
	f     func(job.Event) error
	away  func(since time.Time, gone bool) // nil: nobody wants to know
	since time.Time                        // of the first request that has no answer; zero: all have
	gone  bool                             // that was told
}

func (c *follower) follow(ctx context.Context, after int64, news <-chan job.Event) error {
	poll := time.NewTimer(0)
	defer poll.Stop()
	for {
		ask := false
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-news:
			if e.Seq == after+1 {
				after = e.Seq
				if err := c.f(e); err != nil {
					return err
				}
			}
			ask = e.Seq > after+1
		case <-poll.C:
			ask = true
		}
		if ask {
			var err error
			if after, err = c.catchUp(ctx, after); err != nil {
				return err
			}
		}
		poll.Reset(quietPoll)
	}
}

// catchUp reads pages until there is no more.
func (c *follower) catchUp(ctx context.Context, after int64) (int64, error) {
	for {
		page, err := c.page(ctx, protocol.EventsQuery{Job: c.id, After: after})
		if errors.Is(err, protocol.ErrAway) {
			select {
			case <-ctx.Done():
				return after, ctx.Err()
			case <-time.After(awayWait):
				continue
			}
		}
		if err != nil {
			return after, err
		}
		for _, e := range page.Events {
			after = e.Seq
			if err := c.f(e); err != nil {
				return after, err
			}
		}
		if !page.More {
			return after, nil
		}
	}
}

// page gets one, and tells when the daemon is silent for too long: also while a
// request waits, because one on a lost connection does so for many seconds.
func (c *follower) page(ctx context.Context, q protocol.EventsQuery) (page protocol.EventPage, err error) {
	if c.since.IsZero() {
		c.since = time.Now()
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		page, err = c.Events(ctx, q)
	}()
	silent := time.NewTimer(awayAfter - time.Since(c.since))
	defer silent.Stop()
	select {
	case <-answered:
	case <-silent.C:
		c.tell(ctx, true)
		<-answered
	}
	switch {
	case !errors.Is(err, protocol.ErrAway) && ctx.Err() == nil:
		c.tell(ctx, false)
		c.since = time.Time{}
	case time.Since(c.since) >= awayAfter:
		c.tell(ctx, true)
	}
	return page, err
}

func (c *follower) tell(ctx context.Context, gone bool) {
	if c.gone == gone || ctx.Err() != nil {
		return
	}
	if c.gone = gone; c.away != nil {
		c.away(c.since, gone)
	}
}
