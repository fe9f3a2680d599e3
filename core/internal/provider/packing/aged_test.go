package packing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

func shown(id string) provider.Picture {
	return provider.Picture{
		Picture: vision.Picture{SHA256: "sha-" + id, MediaType: pngType, Width: 1200, Height: 800},
		View:    vision.View{ID: id, Path: id + ".png", Role: vision.Result},
	}
}

func user(parts ...provider.Part) provider.Message {
	return provider.Message{Role: provider.RoleUser, Parts: parts}
}

// round is an answer with one call and its result.
func round(i int, text string, pictures ...provider.Picture) []provider.Message {
	id := fmt.Sprintf("call_%d", i)
	return []provider.Message{
		{Role: provider.RoleAssistant, Parts: []provider.Part{{Kind: provider.PartCall, Call: &provider.Call{ID: id, Name: "look", Args: []byte(`{}`)}}}},
		{Role: provider.RoleTool, Parts: []provider.Part{{Kind: provider.PartResult, Result: &provider.Result{ID: id, Name: "look", Text: text, Pictures: pictures}}}},
	}
}

// job is a transcript of n rounds with a picture each, behind a first message with a reference.
func job(n int) []provider.Message {
	out := []provider.Message{user(provider.Text("Make it so."), provider.Show(shown("reference")))}
	for i := range n {
		out = append(out, round(i, "done", shown(fmt.Sprint(i)))...)
	}
	return out
}

func TestAged(t *testing.T) {
	many := append(job(2), round(9, "five", shown("a"), shown("b"), shown("c"), shown("d"), shown("e"), shown("f"), shown("g"))...)
	reference := job(6)
	reference[2].Parts[0].Result.Pictures[0].View.Role = vision.Reference
	unnamed := job(6)
	for i := 2; i < len(unnamed); i += 2 {
		unnamed[i].Parts[0].Result.Pictures[0].View.ID = ""
	}
	person := []provider.Message{user()}
	for i := range 9 {
		person = append(person, user(provider.Show(shown(fmt.Sprint(i)))), provider.Message{Role: provider.RoleAssistant})
	}
	for _, c := range []struct {
		why      string
		messages []provider.Message
		want     string
	}{
		{"nothing", nil, ""},
		{"five live", job(5), ""},
		{"six go down to three", job(6), "0 1 2"},
		{"and stay there for three rounds", job(8), "0 1 2"},
		{"until there are six again", job(9), "0 1 2 3 4 5"},
		{"the unanswered turn never ages", many, "0 1"},
		{"once it is answered, it does", append(slices.Clone(many), round(10, "x")...), "0 1 a b c d"},
		{"a person's never age", person, ""},
		{"a reference that a tool showed does", reference, "0 1 2"},
		{"what has no id cannot", unnamed, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			var got []string
			for id := range Aged(c.messages, 3) {
				got = append(got, id)
			}
			slices.Sort(got)
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("%q, want %q", s, c.want)
			}
		})
	}
}

// drawJob draws a transcript in which tools and people show pictures.
func drawJob(t *rapid.T) []provider.Message {
	var out []provider.Message
	for i := range rapid.IntRange(1, 40).Draw(t, "rounds") {
		if i == 0 || rapid.IntRange(0, 5).Draw(t, "person") == 0 {
			out = append(out, user(provider.Text("go on"), provider.Show(shown(fmt.Sprintf("p%d", i)))))
		}
		var pictures []provider.Picture
		for k := range rapid.SampledFrom([]int{0, 1, 1, 1, 2, 5}).Draw(t, "shown") {
			pictures = append(pictures, shown(fmt.Sprintf("%d.%d", i, k)))
		}
		out = append(out, round(i, strings.Repeat("word ", rapid.IntRange(0, 2000).Draw(t, "words")), pictures...)...)
	}
	return out
}

func TestAgeingOnlyGoesForwardAndInBatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all, keep := drawJob(t), rapid.IntRange(1, 5).Draw(t, "keep")
		before := map[string]bool{}
		for n := range len(all) + 1 {
			aged := Aged(all[:n], keep)
			for id := range before {
				if !aged[id] {
					t.Fatalf("%s came back after %d messages", id, n)
				}
			}
			live, fresh, total := 0, 0, 0
			for _, p := range List(all[:n], nil, nil) {
				switch {
				case !p.Tool && aged[p.View]:
					t.Fatalf("a person's picture %s aged", p.View)
				case p.Unanswered && aged[p.View]:
					t.Fatalf("%s aged before it was answered", p.View)
				case p.Tool:
					total++
					if !aged[p.View] {
						live++
					}
					if p.Unanswered {
						fresh++
					}
				}
			}
			if live >= 2*keep && live > fresh && live > keep || live < min(total, keep) {
				t.Fatalf("after %d messages %d live, %d of them fresh", n, live, fresh)
			}
			// A batch leaves no more than keep and what is fresh.
			if len(aged) > len(before) && live > max(keep, fresh) {
				t.Fatalf("a batch after %d messages left %d", n, live)
			}
			before = aged
		}
	})
}

func TestListSaysWhatIsNotAnsweredAndLeavesTheAgedOut(t *testing.T) {
	got := List(job(2), map[string]bool{"0": true}, func(sha string) bool { return sha == "sha-1" })
	if len(got) != 2 || got[0].Tool || got[0].Unanswered || !got[1].Tool || !got[1].Unanswered || !got[1].Described || got[1].View != "1" {
		t.Errorf("%+v", got)
	}
}

func TestPictureLine(t *testing.T) {
	for _, c := range []struct {
		why   string
		line  string
		words []string
	}{
		{"aged", PictureLine(shown("a"), "", "", true), []string{`"a.png" (1200×800)`, "shown earlier", "no longer attached", "relo_image"}},
		{"without the tool", PictureLine(shown("a"), "", "", false), []string{"no longer attached.]"}},
		{"described", PictureLine(shown("a"), "", " A form.\nTwo buttons. ", true), []string{`described so: "A form.\nTwo buttons."]`}},
		{"too many", PictureLine(shown("a"), Count, "", false), []string{"no more pictures"}},
		{"no room", PictureLine(shown("a"), Request, "", false), []string{"does not fit"}},
		{"without a name", PictureLine(provider.Picture{}, "", "", false), []string{"without a name"}},
	} {
		for _, w := range c.words {
			if !strings.Contains(c.line, w) {
				t.Errorf("%s: no %q in %q", c.why, w, c.line)
			}
		}
	}
	if line := PictureLine(shown("a"), "", strings.Repeat("wörter ", 5000), true); len(line) > describedLine {
		t.Errorf("a line of %d bytes", len(line))
	}
}
