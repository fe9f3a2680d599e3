package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

// model answers probes by a function of the picture; without a picture it gets "".
type model struct {
	say   func(word string) (string, error)
	count func(picture bool) *int64 // what it says of tokens; nil: honest
	asked int
}

func (m *model) ask(_ context.Context, r provider.Request) (provider.Response, error) {
	m.asked++
	word, shown := "", false
	for _, p := range r.Messages[0].Parts {
		if p.Picture != nil {
			shown = true
			word, _ = Decode(p.Picture.Bytes)
		}
	}
	said, err := m.say(word)
	if err != nil {
		return provider.Response{}, err
	}
	count := m.count
	if count == nil {
		count = honest
	}
	return provider.Response{
		Message: provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{provider.Text(said)}}, Stop: provider.StopEnd,
		Usage: provider.Usage{TokensIn: count(shown), TokensOut: new(int64(1))},
	}, nil
}

func honest(picture bool) *int64 {
	if picture {
		return new(int64(112))
	}
	return new(int64(26))
}
func without(bool) *int64 { return new(int64(26)) } // the picture is dropped before it is counted
func silent(bool) *int64  { return nil }

func says(text string) func(string) (string, error) {
	return func(string) (string, error) { return text, nil }
}

func fails(e provider.Error) func(string) (string, error) {
	return func(string) (string, error) { return "", &e }
}

func sees(word string) (string, error) { return "It is " + word + ".", nil }

func TestVerdictsAreToldApart(t *testing.T) {
	t.Parallel()
	blind := provider.Error{Kind: provider.KindRefused, Status: 400, Words: "This model does not support image input", Sent: true}
	unsure := provider.Error{Kind: provider.KindRefused, Status: 400, Code: "1210", Words: "Invalid API parameter, please check the documentation", Body: `{"error":{"code":"1210","message":"Invalid API parameter, please check the documentation."}}`, Sent: true}
	for name, c := range map[string]struct {
		m        model
		sight    vision.Sight
		verdict  Verdict
		requests int
	}{
		"it sees":                                              {model{say: sees}, vision.Sees, Saw, 2},
		"it sees, and says so in German":                       {model{say: german}, vision.Sees, Saw, 2},
		"it guesses politely":                                  {model{say: says("The picture is magenta, I believe.")}, vision.Blind, Guessed, 3},
		"it names everything":                                  {model{say: says("red, orange, yellow, green, blue, purple, pink or black; 0 1 2 3 4 5 6 7 8 9")}, vision.Blind, Guessed, 3},
		"it says that it cannot see":                           {model{say: says("I'm sorry, I cannot see images.")}, vision.Blind, NoImage, 3},
		"it says that none came":                               {model{say: says("There is no image attached to your message.")}, vision.Blind, NoImage, 3},
		"a proxy drops it, and it guesses":                     {model{say: says("magenta"), count: without}, vision.Blind, Dropped, 3},
		"a proxy drops it, and it says so":                     {model{say: says("I don't see any image."), count: without}, vision.Blind, Dropped, 3},
		"a proxy drops it and lies of its usage":               {model{say: says("magenta"), count: honest}, vision.Blind, Guessed, 3},
		"a proxy drops it and counts nothing":                  {model{say: says("magenta"), count: silent}, vision.Blind, Guessed, 2},
		"the endpoint refuses":                                 {model{say: fails(blind)}, vision.Blind, Refused, 1},
		"it refuses in doubtful words, and takes the question": {model{say: onlyWithout(unsure)}, vision.Blind, Refused, 2},
		"it refuses in doubtful words, and the question too":   {model{say: fails(unsure)}, vision.Unknown, Failed, 2},
		"it says nothing":                                      {model{say: says("")}, vision.Unknown, Failed, 1},
		"it only thinks":                                       {model{say: says("<think>a picture of")}, vision.Unknown, Failed, 1},
		"the key is refused":                                   {model{say: fails(provider.Error{Kind: provider.KindKey, Status: 401, Words: "does not support image input", Sent: true})}, vision.Unknown, Failed, 1},
		"it is busy":                                           {model{say: fails(provider.Error{Kind: provider.KindBusy, Status: 429, Words: "too many images", Sent: true})}, vision.Unknown, Failed, 1},
		"it is broken":                                         {model{say: fails(provider.Error{Kind: provider.KindBusy, Status: 500, Words: "boom", Sent: true})}, vision.Unknown, Failed, 1},
		"the stream is cut":                                    {model{say: fails(provider.Error{Kind: provider.KindCut, Words: "EOF", Sent: true})}, vision.Unknown, Failed, 1},
		"it stalls":                                            {model{say: fails(provider.Error{Kind: provider.KindStalled, Words: "nothing came", Sent: true})}, vision.Unknown, Failed, 1},
		"it answers nonsense":                                  {model{say: fails(provider.Error{Kind: provider.KindMalformed, Status: 200, Words: "no JSON", Sent: true})}, vision.Unknown, Failed, 1},
		"the picture is no good":                               {model{say: fails(provider.Error{Kind: provider.KindRefused, Status: 400, Words: "Could not process image", Sent: true})}, vision.Unknown, Failed, 1},
		"the picture is small":                                 {model{say: fails(provider.Error{Kind: provider.KindRefused, Status: 400, Words: "The image length and width do not meet the model restrictions. [height:64 or width:64 must be larger than 100]", Sent: true})}, vision.Unknown, Failed, 1},
		"nobody is there":                                      {model{say: fails(provider.Error{Kind: provider.KindCut, Words: "connection refused"})}, vision.Unknown, Failed, 0},
		"it reads no digits, but colours":                      {model{say: onlyColours}, vision.Unknown, Failed, 4},
		"it misses once":                                       {model{say: missesOnce()}, vision.Sees, Saw, 4},
	} {
		f := Run(t.Context(), c.m.ask, Options{Model: "m", Rand: rand.New(rand.NewPCG(1, 2))})
		if f.Sight != c.sight || f.Verdict != c.verdict || f.Requests != c.requests {
			t.Errorf("%s: %s, %s after %d requests (%s); want %s, %s after %d", name, f.Sight, f.Verdict, f.Requests, f.Words, c.sight, c.verdict, c.requests)
		}
		if f.Words == "" || utf8.RuneCountInString(f.Words) > maxWords {
			t.Errorf("%s: words %q", name, f.Words)
		}
		if (f.Verdict == Failed) != (f.Sight == vision.Unknown) {
			t.Errorf("%s: %s with %s", name, f.Verdict, f.Sight)
		}
	}
}

