package packing

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/vision"
)

// shots are n tool pictures of a usual size, the last fresh of them not answered yet.
func shots(n, fresh, bytes int) []Picture {
	out := make([]Picture, n)
	for i := range out {
		out[i] = Picture{Key: fmt.Sprint(i), Width: 1200, Height: 800, Bytes: bytes, MediaType: pngType, Tool: true, Unanswered: i >= n-fresh}
	}
	return out
}

// told is a plan in letters: k kept, f made to fit, w words.
func told(fates []Fate) string {
	s := ""
	for _, f := range fates {
		switch {
		case !f.Keep:
			s += "w"
		case f.Fit != nil:
			s += "f"
		default:
			s += "k"
		}
	}
	return s
}

func TestPlan(t *testing.T) {
	person := func(p []Picture, at ...int) []Picture {
		for _, i := range at {
			p[i].Tool = false
		}
		return p
	}
	sized := func(w, h int, kind string) []Picture {
		return []Picture{{Width: w, Height: h, Bytes: 1000, MediaType: kind, Unanswered: true}}
	}
	for _, c := range []struct {
		why  string
		p    []Picture
		text int
		l    Limits
		want string
		last Reason // of the first that does not go as it is
	}{
		{"nothing", nil, 0, LimitsOf("anthropic", "", ""), "", ""},
		{"within everything", shots(20, 1, 300_000), 1000, LimitsOf("anthropic", "", ""), "kkkkkkkkkkkkkkkkkkkk", ""},
		{"no limits known", sized(20_000, 1, "image/gif"), 1 << 30, Limits{}, "k", ""},
		{"a large one among few", sized(2100, 1000, pngType), 0, LimitsOf("anthropic", "", ""), "k", ""},
		{"larger than any", sized(8001, 1000, pngType), 0, LimitsOf("anthropic", "", ""), "f", Edge},
		{"of a kind that xAI does not know", sized(100, 100, webpType), 0, LimitsOf("xai", "", ""), "f", Kind},
		{"too small for xAI", sized(16, 16, pngType), 0, LimitsOf("xai", "", ""), "f", Small},
		{"too long for Qwen", sized(5, 2000, pngType), 0, LimitsOf("qwen", "", ""), "f", Small},
		{"as a side that is told to be too small", sized(10, 100, pngType), 0, LimitsOf("qwen", "", ""), "f", Small},
		{"of unknown size", sized(0, 0, pngType), 0, LimitsOf("anthropic", "", ""), "f", Small},
		{"one too many for Groq", shots(6, 1, 1000), 0, LimitsOf("groq", "", ""), "wkkkkk", Count},
		{"a turn of too many keeps the newest", shots(8, 8, 1000), 0, LimitsOf("groq", "", ""), "wwwkkkkk", Count},
		{"a person's stay before older ones of tools", person(shots(7, 1, 1000), 0, 1), 0, LimitsOf("groq", "", ""), "kkwwkkk", Count},
		{"leaving is in batches", shots(23, 1, 1000), 0, Limits{Pictures: 20}, "wwwwwkkkkkkkkkkkkkkkkkk", Count},
		{"old ones get smaller for want of room", shots(6, 1, 3_000_000), 0, Limits{RequestBytes: 20_000_000}, "fffkkk", Request},
		{"then they become words", shots(6, 1, 3_000_000), 0, Limits{RequestBytes: 12_100_000}, "wwwkkk", Request},
		{"text leaves no room at all", shots(3, 1, 1000), 50_000_000, Limits{RequestBytes: 20_000_000}, "www", Request},
	} {
		t.Run(c.why, func(t *testing.T) {
			got := Plan(c.p, c.text, c.l, 3)
			if told(got) != c.want {
				t.Errorf("%s, want %s", told(got), c.want)
			}
			first := Reason("")
			for _, f := range got {
				if f.Why != "" {
					first = f.Why
					break
				}
			}
			if first != c.last {
				t.Errorf("for %q, want %q", first, c.last)
			}
		})
	}
}

func TestMoreThanTwentyAreSmallerAtAnthropic(t *testing.T) {
	for n, want := range map[int]int{20: 0, 21: 2000} {
		p := shots(n, n, 1000)
		for i := range p {
			p[i].Width = 2100
		}
		for _, f := range Plan(p, 0, LimitsOf("anthropic", "", ""), 3) {
			if want == 0 && f.Fit != nil || want > 0 && (f.Fit == nil || f.Fit.MaxEdge != want) {
				t.Fatalf("with %d: %+v", n, f.Fit)
			}
		}
	}
}

