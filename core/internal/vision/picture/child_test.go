package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/vision"
)

// actAs makes this test program a child, as the environment says.
const actAs = "RELO_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(actAs) {
	case "":
		os.Exit(m.Run())
	case "serve":
		if err := Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "hang":
		var o order
		_, _ = readFrame(os.Stdin, &o, fresh)
		for spun := 0; spun >= 0; spun = (spun + 1) % 1000 { // a decoder that does not end
		}
	case "killed":
		var o order
		_, _ = readFrame(os.Stdin, &o, fresh)
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	case "die":
		os.Exit(1)
	case "babble":
		_, _ = os.Stdout.WriteString("this is no frame, whatever it says, and it is long enough to be read as one")
	}
	os.Exit(0)
}

// children of this test program, which act as said.
func children(t testing.TB, act string) *Children {
	t.Helper()
	c := NewChildren(func() (*exec.Cmd, error) {
		cmd := exec.Command(os.Args[0], "-test.run=^$") //nolint:noctx // this program itself; it is killed by its owner
		cmd.Env = []string{actAs + "=" + act}
		return cmd, nil
	})
	t.Cleanup(c.Close)
	return c
}

// large is a picture that is not decoded in the calling process.
func large(t testing.TB) []byte { t.Helper(); return pngOf(t, page(1800, 1300)) }

func TestAChildGivesWhatThisProcessWouldGive(t *testing.T) {
	t.Parallel()
	with := New(Options{Children: children(t, "serve"), MaxSent: 200 << 10})
	alone := New(Options{MaxSent: 200 << 10})
	for name, data := range map[string][]byte{
		"page": large(t), "photo": jpegOf(t, photo(1700, 1300), 90), "corrupt": large(t)[:9000],
		"region": large(t),
	} {
		params := Params{}
		if name == "region" {
			params = Params{Region: &vision.Region{X: 7, Y: 9, Width: 5000, Height: 300}, MaxEdge: 700}
		}
		pic, meta, err := with.PrepareBytes(t.Context(), data, name, params)
		want, wantMeta, wantErr := alone.PrepareBytes(t.Context(), data, name, params)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !bytes.Equal(pic.Bytes, want.Bytes) || !cmp.Equal(meta, wantMeta) || pic.SHA256 != want.SHA256 {
			t.Errorf("%s: %v, not %v\n%s", name, err, wantErr, cmp.Diff(wantMeta, meta))
		}
	}
	if n := len(with.opts.Children.idle); n != 1 {
		t.Errorf("%d children wait, one after another needs one", n)
	}
}

func TestAChildIsKilledAtTheDeadline(t *testing.T) {
	t.Parallel()
	kids := children(t, "hang")
	p := New(Options{Children: kids, MaxTime: 2 * time.Second})
	_, meta, err := p.PrepareBytes(t.Context(), large(t), "a.png", Params{})
	wantCode(t, Timeout, err, nil, meta)
	kids.gone.Wait() // nothing is left that computes
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Second, cancel)
	_, meta, err = New(Options{Children: kids}).PrepareBytes(ctx, large(t), "a.png", Params{})
	wantCode(t, Timeout, err, nil, meta)
	kids.gone.Wait()
}

func TestWhatEndsAChildEndsNothingElse(t *testing.T) {
	t.Parallel()
	for act, code := range map[string]Code{"die": Corrupt, "babble": Corrupt, "killed": Busy} {
		_, meta, err := New(Options{Children: children(t, act)}).PrepareBytes(t.Context(), large(t), "a.png", Params{})
		wantCode(t, code, err, nil, meta)
	}
	gone := NewChildren(func() (*exec.Cmd, error) { return exec.Command("/nonexistent/relo"), nil }) //nolint:noctx // it does not start
	_, meta, err := New(Options{Children: gone}).PrepareBytes(t.Context(), large(t), "a.png", Params{})
	wantCode(t, Busy, err, nil, meta)
	gone.Close()
	if _, _, err := New(Options{Children: gone}).PrepareBytes(t.Context(), large(t), "a.png", Params{}); err == nil {
		t.Error("a closed pool prepared a picture")
	}
}

func TestAChildThatDiedWhileItWaitedIsReplaced(t *testing.T) {
	t.Parallel()
	kids := children(t, "serve")
	p := New(Options{Children: kids})
	for range 2 {
		if _, _, err := p.PrepareBytes(t.Context(), large(t), "a.png", Params{}); err != nil {
			t.Fatal(err)
		}
		kids.mu.Lock()
		waiting := kids.idle[0]
		kids.mu.Unlock()
		waiting.kill()
		<-waiting.done
	}
}

func TestAChildThatWaitsLongIsEnded(t *testing.T) {
	t.Parallel()
	kids := children(t, "serve")
	if _, _, err := New(Options{Children: kids}).PrepareBytes(t.Context(), large(t), "a.png", Params{}); err != nil {
		t.Fatal(err)
	}
	kids.drop(kids.idle[0])
	kids.gone.Wait()
	if len(kids.idle) != 0 {
		t.Error("it is still offered")
	}
}

