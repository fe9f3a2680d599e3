package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/protocol"
)

// daemon is a line to a made-up daemon with one job, whose news may get lost.
type daemon struct {
	mu     sync.Mutex
	events []job.Event
	away   int // so many requests find nobody
	page   int // events a page
	news   func([]byte)
	asked  int
	fail   error
}

func (d *daemon) Request(_ context.Context, endpoint string, body []byte) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	if d.fail != nil {
		return nil, d.fail
	}
	if d.away > 0 {
		d.away--
		return nil, fmt.Errorf("call %s: %w", endpoint, protocol.ErrAway)
	}
	var q protocol.EventsQuery
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	var page protocol.EventPage
	for _, e := range d.events[min(int(q.After), len(d.events)):] {
		if len(page.Events) == d.page {
			page.More = true
			break
		}
		page.Events = append(page.Events, e)
	}
	return json.Marshal(page)
}

func (d *daemon) News(_ string, f func([]byte)) (func(), error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.news = f
	return func() {}, nil
}

// happen writes the next event and gives it as news.
func (d *daemon) happen() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := job.Event{Seq: int64(len(d.events) + 1), Job: "j", Kind: job.KindNotice, Body: &job.Notice{Words: "w"}}
	d.events = append(d.events, e)
	text, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return text
}

func (d *daemon) tell(text []byte) {
	d.mu.Lock()
	f := d.news
	d.mu.Unlock()
	if f != nil {
		f(text)
	}
}

// follow collects numbers until it has seen the last one.
func follow(ctx context.Context, d *daemon, after, last int64) ([]int64, error) {
	var got []int64
	err := New(d).Follow(ctx, "j", after, func(e job.Event) error {
		got = append(got, e.Seq)
		if e.Seq == last {
			return ErrStop
		}
		return nil
	})
	return got, err
}

func numbers(from, to int64) []int64 {
	var out []int64
	for n := from; n <= to; n++ {
		out = append(out, n)
	}
	return out
}

// Whatever happens to the news on its way, and whenever the daemon is away: each
// event once, in order, the last one too.
func TestFollowLosesAndDoublesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := &daemon{page: rapid.IntRange(1, 5).Draw(rt, "page"), away: rapid.IntRange(0, 3).Draw(rt, "away at first")}
		before := rapid.IntRange(0, 10).Draw(rt, "before")
		for range before {
			d.happen()
		}
		after := rapid.Int64Range(0, int64(before)).Draw(rt, "after")
		fates := rapid.SliceOfN(rapid.Custom(drawFate), 1, 30).Draw(rt, "news")
		last := int64(before + len(fates))
		var got []int64
		var err error
		synctest.Test(t, func(t *testing.T) {
			var all sync.WaitGroup
			all.Go(func() { d.live(&all, fates) })
			got, err = follow(t.Context(), d, after, last)
			all.Wait()
		})
		if err != nil || !slices.Equal(got, numbers(after+1, last)) {
			rt.Fatalf("%v after %d of %d: %v", got, after, last, err)
		}
	})
}

// fate is what becomes of an event's news: so many copies, each later than the
// one before, and so many requests after it that find nobody.
type fate struct {
	copies, away int
	late, pause  time.Duration
}

func drawFate(t *rapid.T) fate {
	return fate{
		copies: rapid.IntRange(0, 2).Draw(t, "copies"), away: rapid.SampledFrom([]int{0, 0, 0, 2}).Draw(t, "away"),
		late:  time.Duration(rapid.IntRange(0, 3000).Draw(t, "late ms")) * time.Millisecond,
		pause: time.Duration(rapid.SampledFrom([]int{0, 1, 100, 5000}).Draw(t, "pause ms")) * time.Millisecond,
	}
}

// live makes one event after the other and gives their news, or not.
func (d *daemon) live(all *sync.WaitGroup, fates []fate) {
	wait := func(how time.Duration) { <-time.After(how) }
	for _, f := range fates {
		wait(f.pause)
		text := d.happen()
		d.mu.Lock()
		d.away += f.away
		d.mu.Unlock()
		for n := range f.copies {
			all.Go(func() {
				wait(time.Duration(n+1) * f.late)
				d.tell(text)
			})
		}
	}
}

func TestFollowWaitsWhileTheDaemonIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &daemon{page: 10, away: 5}
		d.happen()
		start := time.Now()
		if got, err := follow(t.Context(), d, 0, 1); err != nil || len(got) != 1 || time.Since(start) != 5*awayWait {
			t.Errorf("%v %v after %v", got, err, time.Since(start))
		}
	})
}

func TestFollowEndsWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, away := range []int{0, 1 << 30} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if _, err := follow(ctx, &daemon{page: 1, away: away}, 0, 1); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
			cancel()
		}
		no := &protocol.Error{Code: protocol.CodeNotFound, Message: "no such job"}
		if _, err := follow(t.Context(), &daemon{fail: no}, 0, 1); !errors.Is(err, error(no)) {
			t.Errorf("%v", err)
		}
		d := &daemon{page: 10}
		d.happen()
		mine := errors.New("mine")
		if err := New(d).Follow(t.Context(), "j", 0, func(job.Event) error { return mine }); !errors.Is(err, mine) {
			t.Errorf("%v", err)
		}
	})
}

func TestNewsThatCannotBeReadIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &daemon{page: 10}
		go func() {
			time.Sleep(time.Millisecond)
			d.happen()
			d.tell([]byte("{"))
		}()
		start := time.Now()
		if got, err := follow(t.Context(), d, 0, 1); err != nil || len(got) != 1 || time.Since(start) > 2*quietPoll {
			t.Errorf("%v %v after %v", got, err, time.Since(start))
		}
	})
}

// shelf keeps one file as the API does.
type shelf struct {
	data   []byte
	pieces []int64
	spoil  bool
}

func (s *shelf) News(string, func([]byte)) (func(), error) { return func() {}, nil }

func (s *shelf) Request(_ context.Context, endpoint string, body []byte) ([]byte, error) {
	if endpoint == "blob.put" {
		var c protocol.BlobChunk
		if err := json.Unmarshal(body, &c); err != nil {
			return nil, err
		}
		if c.Offset != int64(len(s.data)) {
			return nil, errors.New("out of order")
		}
		s.data, s.pieces = append(s.data, c.Data...), append(s.pieces, c.Offset)
		return []byte("{}"), nil
	}
	var q protocol.BlobQuery
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	c := protocol.BlobChunk{SHA256: q.SHA256, Size: int64(len(s.data)), Offset: q.Offset, Data: slices.Clone(s.data[q.Offset:min(q.Offset+chunk, int64(len(s.data)))])}
	if s.spoil && len(c.Data) > 0 {
		c.Data[0] ^= 1
	}
	return json.Marshal(c)
}

func TestFilesTravelInPieces(t *testing.T) {
	for size, pieces := range map[int]int{0: 1, 1: 1, chunk: 1, chunk + 1: 2, 2*chunk + 9: 3} {
		s := &shelf{}
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(rand.Uint32())
		}
		sha, err := New(s).PutBlob(t.Context(), data)
		if err != nil || len(s.pieces) != pieces || !slices.Equal(s.data, data) {
			t.Fatalf("%d bytes in %v: %v", size, s.pieces, err)
		}
		back, err := New(s).Blob(t.Context(), sha)
		if err != nil || !slices.Equal(back, data) {
			t.Errorf("%d bytes came back as %d: %v", size, len(back), err)
		}
		s.spoil = true
		if _, err := New(s).Blob(t.Context(), sha); size > 0 && (err == nil || !strings.Contains(err.Error(), "damaged")) {
			t.Errorf("a damaged file was taken: %v", err)
		}
	}
}

// deaf is a daemon whose requests hang for a while before they find nobody, as
// those on a lost connection do.
type deaf struct {
	*daemon
	hangs time.Duration
}

func (d deaf) Request(ctx context.Context, endpoint string, body []byte) ([]byte, error) {
	d.mu.Lock()
	away := d.away > 0
	d.mu.Unlock()
	if away {
		<-time.After(d.hangs)
	}
	return d.daemon.Request(ctx, endpoint, body)
}

func TestFollowTellsThatTheDaemonIsAway(t *testing.T) {
	for _, c := range []struct {
		name      string
		away      int
		hangs     time.Duration
		gone, ago time.Duration // when it is told, and when that it is back; 0: never
	}{
		{"a restart is not told", 3, 0, 0, 0},
		{"it refuses", 10, 0, awayAfter, 10 * awayWait},
		{"it hangs", 2, 10 * time.Second, awayAfter, 20*time.Second + 2*awayWait},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &daemon{page: 10, away: c.away}
				d.happen()
				start := time.Now()
				var gone, back []time.Duration
				err := New(deaf{d, c.hangs}).FollowWith(t.Context(), "j", 0, func(job.Event) error { return ErrStop }, func(since time.Time, is bool) {
					if !since.Equal(start) {
						t.Errorf("it is away since %v", since.Sub(start))
					}
					if is {
						gone = append(gone, time.Since(start))
					} else {
						back = append(back, time.Since(start))
					}
				})
				want := func(d time.Duration) (all []time.Duration) {
					if d > 0 {
						all = append(all, d)
					}
					return all
				}
				if err != nil || !slices.Equal(gone, want(c.gone)) || !slices.Equal(back, want(c.ago)) {
					t.Errorf("gone told after %v, back after %v: %v", gone, back, err)
				}
			})
		})
	}
}
