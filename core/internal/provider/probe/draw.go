package probe

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/relo-dev/relo/core/internal/provider"
)

// card is a picture with its question and the answer that is right.
type card struct {
	question string
	name     string // what is right: red, 7
	what     string // for people: the colour red, the digit 7
	img      image.Image
	hear     func(said string) heard
}

// colours are the eight that are drawn: far from each other, and none that a blank
// or broken picture has (white, grey).
var colours = []struct {
	name string
	is   color.RGBA
}{
	{"red", color.RGBA{220, 20, 20, 255}},
	{"orange", color.RGBA{255, 130, 0, 255}},
	{"yellow", color.RGBA{255, 225, 20, 255}},
	{"green", color.RGBA{20, 150, 40, 255}},
	{"blue", color.RGBA{20, 50, 220, 255}},
	{"purple", color.RGBA{110, 25, 150, 255}},
	{"pink", color.RGBA{255, 120, 190, 255}},
	{"black", color.RGBA{0, 0, 0, 255}},
}

// drawColour draws a picture of one colour that is not among those before.
func drawColour(r *rand.Rand, before []card) card {
	n := fresh(r, len(colours), func(n int) bool { return used(before, colours[n].name) })
	c := colours[n]
	return card{
		question: "Which colour fills this picture? Answer with the one word.",
		name:     c.name, what: "the colour " + c.name,
		img:  uniform(c.is),
		hear: func(said string) heard { return hearColour(said, c.name) },
	}
}

// inks are dark, papers light: any two of them are legible.
var (
	inks   = []color.RGBA{{0, 0, 0, 255}, {20, 20, 110, 255}, {90, 10, 10, 255}, {10, 70, 20, 255}}
	papers = []color.RGBA{{255, 255, 255, 255}, {255, 250, 215, 255}, {225, 235, 255, 255}, {225, 250, 225, 255}}
)

// drawDigit draws a digit that is not among those before.
func drawDigit(r *rand.Rand, before []card) card {
	n := fresh(r, len(glyphs), func(n int) bool { return used(before, strconv.Itoa(n)) })
	name := strconv.Itoa(n)
	return card{
		question: "Which digit is drawn in this picture? Answer with the one digit.",
		name:     name, what: "the digit " + name,
		img:  digit(n, inks[r.IntN(len(inks))], papers[r.IntN(len(papers))]),
		hear: func(said string) heard { return hearDigit(said, n) },
	}
}

func used(before []card, name string) bool {
	return slices.ContainsFunc(before, func(c card) bool { return c.name == name })
}

// fresh draws below n, evenly among those that are not taken.
func fresh(r *rand.Rand, n int, taken func(int) bool) int {
	var free []int
	for i := range n {
		if !taken(i) {
			free = append(free, i)
		}
	}
	return free[r.IntN(len(free))]
}

func uniform(c color.RGBA) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, edge, edge))
	draw.Draw(img, img.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	return img
}

// digit draws a glyph in the middle.
func digit(n int, ink, paper color.RGBA) *image.RGBA {
	img := uniform(paper)
	rows := glyphs[n]
	left, top := (edge-len(rows[0])*cell)/2, (edge-len(rows)*cell)/2
	for y, row := range rows {
		for x, dot := range row {
			if dot == '#' {
				at := image.Rect(left+x*cell, top+y*cell, left+(x+1)*cell, top+(y+1)*cell)
				draw.Draw(img, at, image.NewUniform(ink), image.Point{}, draw.Src)
			}
		}
	}
	return img
}

// picture encodes the card as a request holds it.
func (c card) picture() (provider.Picture, error) {
	var p provider.Picture
	var b bytes.Buffer
	if err := png.Encode(&b, c.img); err != nil {
		return p, fmt.Errorf("draw the test picture: %w", err)
	}
	sum := sha256.Sum256(b.Bytes())
	p.Bytes, p.MediaType, p.SHA256, p.Width, p.Height = b.Bytes(), "image/png", hex.EncodeToString(sum[:]), edge, edge
	p.View.Path = "a test picture"
	return p, nil
}

// glyphs are the ten digits, five dots wide and seven high.
var glyphs = [10][7]string{
	{" ### ", "#   #", "#   #", "#   #", "#   #", "#   #", " ### "},
	{"  #  ", " ##  ", "# #  ", "  #  ", "  #  ", "  #  ", "#####"},
	{" ### ", "#   #", "    #", "   # ", "  #  ", " #   ", "#####"},
	{" ### ", "#   #", "    #", "  ## ", "    #", "#   #", " ### "},
	{"   # ", "  ## ", " # # ", "#  # ", "#####", "   # ", "   # "},
	{"#####", "#    ", "#### ", "    #", "    #", "#   #", " ### "},
	{"  ## ", " #   ", "#    ", "#### ", "#   #", "#   #", " ### "},
	{"#####", "    #", "   # ", "  #  ", "  #  ", " #   ", " #   "},
	{" ### ", "#   #", "#   #", " ### ", "#   #", "#   #", " ### "},
	{" ### ", "#   #", "#   #", " ####", "    #", "   # ", " ##  "},
}
