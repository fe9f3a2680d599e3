package rehearsal

import (
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"strconv"
	"strings"
)

// rgb is a colour as card.conf writes it.
type rgb struct{ R, G, B uint8 }

// String is the colour as #rrggbb.
func (c rgb) String() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// button is what card.conf says of the button, in pixels from the picture's corner.
type button struct {
	Color                    rgb
	Left, Top, Width, Height int
}

// String is the button in words.
func (b button) String() string {
	return fmt.Sprintf("%s, %d×%d pixels at (%d, %d)", b.Color, b.Width, b.Height, b.Left, b.Top)
}

// lines are the button's part of card.conf.
func (b button) lines() string {
	return fmt.Sprintf("button_color = %s\nbutton_left = %d\nbutton_top = %d\nbutton_width = %d\nbutton_height = %d\n",
		b.Color, b.Left, b.Top, b.Width, b.Height)
}

// card is the whole of card.conf.
type card struct {
	Width, Height            int
	Page, Card, Title, Field rgb
	Button                   button
}

// readCard reads card.conf. The error names the first key that is missing or wrong.
func readCard(conf string) (card, error) {
	values := map[string]string{}
	for line := range strings.Lines(conf) {
		if key, value, ok := strings.Cut(line, "="); ok {
			values[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	var c card
	for key, to := range map[string]*int{
		"width": &c.Width, "height": &c.Height, "button_left": &c.Button.Left, "button_top": &c.Button.Top,
		"button_width": &c.Button.Width, "button_height": &c.Button.Height,
	} {
		n, err := strconv.Atoi(values[key])
		if err != nil {
			return card{}, fmt.Errorf("card.conf: %s: %w", key, err)
		}
		*to = n
	}
	for key, to := range map[string]*rgb{
		"page_color": &c.Page, "card_color": &c.Card, "title_color": &c.Title, "field_color": &c.Field, "button_color": &c.Button.Color,
	} {
		if _, err := fmt.Sscanf(values[key], "#%02x%02x%02x", &to.R, &to.G, &to.B); err != nil {
			return card{}, fmt.Errorf("card.conf: %s is %q: %w", key, values[key], err)
		}
	}
	return c, nil
}

// draw draws the card as render.sh does.
func (c card) draw() *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, c.Width, c.Height))
	fill := func(x, y, width, height int, ink rgb) {
		area := image.Rect(x, y, x+width, y+height)
		draw.Draw(img, area, image.NewUniform(color.RGBA{ink.R, ink.G, ink.B, 255}), image.Point{}, draw.Src)
	}
	fill(0, 0, c.Width, c.Height, c.Page)
	fill(15, 8, c.Width-30, c.Height-16, c.Card)
	fill(25, 16, 40, 6, c.Title)
	fill(25, 28, c.Width-50, 8, c.Field)
	fill(25, 42, c.Width-50, 8, c.Field)
	fill(c.Button.Left, c.Button.Top, c.Button.Width, c.Button.Height, c.Button.Color)
	return img
}

// bmp writes a picture as render.sh does: 24 bits a pixel, the lowest row first
// ("Bitmap Storage", Microsoft).
func bmp(img *image.RGBA) []byte {
	const header, perMetre = 54, 2835 // 72 dots an inch
	width, height := img.Rect.Dx(), img.Rect.Dy()
	row := (width*3 + 3) / 4 * 4
	out := make([]byte, header, header+row*height)
	copy(out, "BM")
	for at, value := range map[int]int{
		2: header + row*height, 10: header, 14: 40, 18: width, 22: height, 34: row * height, 38: perMetre, 42: perMetre,
	} {
		binary.LittleEndian.PutUint32(out[at:], uint32(value)) //nolint:gosec // sizes of a small card
	}
	out[26], out[28] = 1, 24
	for y := height - 1; y >= 0; y-- {
		for x := range width {
			c := img.RGBAAt(x, y)
			out = append(out, c.B, c.G, c.R)
		}
		out = append(out, make([]byte, row-width*3)...)
	}
	return out
}
