package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	_ "image/gif" // the plain side decodes what Relo decodes

	"golang.org/x/image/draw"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/webp"

	"github.com/relo-dev/relo/core/internal/vision/picture"
)

// pictureBench in the environment makes this test program the Relo side of
// `make bench-pictures`. Its value is the built program, whose picture-child the
// children are, as in the daemon.
const pictureBench = "RELO_PICTURE_BENCH"

// benchAsk is one line that bench/pictures/run.mjs writes. Files are read before the
// clock starts: what is measured is bytes in, base64 ready.
type benchAsk struct {
	Op    string   `json:"op"` // prepare, plain, plain-at-once, psnr, memory
	Paths []string `json:"paths"`
	Edge  int      `json:"edge"`          // longest sent edge
	Out   string   `json:"out,omitempty"` // where the first result is written, after the clock stopped
}

// benchAnswer is the line that comes back.
type benchAnswer struct {
	MS     float64     `json:"ms"`
	CPU    float64     `json:"cpu"` // ms of computing, of this process and its children
	Sent   []benchSent `json:"sent,omitempty"`
	DB     float64     `json:"db,omitempty"`
	KiB    int64       `json:"kib,omitempty"` // peak of this process and its children
	Error  string      `json:"error,omitempty"`
	base64 int
}

type benchSent struct {
	MediaType string   `json:"mediaType"`
	Bytes     int      `json:"bytes"`
	Width     int      `json:"width"`
	Height    int      `json:"height"`
	Notes     []string `json:"notes,omitempty"`
	data      []byte
}

// benchMost stands for no limit of what is sent: a picture that is looked at pixel by
// pixel shall not have been through a JPEG encoder.
const benchMost = 40 << 20

// servePictureBench answers line by line until the input ends.
func servePictureBench(program string, in io.Reader, out io.Writer) error {
	children := picture.NewChildren(func() (*exec.Cmd, error) {
		cmd := exec.Command(program, "picture-child") //nolint:noctx // the program under test; it is killed by its owner
		cmd.Env, cmd.Dir = []string{}, "/"
		return cmd, nil
	})
	defer children.Close()
	warm := picture.New(picture.Options{Children: children})
	lines, answers := bufio.NewScanner(in), json.NewEncoder(out)
	for lines.Scan() {
		var ask benchAsk
		if err := json.Unmarshal(lines.Bytes(), &ask); err != nil {
			return fmt.Errorf("read a line of the benchmark: %w", err)
		}
		answer, err := ask.answer(warm)
		if err != nil {
			answer.Error = err.Error()
		}
		if err := answers.Encode(answer); err != nil {
			return fmt.Errorf("answer the benchmark: %w", err)
		}
	}
	return lines.Err()
}

func (a benchAsk) answer(warm *picture.Preparer) (benchAnswer, error) {
	files := make([][]byte, len(a.Paths))
	for i, path := range a.Paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return benchAnswer{}, fmt.Errorf("read a picture of the corpus: %w", err)
		}
		files[i] = data
	}
	switch a.Op {
	case "prepare":
		return a.timed(files, true, func(data []byte) (benchSent, error) { return prepared(warm, data, a.Edge) })
	case "plain":
		return a.timed(files, false, func(data []byte) (benchSent, error) { return plainGo(data, a.Edge) })
	case "plain-at-once":
		return a.timed(files, true, func(data []byte) (benchSent, error) { return plainGo(data, a.Edge) })
	case "psnr":
		db, err := likeness(files[0], a.Edge)
		return benchAnswer{DB: db}, err
	case "memory":
		kib, err := peakOfAll()
		return benchAnswer{KiB: kib}, err
	}
	return benchAnswer{}, fmt.Errorf("the benchmark asked for %q", a.Op)
}

// timed makes all files ready, one after another or at once, and has the time until
// the last one's base64 is there.
func (a benchAsk) timed(files [][]byte, atOnce bool, one func(data []byte) (benchSent, error)) (benchAnswer, error) {
	answer := benchAnswer{Sent: make([]benchSent, len(files))}
	errs, sizes := make([]error, len(files)), make([]int, len(files))
	do := func(i int) {
		if answer.Sent[i], errs[i] = one(files[i]); errs[i] == nil {
			sizes[i] = len(base64.StdEncoding.EncodeToString(answer.Sent[i].data))
		}
	}
	used, err := cpuOfAll()
	if err != nil {
		return benchAnswer{}, err
	}
	start := time.Now()
	var all sync.WaitGroup
	for i := range files {
		if atOnce && len(files) > 1 {
			all.Go(func() { do(i) })
			continue
		}
		do(i)
	}
	all.Wait()
	answer.MS = float64(time.Since(start).Microseconds()) / 1000
	now, err := cpuOfAll()
	if err != nil {
		return benchAnswer{}, err
	}
	answer.CPU = float64((now - used).Microseconds()) / 1000
	for _, n := range sizes {
		answer.base64 += n
	}
	if err := errors.Join(errs...); err != nil {
		return benchAnswer{}, err
	}
	if a.Out != "" {
		if err := os.WriteFile(a.Out, answer.Sent[0].data, 0o600); err != nil {
			return benchAnswer{}, fmt.Errorf("write a prepared picture: %w", err)
		}
	}
	return answer, nil
}

