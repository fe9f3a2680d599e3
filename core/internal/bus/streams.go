package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Prepare makes the streams when they are not there. It may be called again
// after the broker lost its folder.
func (c *Conn) Prepare(ctx context.Context) error {
	streams := []jetstream.StreamConfig{
		{Name: taskStream, Subjects: []string{taskPrefix + ">"}, Retention: jetstream.WorkQueuePolicy, Duplicates: dedupeWindow},
		{Name: eventStream, Subjects: []string{eventsPrefix + ">"}, MaxBytes: eventBytes, Discard: jetstream.DiscardOld, Duplicates: dedupeWindow},
	}
	for _, s := range streams {
		if _, err := c.js.CreateOrUpdateStream(ctx, s); err != nil {
			return fmt.Errorf("prepare stream %s: %w", s.Name, err)
		}
	}
	return nil
}

// errName says that a worker's id would widen what it can reach.
var errName = errors.New("a worker's id has only small letters, digits and -")

// PrepareMailbox makes a worker's consumer: one mailbox, one consumer a worker,
// since a work queue refuses consumers that overlap (error 10100).
func (c *Conn) PrepareMailbox(ctx context.Context, worker string) error {
	if !plain(worker) {
		return fmt.Errorf("prepare the mailbox of %q: %w", worker, errName)
	}
	_, err := c.js.CreateOrUpdateConsumer(ctx, taskStream, jetstream.ConsumerConfig{
		Durable: worker, FilterSubject: TaskSubject(worker), AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait,
	})
	if err != nil {
		return fmt.Errorf("prepare the mailbox of %s: %w", worker, err)
	}
	return nil
}

// DropMailbox removes a worker's consumer and what still lies in its mailbox.
func (c *Conn) DropMailbox(ctx context.Context, worker string) error {
	if !plain(worker) {
		return fmt.Errorf("drop the mailbox of %q: %w", worker, errName)
	}
	err := c.js.DeleteConsumer(ctx, taskStream, worker)
	if err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return fmt.Errorf("drop the mailbox of %s: %w", worker, err)
	}
	s, err := c.js.Stream(ctx, taskStream)
	if err == nil {
		err = s.Purge(ctx, jetstream.WithPurgeSubject(TaskSubject(worker)))
	}
	if err != nil {
		return fmt.Errorf("empty the mailbox of %s: %w", worker, err)
	}
	return nil
}

// Send puts a message into a stream and waits until the broker has it. The
// broker drops a second one with the same id within its window.
func (c *Conn) Send(ctx context.Context, subject, id string, data []byte) error {
	if _, err := c.js.Publish(ctx, subject, data, jetstream.WithMsgID(id)); err != nil {
		return fmt.Errorf("publish on %s: %w", subject, err)
	}
	return nil
}

// Tell publishes news without waiting; what is lost is refilled from the record.
func (c *Conn) Tell(job, id string, data []byte) error {
	m := nats.NewMsg(EventSubject(job))
	m.Data = data
	m.Header.Set(jetstream.MsgIDHeader, id)
	if err := c.nc.PublishMsg(m); err != nil {
		return fmt.Errorf("tell the news of %s: %w", job, err)
	}
	return nil
}

// LastNews gives the newest event of a job that the stream holds; nil when none.
func (c *Conn) LastNews(ctx context.Context, job string) ([]byte, error) {
	s, err := c.js.Stream(ctx, eventStream)
	if err != nil {
		return nil, fmt.Errorf("look into the news: %w", err)
	}
	m, err := s.GetLastMsgForSubject(ctx, EventSubject(job))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look into the news: %w", err)
	}
	return m.Data, nil
}

// Waiting counts the tasks that lie in a worker's mailbox, not yet acknowledged.
func (c *Conn) Waiting(ctx context.Context, worker string) (uint64, error) {
	s, err := c.js.Stream(ctx, taskStream)
	if err != nil {
		return 0, fmt.Errorf("look into the mailboxes: %w", err)
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(TaskSubject(worker)))
	if err != nil {
		return 0, fmt.Errorf("look into the mailboxes: %w", err)
	}
	return info.State.Subjects[TaskSubject(worker)], nil
}

// fetchWait is how long one pull waits: short, so that a mailbox that was made
// anew is found soon.
const fetchWait = 5 * time.Second

// Mailbox calls f with each task that arrives for the worker until ctx ends; f
// returns once the task was claimed or refused, and the message is then
// acknowledged. An ack proves nothing: ownership is the record's lease.
func (c *Conn) Mailbox(ctx context.Context, worker string, f func(data []byte) bool) error {
	for ctx.Err() == nil {
		cons, err := c.js.Consumer(ctx, taskStream, worker)
		if err != nil {
			if !pause(ctx, time.Second) {
				break
			}
			continue // the mailbox is made when the daemon hears this worker's hello
		}
		for ctx.Err() == nil {
			if !fetchOne(ctx, cons, f) {
				break
			}
		}
		if !pause(ctx, 200*time.Millisecond) {
			break
		}
	}
	return ctx.Err()
}

// fetchOne waits for one task until ctx ends or fetchWait has passed; ok is
// false when the mailbox itself failed.
func fetchOne(ctx context.Context, cons jetstream.Consumer, f func(data []byte) bool) (ok bool) {
	wait, cancel := context.WithTimeout(ctx, fetchWait)
	defer cancel()
	batch, err := cons.Fetch(1, jetstream.FetchContext(wait))
	if err != nil {
		return false
	}
	for m := range batch.Messages() {
		if f(m.Data()) {
			_ = m.Ack() // lost: it comes again and the claim says so
		} else {
			_ = m.NakWithDelay(time.Second)
		}
	}
	err = batch.Error()
	return err == nil || errors.Is(err, nats.ErrTimeout) || errors.Is(err, context.DeadlineExceeded)
}

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
