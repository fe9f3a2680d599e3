package packing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/provider"
)

// piece is a part of a request as a prompt cache sees it: equal bytes, and what they cost.
type piece struct {
	bytes  string
	tokens int64
}

// pieces are a request in its order. What is aged is its line.
func pieces(messages []provider.Message, aged map[string]bool) []piece {
	var out []piece
	text := func(s string) { out = append(out, piece{s, int64(len(s)+bytesPerToken-1) / bytesPerToken}) }
	text(strings.Repeat("The words of the system and the tools. ", 300)) // about 12 KB
	for _, m := range messages {
		for _, p := range m.Parts {
			switch {
			case p.Picture != nil:
				out = append(out, piece{p.Picture.SHA256, Tokens("", "claude-opus-5", p.Picture.Width, p.Picture.Height)})
			case p.Call != nil:
				text(p.Call.Name + string(p.Call.Args))
			case p.Result != nil:
				text(p.Result.Text)
				for _, pic := range p.Result.Pictures {
					if aged[pic.View.ID] {
						text(PictureLine(pic, "", "", true))
					} else {
						out = append(out, piece{pic.SHA256, Tokens("", "claude-opus-5", pic.Width, pic.Height)})
					}
				}
			default:
				text(p.Text)
			}
		}
	}
	return out
}

// strict is ageing without batches: only the newest keep of tools' pictures stay.
func strict(messages []provider.Message, keep int) map[string]bool {
	aged := map[string]bool{}
	tools := 0
	for _, p := range slices.Backward(List(messages, nil, nil)) {
		if p.Tool {
			if tools++; tools > keep && !p.Unanswered {
				aged[p.View] = true
			}
		}
	}
	return aged
}

// never ages nothing.
func never([]provider.Message, int) map[string]bool { return nil }

// simulated is what the requests of a job send, and how much of it each begins with as the
// one before it did. Paid is in tokens at full price, a cached one for a tenth (Anthropic, "Prompt
// caching").
func simulated(messages []provider.Message, age func([]provider.Message, int) map[string]bool) (sent, cached, paid int64) {
	var before []piece
	for n, m := range messages {
		if m.Role != provider.RoleAssistant {
			continue
		}
		now := pieces(messages[:n], age(messages[:n], 3))
		same := true
		for i, p := range now {
			sent += p.tokens
			if same = same && i < len(before) && before[i] == p; same {
				cached += p.tokens
			} else {
				paid += p.tokens * 10
			}
		}
		before = now
	}
	return sent, cached, (paid + cached) / 10
}

// longJob is fifty rounds with a picture in nearly each: every tenth has none.
func longJob() []provider.Message {
	out := []provider.Message{user(provider.Text(strings.Repeat("The job. ", 100)), provider.Show(shown("reference")))}
	for i := range 50 {
		var pictures []provider.Picture
		if i%10 != 9 {
			pictures = append(pictures, shown(fmt.Sprint(i)))
		}
		out = append(out, round(i, strings.Repeat("a line of the tool's answer\n", 20), pictures...)...)
	}
	return append(out, provider.Message{Role: provider.RoleAssistant})
}

func share(part, of int64) float64 { return float64(part) / float64(of) }

func TestABatchKeepsMoreOfTheCache(t *testing.T) {
	sent, cached, paid := simulated(longJob(), Aged)
	strictSent, strictCached, strictPaid := simulated(longJob(), strict)
	if share(cached, sent) < share(strictCached, strictSent) || paid > strictPaid {
		t.Errorf("cached %.3f and paid %d with batches, %.3f and %d with the newest three", share(cached, sent), paid, share(strictCached, strictSent), strictPaid)
	}
	if _, _, all := simulated(longJob(), never); paid > 2*all {
		t.Errorf("ageing costs %d, and without it %d", paid, all)
	}
}

func TestABatchKeepsMoreOfTheCacheOfAnyJob(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := append(drawJob(t), provider.Message{Role: provider.RoleAssistant})
		sent, cached, _ := simulated(messages, Aged)
		strictSent, strictCached, _ := simulated(messages, strict)
		if share(cached, sent) < share(strictCached, strictSent) {
			t.Fatalf("%.3f with batches, %.3f without", share(cached, sent), share(strictCached, strictSent))
		}
	})
}

func TestARequestBeginsAsTheOneBeforeItBetweenBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := drawJob(t)
		var before []piece
		var aged map[string]bool
		for n, m := range messages {
			if m.Role != provider.RoleAssistant {
				continue
			}
			now := Aged(messages[:n], 3)
			request := pieces(messages[:n], now)
			if len(now) == len(aged) {
				for i := range before {
					if request[i] != before[i] {
						t.Fatalf("piece %d changed though nothing aged", i)
					}
				}
			}
			before, aged = request, now
		}
	})
}

func BenchmarkPromptCache(b *testing.B) {
	job := longJob()
	for _, way := range []struct {
		name string
		age  func([]provider.Message, int) map[string]bool
	}{{"batches", Aged}, {"newest-three", strict}, {"never", never}} {
		b.Run(way.name, func(b *testing.B) {
			var sent, cached, paid int64
			for b.Loop() {
				sent, cached, paid = simulated(job, way.age)
			}
			b.ReportMetric(100*share(cached, sent), "%cached")
			b.ReportMetric(float64(sent), "tokens-sent")
			b.ReportMetric(float64(paid), "tokens-paid")
		})
	}
}

func BenchmarkLift(b *testing.B) {
	text := dataURL(pngType, file(b, pngType, 320, 250))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, found := Lift(text); len(found) != 1 {
			b.Fatal("not found")
		}
	}
}
