package jpegread

import (
	"fmt"
	"math"
)

// spec is a JPEG to be drawn: image/jpeg itself writes only 4:2:0 and gray, with one set of tables.
type spec struct {
	w, h     int
	samples  [][2]int // of each component, across and down
	restart  int      // MCUs between restart markers
	apart    bool     // a scan for each component
	wide     bool     // 16-bit quantisers, extended sequential
	quant    int      // quantiser of low frequencies; higher ones have more
	longCode bool     // codes of up to 16 bits
	flat     bool     // one colour
	rgb      bool     // components named R, G, B
}

func (s spec) String() string {
	return fmt.Sprintf("%d×%d %v restart %d apart %v wide %v quant %d long %v", s.w, s.h, s.samples, s.restart, s.apart, s.wide, s.quant, s.longCode)
}

// writer puts codes into a scan, stuffing as T.81 B.1.1.5 says.
type writer struct {
	out   []byte
	acc   uint32
	count int
}

func (w *writer) put(v uint32, n int) {
	for n--; n >= 0; n-- {
		w.acc = w.acc<<1 | v>>n&1
		if w.count++; w.count == 8 {
			w.out = append(w.out, byte(w.acc))
			if byte(w.acc) == 0xff {
				w.out = append(w.out, 0)
			}
			w.acc, w.count = 0, 0
		}
	}
}

func (w *writer) flush() {
	for w.count != 0 {
		w.put(1, 1)
	}
}

func (w *writer) segment(m byte, body ...byte) {
	w.out = append(w.out, 0xff, m, byte((len(body)+2)>>8), byte(len(body)+2))
	w.out = append(w.out, body...)
}

// code is a Huffman code that a spec's tables give.
type code struct {
	bits uint32
	n    int
}

// codes makes a table's counts, symbols and codes: all of one length, or a few short and the rest of 16 bits.
func (s spec) codes(ac bool) (counts [16]byte, symbols []byte, codes map[byte]code) {
	if !ac {
		for i := range 12 {
			symbols = append(symbols, byte(i))
		}
	} else {
		symbols = append(symbols, 0x01, 0x00, 0x02, 0x11, 0x03, 0xf0)
		for run := range 16 {
			for size := 1; size <= 10; size++ {
				if v := byte(run<<4 | size); v != 0x01 && v != 0x02 && v != 0x11 && v != 0x03 {
					symbols = append(symbols, v)
				}
			}
		}
	}
	codes = map[byte]code{}
	length := func(i int) int {
		switch {
		case !s.longCode && ac:
			return 8
		case !s.longCode:
			return 4
		}
		return min(i+2, 16)
	}
	next, was := uint32(0), length(0)
	for i, v := range symbols {
		n := length(i)
		next <<= n - was
		codes[v] = code{next, n}
		counts[n-1]++
		next, was = next+1, n
	}
	return counts, symbols, codes
}

// colour is the drawn picture, in samples of component c at full size.
func (s spec) colour(c int, x, y float64) float64 {
	if s.flat {
		return []float64{90, 160, 70}[c]
	}
	v := 128 + 70*math.Sin(x/5+float64(c))*math.Cos(y/7) + 30*math.Sin(x*y/40)
	if int(x/9+y/11)%3 == 0 {
		v += 40
	}
	return min(max(v, 0), 255)
}

// waves are the samples of each frequency.
var waves = func() (w [8][8]float64) {
	for u := range 8 {
		for x := range 8 {
			w[u][x] = math.Cos(float64((2*x+1)*u) * math.Pi / 16)
		}
	}
	return w
}()

// block gives a block's coefficients divided by their quantisers, in the order of the file.
func (s spec) block(c, bx, by int) (out [64]int) {
	fx, fy := float64(s.samples[0][0])/float64(s.samples[c][0]), float64(s.samples[0][1])/float64(s.samples[c][1])
	var px [64]float64
	for i := range px {
		px[i] = s.colour(c, (float64(8*bx+i%8)+.5)*fx, (float64(8*by+i/8)+.5)*fy) - 128
	}
	for k, z := range zigzag {
		u, v, sum := int(z)%8, int(z)/8, 0.0
		for i, p := range px {
			sum += p * waves[u][i%8] * waves[v][i/8]
		}
		for _, f := range []int{u, v} {
			if f == 0 {
				sum /= math.Sqrt2
			}
		}
		out[k] = int(math.Round(sum / 4 / float64(s.quantiser(k))))
	}
	return out
}

