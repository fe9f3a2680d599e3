package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

// dotEdge is the side of the test picture in pixels: small enough to cost some
// hundred tokens, large enough for every provider's least size.
const dotEdge = 64

// picture shows a model one colour and asks which it is.
func (t *trial) picture(ctx context.Context, ref catalog.Ref) {
	_, id := ref.Split()
	began := time.Now()
	m := t.known.modelOf(t.cfg, ref)
	if m.Sight.Sight == vision.Blind {
		t.tell(Step{Step: StepPicture, Model: string(ref), State: stateSkip, Words: "text only (" + m.Sight.Source.Words() + "): no picture was sent"}, began)
		return
	}
	word, pic, err := dot(rand.IntN(len(dots))) //nolint:gosec // a colour, not a secret
	if err != nil {
		t.failed(StepPicture, string(ref), err, began)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	resp, err := t.client.Stream(ctx, t.request(id, provider.Text("Which colour fills this picture? Answer with the one word."), provider.Show(pic)), nil)
	if err != nil {
		t.failed(StepPicture, string(ref), err, began)
		return
	}
	said := answerText(resp)
	if !strings.Contains(strings.ToLower(said), word) {
		t.tell(Step{
			Step: StepPicture, Model: string(ref), State: stateFail, Words: fmt.Sprintf("did not see: the picture was %s, and it said %q", word, said),
			Hint: `set "vision": false on it, so that no task with pictures is given to it`,
		}, began)
		return
	}
	t.tell(Step{Step: StepPicture, Model: string(ref), State: stateOK, Words: "sees: it named the colour"}, began)
}

// saidRunes is how much of an answer is told.
const saidRunes = 60

func answerText(r provider.Response) string {
	var b strings.Builder
	for _, p := range r.Message.Parts {
		if p.Kind == provider.PartText {
			b.WriteString(p.Text)
		}
	}
	text := []rune(strings.Join(strings.Fields(b.String()), " "))
	return string(text[:min(len(text), saidRunes)])
}

// dots are colours that nobody confuses.
var dots = []struct {
	word string
	is   color.RGBA
}{
	{"red", color.RGBA{220, 20, 20, 255}},
	{"green", color.RGBA{20, 160, 40, 255}},
	{"blue", color.RGBA{20, 60, 220, 255}},
	{"yellow", color.RGBA{250, 220, 20, 255}},
}

// dot draws a picture of one colour, with its name.
func dot(n int) (word string, p provider.Picture, err error) {
	img := image.NewRGBA(image.Rect(0, 0, dotEdge, dotEdge))
	draw.Draw(img, img.Bounds(), image.NewUniform(dots[n].is), image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return "", p, fmt.Errorf("draw the test picture: %w", err)
	}
	sum := sha256.Sum256(b.Bytes())
	p.Bytes, p.MediaType, p.SHA256, p.Width, p.Height = b.Bytes(), "image/png", hex.EncodeToString(sum[:]), dotEdge, dotEdge
	p.View.Path = "a test picture"
	return dots[n].word, p, nil
}