// made is what somebody makes of a picture who keeps to the Fit, and to nothing else.
func made(t *rapid.T, p Picture, f vision.Fit) Picture {
	least := max(1, f.MinEdge)
	for least*least < f.MinPixels {
		least++
	}
	most := 9000
	if f.MaxEdge > 0 {
		most = f.MaxEdge
	}
	for f.MaxPixels > 0 && most*most > f.MaxPixels {
		most = most * 9 / 10
	}
	p.Width = rapid.IntRange(least, max(least, most)).Draw(t, "width")
	p.Height = p.Width
	p.Bytes = rapid.SampledFrom([]int{1, f.MaxBytes / 2, f.MaxBytes}).Draw(t, "bytes")
	if !f.Takes(p.MediaType) {
		p.MediaType = pngType
	}
	return p
}

// excess says which limit a request does not keep.
func excess(p []Picture, text int, l Limits) string {
	if l.Pictures > 0 && len(p) > l.Pictures {
		return fmt.Sprintf("%d pictures", len(p))
	}
	f := l.Fit(len(p))
	sum := text
	for i, pic := range p {
		if !f.Holds(pic.Width, pic.Height, pic.Bytes, pic.MediaType) {
			return fmt.Sprintf("picture %d, %+v, is not within %+v", i, pic, f)
		}
		sum += coded(pic.Bytes)
	}
	if l.RequestBytes > 0 && len(p) > 0 && sum > l.RequestBytes {
		return fmt.Sprintf("%d bytes", sum)
	}
	return ""
}

func TestTwoRoundsBringAnyRequestWithinTheLimits(t *testing.T) {
	apis := []string{"anthropic", "openai", "gemini", "bedrock", "qwen", "xai", "groq", "ollama", "mistral", ""}
	rapid.Check(t, func(t *rapid.T) {
		l := LimitsOf(rapid.SampledFrom(apis).Draw(t, "api"), "", rapid.SampledFrom([]string{"", "claude-x", "qwen3-vl", "grok-4"}).Draw(t, "model"))
		n := rapid.IntRange(0, 130).Draw(t, "pictures")
		fresh := rapid.IntRange(0, n).Draw(t, "fresh")
		p := make([]Picture, n)
		for i := range p {
			p[i] = Picture{
				Width: rapid.IntRange(1, 9000).Draw(t, "w"), Height: rapid.SampledFrom([]int{1, 8, 32, 700, 2001, 9000}).Draw(t, "h"),
				Bytes:     rapid.SampledFrom([]int{70, 40_000, 900_000, 5_000_000, 25_000_000}).Draw(t, "bytes"),
				MediaType: rapid.SampledFrom([]string{pngType, jpegType, gifType, webpType, "image/bmp"}).Draw(t, "kind"),
				Tool:      rapid.Bool().Draw(t, "tool"), Described: rapid.Bool().Draw(t, "described"), Unanswered: i >= n-fresh,
			}
		}
		text := rapid.IntRange(0, 3_000_000).Draw(t, "text")
		for round := 1; ; round++ {
			fates := Plan(p, text, l, 3)
			var next []Picture
			changed := false
			for i, f := range fates {
				switch {
				case !f.Keep && f.Fit != nil || !f.Keep && f.Why == "":
					t.Fatalf("a fate that says two things: %+v", f)
				case !f.Keep:
					changed = true
					text += plainLine
				case f.Fit != nil:
					if f.Fit.MaxBytes <= 0 {
						t.Fatal("a Fit without a bound of bytes")
					}
					changed = true
					next = append(next, made(t, p[i], *f.Fit))
				default:
					next = append(next, p[i])
				}
			}
			if p = next; !changed {
				break
			}
			if round == 2 {
				t.Fatalf("round %d still changes: %s", round, told(fates))
			}
		}
		if why := excess(p, text, l); why != "" {
			t.Fatalf("the request is not within the limits: %s", why)
		}
	})
}

func TestTheNewestAreTouchedLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "pictures")
		p := shots(n, rapid.IntRange(0, n).Draw(t, "fresh"), rapid.IntRange(1, 4_000_000).Draw(t, "bytes"))
		l := Limits{Pictures: rapid.IntRange(1, 30).Draw(t, "most"), RequestBytes: rapid.IntRange(100_000, 60_000_000).Draw(t, "room")}
		got := told(Plan(p, 0, l, 3))
		if !slices.IsSortedFunc([]byte(got), func(a, b byte) int { return order(a) - order(b) }) {
			t.Fatalf("an older picture is treated better than a newer one: %s", got)
		}
	})
}

func order(b byte) int { return map[byte]int{'w': 0, 'f': 1, 'k': 2}[b] }