func prepared(p *picture.Preparer, data []byte, edge int) (benchSent, error) {
	pic, meta, err := p.PrepareBytes(context.Background(), data, "a", picture.Params{MaxEdge: edge})
	return benchSent{pic.MediaType, len(pic.Bytes), pic.Width, pic.Height, meta.Notes, pic.Bytes}, err
}

// reference is the scaled picture that everything is held against: the standard
// library's decoder and x/image's Catmull-Rom.
func reference(data []byte, edge int) (*image.RGBA, error) {
	src, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("decode with the standard library: %w", err)
	}
	b := src.Bounds()
	f := min(1, float64(edge)/float64(max(b.Dx(), b.Dy())))
	side := func(n int) int { return max(1, int(math.Round(float64(n)*f))) }
	out := image.NewRGBA(image.Rect(0, 0, side(b.Dx()), side(b.Dy())))
	draw.CatmullRom.Scale(out, out.Rect, src, b, draw.Src, nil)
	return out, nil
}

// plainGo is what the same job takes with the standard library and x/image alone. It
// obeys the same ceiling of bytes, so that it sends what Relo would send.
func plainGo(data []byte, edge int) (benchSent, error) {
	img, err := reference(data, edge)
	if err != nil {
		return benchSent{}, err
	}
	var buf bytes.Buffer
	mediaType := "image/png"
	if err := png.Encode(&buf, img); err != nil {
		return benchSent{}, fmt.Errorf("encode as PNG: %w", err)
	}
	const maxSent, quality = 3<<20 + 1<<19, 90 // as vision/picture
	if buf.Len() > maxSent {
		buf.Reset()
		mediaType = "image/jpeg"
		if err := jpeg.Encode(&buf, img, &jpeg.Options{Quality: quality}); err != nil {
			return benchSent{}, fmt.Errorf("encode as JPEG: %w", err)
		}
	}
	return benchSent{mediaType, buf.Len(), img.Rect.Dx(), img.Rect.Dy(), nil, buf.Bytes()}, nil
}

// likeness is the PSNR in dB, over red, green and blue, of what Relo would send as a
// PNG against the reference.
func likeness(data []byte, edge int) (float64, error) {
	want, err := reference(data, edge)
	if err != nil {
		return 0, err
	}
	sent, err := prepared(picture.New(picture.Options{MaxSent: benchMost}), data, edge)
	if err != nil {
		return 0, err
	}
	img, _, err := image.Decode(bytes.NewReader(sent.data))
	if err != nil {
		return 0, fmt.Errorf("decode what was sent: %w", err)
	}
	if img.Bounds() != want.Rect {
		return 0, fmt.Errorf("what was sent is %v and not %v", img.Bounds(), want.Rect)
	}
	got := image.NewRGBA(want.Rect)
	draw.Draw(got, got.Rect, img, image.Point{}, draw.Src)
	var sum float64
	for i := 0; i < len(got.Pix); i += 4 {
		for c := range 3 {
			d := float64(got.Pix[i+c]) - float64(want.Pix[i+c])
			sum += d * d
		}
	}
	const identical = 99 // dB; there is no number for it
	if sum == 0 {
		return identical, nil
	}
	mean := sum / float64(len(got.Pix)/4*3)
	return min(identical, 10*math.Log10(255*255/mean)), nil
}

// peakOfAll adds up VmHWM of this process and of its children, in KiB. Pages of the
// program that several map are counted several times.
func peakOfAll() (int64, error) {
	sum, err := peak("self")
	if err != nil {
		return 0, err
	}
	pids, err := childPIDs()
	if err != nil {
		return 0, err
	}
	for _, pid := range pids {
		more, err := peak(pid)
		if err != nil {
			return 0, err
		}
		sum += more
	}
	return sum, nil
}

// childPIDs are the children that live.
func childPIDs() ([]string, error) {
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		return nil, fmt.Errorf("list the children: %w", err)
	}
	var pids []string
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // a thread that ended meanwhile
		}
		pids = append(pids, strings.Fields(string(text))...)
	}
	return pids, nil
}

// cpuOfAll is the computing that this process and its living children have done.
func cpuOfAll() (time.Duration, error) {
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return 0, fmt.Errorf("read the CPU time: %w", err)
	}
	sum := time.Duration(own.Utime.Nano() + own.Stime.Nano())
	pids, err := childPIDs()
	if err != nil {
		return 0, err
	}
	for _, pid := range pids {
		threads, err := filepath.Glob("/proc/" + pid + "/task/*/schedstat") // its first number is nanoseconds
		if err != nil {
			return 0, fmt.Errorf("list the threads of a child: %w", err)
		}
		for _, thread := range threads {
			text, err := os.ReadFile(thread)
			if err != nil {
				continue // a thread that ended meanwhile
			}
			first, _, _ := strings.Cut(string(text), " ")
			ns, err := strconv.ParseInt(first, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read the CPU time of a child: %w", err)
			}
			sum += time.Duration(ns)
		}
	}
	return sum, nil
}

func peak(pid string) (int64, error) {
	text, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0, fmt.Errorf("read the peak of a process: %w", err)
	}
	_, rest, found := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(rest)
	if !found || len(fields) == 0 {
		return 0, fmt.Errorf("process %s has no peak", pid)
	}
	return strconv.ParseInt(fields[0], 10, 64)
}