func german(word string) (string, error) {
	in := map[string]string{"red": "rot", "orange": "orange", "yellow": "gelb", "green": "grün", "blue": "blau", "purple": "lila", "pink": "rosa", "black": "schwarz"}
	if w := in[word]; w != "" {
		return "Das Bild ist " + w + ".", nil
	}
	return []string{"null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"}[int(word[0]-'0')], nil
}

// onlyWithout refuses with a picture and answers without one.
func onlyWithout(e provider.Error) func(string) (string, error) {
	return func(word string) (string, error) {
		if word == "" {
			return "which picture?", nil
		}
		return "", &e
	}
}

func onlyColours(word string) (string, error) {
	if _, err := strconv.Atoi(word); err == nil {
		return "a letter", nil
	}
	return word, nil
}

func missesOnce() func(string) (string, error) {
	n := 0
	return func(word string) (string, error) {
		if n++; n == 2 {
			return "a letter", nil
		}
		return word, nil
	}
}

// Every wording of the seen refusals that say "blind" is one, through the probe.
func TestEveryWordingOfBlindnessIsARefusal(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../refusal/testdata/refusals.tsv")
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile("``(.+?) ``|`([^`]+)`")
	tried := 0
	for line := range strings.Lines(string(text)) {
		col := strings.Split(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(line, "#") || len(col) < 4 || col[2] != "blind" {
			continue
		}
		status, err := strconv.Atoi(col[1][:3])
		phrase := quoted.FindStringSubmatch(col[3] + " ")
		if err != nil || phrase == nil {
			t.Fatalf("cannot read %q", line)
		}
		words := phrase[1] + phrase[2]
		if strings.HasPrefix(words, "12") || strings.HasPrefix(words, "30") { // a code, then the words
			all := quoted.FindAllStringSubmatch(col[3]+" ", -1)
			words = `{"error":{"code":"` + words + `","message":` + strconv.Quote(all[1][1]+all[1][2]) + `}}`
		}
		tried++
		m := model{say: onlyWithout(provider.Error{Kind: provider.KindOf(status, "", words), Status: status, Words: words, Body: words, Sent: true})}
		if f := Run(t.Context(), m.ask, Options{Model: "m"}); f.Verdict != Refused || f.Sight != vision.Blind {
			t.Errorf("%s (%d %s): %s, %s", col[0], status, words, f.Verdict, f.Words)
		}
	}
	if tried < 20 {
		t.Errorf("only %d wordings were tried", tried)
	}
}

func TestAGuesserSeldomPasses(t *testing.T) {
	t.Parallel()
	const runs = 400 // drawn from a fixed seed
	for name, guess := range map[string]func(*rand.Rand) string{
		"at random":      func(r *rand.Rand) string { return colours[r.IntN(len(colours))].name + " " + strconv.Itoa(r.IntN(10)) },
		"always so":      func(*rand.Rand) string { return "blue 7" },
		"its favourites": func(r *rand.Rand) string { return []string{"red 3", "blue 7", "white 8"}[r.IntN(3)] },
	} {
		r, passed := rand.New(rand.NewPCG(3, 4)), 0
		for range runs {
			blindly := func(context.Context, provider.Request) (provider.Response, error) { // it does not even look
				parts := []provider.Part{provider.Text(guess(r))}
				return provider.Response{Message: provider.Message{Role: provider.RoleAssistant, Parts: parts}, Stop: provider.StopEnd}, nil
			}
			if Run(t.Context(), blindly, Options{Model: "m", Rand: r}).Sight == vision.Sees {
				passed++
			}
		}
		if share := float64(passed) / runs; share > 0.03 { // 1.6 % at most, and some luck
			t.Errorf("%s: %.2f %% of the guessers pass", name, 100*share)
		}
	}
}

func TestWhatIsDrawnIsLegible(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	seen := map[string]bool{}
	for range 400 {
		for _, c := range []card{drawColour(r, nil), drawDigit(r, nil)} {
			p, err := c.picture()
			if err != nil {
				t.Fatal(err)
			}
			img, err := png.Decode(bytes.NewReader(p.Bytes))
			if err != nil || img.Bounds().Dx() != edge || img.Bounds().Dy() != edge || p.Width != edge {
				t.Fatalf("%v, %v", img.Bounds(), err)
			}
			if word, ok := Decode(p.Bytes); !ok || word != c.name {
				t.Fatalf("%s is read as %q", c.name, word)
			}
			seen[c.name] = true
		}
	}
	if len(seen) != len(colours)+len(glyphs) {
		t.Errorf("drawn: %v", seen)
	}
	for a := range glyphs {
		for b := range a {
			x, y, differ := digit(a, inks[0], papers[0]), digit(b, inks[0], papers[0]), 0
			for i := 0; i < len(x.Pix); i += 4 {
				if x.Pix[i] != y.Pix[i] {
					differ++
				}
			}
			if differ < 40 {
				t.Errorf("%d and %d differ in %d pixels", a, b, differ)
			}
		}
	}
	if _, ok := Decode([]byte("no picture")); ok {
		t.Error("what is no picture was read")
	}
}

func TestTheSameIsNotDrawnTwice(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		var drawn []card
		for range rounds {
			drawn = append(drawn, drawColour(r, drawn))
			drawn = append(drawn, drawDigit(r, drawn))
		}
		if drawn[0].name == drawn[2].name || drawn[1].name == drawn[3].name {
			t.Fatalf("%s %s, %s %s", drawn[0].name, drawn[2].name, drawn[1].name, drawn[3].name)
		}
	}
}