func (s spec) quantiser(k int) int { return s.quant + k*s.quant/8 }

// bytes draws the file.
func (s spec) bytes() []byte {
	w := &writer{out: []byte{0xff, markSOI}}
	dqt := []byte{0}
	sof := byte(markSOF0)
	if s.wide {
		dqt[0], sof = 0x10, markSOF1
	}
	for k := range 64 {
		if s.wide {
			dqt = append(dqt, byte(s.quantiser(k)>>8))
		}
		dqt = append(dqt, byte(s.quantiser(k)))
	}
	w.segment(markDQT, dqt...)
	frame := []byte{8, byte(s.h >> 8), byte(s.h), byte(s.w >> 8), byte(s.w), byte(len(s.samples))}
	for i, hv := range s.samples {
		frame = append(frame, s.name(i), byte(hv[0]<<4|hv[1]), 0)
	}
	w.segment(sof, frame...)
	for class := range 2 {
		counts, symbols, _ := s.codes(class == 1)
		w.segment(markDHT, append(append([]byte{byte(class << 4)}, counts[:]...), symbols...)...)
	}
	if s.restart > 0 {
		w.segment(markDRI, byte(s.restart>>8), byte(s.restart))
	}
	if !s.apart {
		all := make([]int, len(s.samples))
		for i := range all {
			all[i] = i
		}
		s.scan(w, all)
	} else {
		for i := range s.samples {
			s.scan(w, []int{i})
		}
	}
	return append(w.out, 0xff, markEOI)
}

func (s spec) name(i int) byte {
	if s.rgb {
		return "RGB"[i]
	}
	return byte(i + 1)
}

// scan draws one scan. Blocks of a single component are in its own order, and as many between restart markers as image/jpeg reads.
func (s spec) scan(w *writer, comps []int) {
	head := []byte{byte(len(comps))}
	for _, c := range comps {
		head = append(head, s.name(c), 0)
	}
	w.segment(markSOS, append(head, 0, 63, 0)...)
	hv := func(c int) (int, int) {
		if len(s.samples) == 1 {
			return 1, 1
		}
		return s.samples[c][0], s.samples[c][1]
	}
	h0, v0 := hv(0)
	wide, up := (s.w+8*h0-1)/(8*h0), (s.h+8*v0-1)/(8*v0)
	var mean [3]int
	for mcu := range wide * up {
		if s.restart > 0 && mcu > 0 && mcu%s.restart == 0 {
			w.flush()
			w.out = append(w.out, 0xff, byte(markRST0+(mcu/s.restart-1)%8))
			mean = [3]int{}
		}
		for _, c := range comps {
			h, v := hv(c)
			for j := range h * v {
				x, y := mcu%wide*h+j%h, mcu/wide*v+j/h
				if len(comps) == 1 {
					at := mcu*h*v + j
					x, y = at%(wide*h), at/(wide*h)
					if 8*x >= s.w || 8*y >= s.h {
						continue
					}
				}
				b := s.block(c, x, y)
				b[0], mean[c] = b[0]-mean[c], b[0]
				s.put(w, b)
			}
		}
	}
	w.flush()
}

func (s spec) put(w *writer, b [64]int) {
	_, _, dc := s.codes(false)
	_, _, ac := s.codes(true)
	value := func(codes map[byte]code, run, v int) {
		size := 0
		for a := max(v, -v); a > 0; a >>= 1 {
			size++
		}
		c := codes[byte(run<<4|size)]
		w.put(c.bits, c.n)
		if v < 0 {
			v += 1<<size - 1
		}
		w.put(uint32(v), size)
	}
	value(dc, 0, b[0])
	run := 0
	for k := 1; k < 64; k++ {
		if b[k] == 0 {
			run++
			continue
		}
		for ; run > 15; run -= 16 {
			w.put(ac[0xf0].bits, ac[0xf0].n)
		}
		value(ac, run, b[k])
		run = 0
	}
	if run > 0 {
		w.put(ac[0].bits, ac[0].n)
	}
}