func TestTwoPicturesAtOnceHaveAChildEach(t *testing.T) {
	t.Parallel()
	kids := children(t, "serve")
	p := New(Options{Children: kids, AtOnce: 8})
	data := large(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, _, err := p.PrepareBytes(t.Context(), data, "a.png", Params{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(kids.idle); n < 1 || n > maxAtOnce {
		t.Errorf("%d children", n)
	}
}

// loud skips where the limits of a process are not held.
func needsLimits(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("not run: the limits of a picture process are held on Linux only")
	}
}

func TestAChildHasNoMoreMemoryThanItsLimit(t *testing.T) {
	t.Parallel()
	needsLimits(t)
	// 36 megapixels, progressive, four inks: 576 MB of coefficients in the standard
	// decoder. The check of the header that refuses it is switched off.
	data := progressive36(t)
	p := New(Options{Children: children(t, "serve"), MaxMemory: 4 << 30})
	_, meta, err := p.PrepareBytes(t.Context(), data, "a.jpg", Params{})
	if e := wantCode(t, TooComplex, err, nil, meta); !errors.Is(e, errDied) {
		t.Errorf("it was refused by another rule: %v", e)
	}
}

func TestAChildHasNoMoreComputingThanItsLimit(t *testing.T) {
	t.Parallel()
	needsLimits(t)
	// The scan bomb with the check switched off. One second is the least that a limit can be.
	p := New(Options{Children: children(t, "serve"), MaxScans: 1 << 20, MaxCPU: time.Second})
	_, meta, err := p.PrepareBytes(t.Context(), scanBomb(4000, 6000), "a.jpg", Params{})
	if e := wantCode(t, TooComplex, err, nil, meta); !errors.Is(e, errDied) {
		t.Errorf("it was refused by another rule: %v", e)
	}
}

// progressive writes a progressive JPEG of one colour from its scans.
func progressive(side, components int, scans func(out []byte) []byte) []byte {
	frame := []byte{8, byte(side >> 8), byte(side), byte(side >> 8), byte(side), byte(components)}
	for c := range components {
		frame = append(frame, byte(c+1), 0x11, 0)
	}
	out := append([]byte{0xff, mSOI}, segmentOf(mDQT, "\x00"+strings.Repeat("\x01", 64))...)
	out = append(out, segmentOf(mSOF2, string(frame))...)
	// One code of one bit each: a difference of 0, the end of a block, and the end of 16384 blocks and more.
	out = append(out, segmentOf(mDHT, "\x00\x01"+strings.Repeat("\x00", 15)+"\x00")...)
	out = append(out, segmentOf(mDHT, "\x10\x01"+strings.Repeat("\x00", 15)+"\x00")...)
	out = append(out, segmentOf(mDHT, "\x11\x01"+strings.Repeat("\x00", 15)+"\xe0")...)
	return append(scans(out), 0xff, mEOI)
}

// progressive36 has 36 megapixels in four components, none of them subsampled.
func progressive36(t testing.TB) []byte {
	t.Helper()
	const side, blocks = 6000, 750 * 750
	return progressive(side, 4, func(out []byte) []byte {
		out = append(out, segmentOf(mSOS, "\x04\x01\x00\x02\x00\x03\x00\x04\x00\x00\x00\x00")...)
		out = append(out, make([]byte, 4*blocks/8+1)...)
		for c := range byte(4) {
			out = append(out, segmentOf(mSOS, string([]byte{1, c + 1, 0, 1, 63, 0}))...)
			out = append(out, make([]byte, blocks/8+1)...)
		}
		return out
	})
}

// scanBomb tells n times anew that nothing but the mean of each block is there.
func scanBomb(side, n int) []byte {
	blocks := (side / 8) * (side / 8)
	return progressive(side, 1, func(out []byte) []byte {
		out = append(out, segmentOf(mSOS, "\x01\x01\x00\x00\x00\x00")...)
		out = append(out, make([]byte, blocks/8+1)...)
		// A code of one bit and fourteen more bits: 32767 blocks of nothing.
		var bits []byte
		for at := 0; at < blocks; at += 32767 {
			bits = append(bits, "011111111111111"...)
		}
		for len(bits)%8 != 0 {
			bits = append(bits, '1')
		}
		var body []byte
		for i := 0; i < len(bits); i += 8 {
			var b byte
			for _, bit := range bits[i : i+8] {
				b = b<<1 | (bit - '0')
			}
			if body = append(body, b); b == 0xff {
				body = append(body, 0)
			}
		}
		scan := append(segmentOf(mSOS, "\x01\x01\x01\x01\x3f\x00"), body...)
		return append(out, bytes.Repeat(scan, n)...)
	})
}

func TestTheCallersMemoryStaysFlat(t *testing.T) {
	calls := 300
	if os.Getenv("RELO_SOAK") != "" {
		calls = 10_000
	}
	p := New(Options{Children: children(t, "serve")})
	data, tiny := large(t), pngOf(t, page(300, 200))
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	work := func(n int) {
		for i := range n {
			use := tiny
			if i%10 == 0 {
				use = data
			}
			if _, _, err := p.PrepareBytes(t.Context(), use, "a.png", Params{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	work(50)
	before, routines := heap(), runtime.NumGoroutine()
	work(calls)
	after := heap()
	t.Logf("%d calls: %d KiB before, %d KiB after", calls, before>>10, after>>10)
	if after > before+4<<20 || runtime.NumGoroutine() > routines+2 {
		t.Errorf("after %d calls the heap grew from %d to %d bytes, goroutines from %d to %d", calls, before, after, routines, runtime.NumGoroutine())
	}
}