func TestAProbeThatIsStoppedGivesNoAnswer(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	m := model{say: func(string) (string, error) { stop(); return "", fmt.Errorf("asked: %w", context.Canceled) }}
	f := Run(ctx, m.ask, Options{Model: "m"})
	if f.Verdict != Failed || f.Sight != vision.Unknown || !errors.Is(f.Err, context.Canceled) {
		t.Errorf("%+v", f)
	}
}

func TestUsageIsSummedWhereAllOfItIsKnown(t *testing.T) {
	t.Parallel()
	m := model{say: sees}
	if f := Run(t.Context(), m.ask, Options{Model: "m"}); *f.Usage.TokensIn != 224 || *f.Usage.TokensOut != 2 || f.Usage.TokensCached != nil {
		t.Errorf("%+v", f.Usage)
	}
	n := 0
	m = model{say: sees, count: func(bool) *int64 {
		if n++; n == 2 {
			return nil
		}
		return new(int64(5))
	}}
	if f := Run(t.Context(), m.ask, Options{Model: "m"}); f.Usage.TokensIn != nil {
		t.Errorf("a sum with an unknown part is unknown: %+v", f.Usage)
	}
}

func TestAnswersAreReadInManyWordings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said  string
		drawn string
		want  heard
	}{
		{"Red", "red", right},
		{"crimson", "red", right},
		{"The image is solid red.", "red", right},
		{"rouge", "red", right},
		{"红色", "red", right},
		{"赤", "red", right},
		{"красный", "red", right},
		{"rojo", "red", right},
		{"vermelho", "red", right},
		{"빨간색", "red", right},
		{"blue", "red", wrong},
		{"red or blue", "red", wrong},
		{"A cat", "red", wrong},
		{"", "red", nothing},
		{"I can't view images", "red", noImage},
		{"As a text-based AI, I cannot see it. If I had to guess: red", "red", noImage},
		{"我无法查看图片", "red", noImage},
		{"画像が見えません", "red", noImage},
		{"Je ne vois aucune image", "red", noImage},
		{"Ich sehe kein Bild", "red", noImage},
		{"No veo ninguna imagen", "red", noImage},
	} {
		if got := hearColour(c.said, c.drawn); got != c.want {
			t.Errorf("%q of %s: %d, want %d", c.said, c.drawn, got, c.want)
		}
	}
	for _, c := range []struct {
		said  string
		drawn int
		want  heard
	}{
		{"7", 7, right},
		{"Seven", 7, right},
		{"The digit is 7.", 7, right},
		{"七", 7, right},
		{"siete", 7, right},
		{"seven (7)", 7, right},
		{"1 or 7", 7, wrong},
		{"17", 7, wrong},
		{"no digit", 7, wrong},
		{"  ", 7, nothing},
		{"I do not see an image.", 7, noImage},
	} {
		if got := hearDigit(c.said, c.drawn); got != c.want {
			t.Errorf("%q of %d: %d, want %d", c.said, c.drawn, got, c.want)
		}
	}
}
