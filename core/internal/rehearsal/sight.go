package rehearsal

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // the formats in which pictures are sent
	_ "image/png"  // 〃

	"github.com/relo-dev/relo/core/internal/provider/double"
)

// decode turns a picture that arrived into pixels.
func decode(p double.Picture) (image.Image, error) {
	img, _, err := image.Decode(bytes.NewReader(p.Bytes))
	if err != nil {
		return nil, fmt.Errorf("the picture that arrived cannot be decoded: %w", err)
	}
	return img, nil
}

// shape is an area of one colour that is neither page nor card.
type shape struct {
	area image.Rectangle
	ink  rgb
}

// errNoCard says that a picture is not one of a card.
var errNoCard = errors.New("the picture does not show a card with a button: no upright areas of one colour on it")

// findButton measures the button: the lowest area of one colour on the card. It
// is told nothing but the pixels.
func findButton(img image.Image) (button, error) {
	shapes, err := findShapes(img)
	if err != nil {
		return button{}, err
	}
	if len(shapes) == 0 {
		return button{}, errNoCard
	}
	lowest := shapes[0]
	for _, s := range shapes {
		if s.area.Min.Y > lowest.area.Min.Y {
			lowest = s
		}
	}
	a := lowest.area
	return button{Color: lowest.ink, Left: a.Min.X, Top: a.Min.Y, Width: a.Dx(), Height: a.Dy()}, nil
}

// findShapes takes the corner's colour for the page, the most frequent other
// colour for the card, and the rest apart into areas of one colour.
func findShapes(img image.Image) ([]shape, error) {
	at := pixels(img)
	size := img.Bounds().Size()
	page := at(0, 0)
	ground := commonest(img, page)
	var shapes []shape
	for y := range size.Y {
		for x := 0; x < size.X; x++ {
			p := image.Pt(x, y)
			ink := at(x, y)
			if ink == page || ink == ground {
				continue
			}
			if in := inside(shapes, p); in > 0 {
				x += in - 1
				continue
			}
			if len(shapes) == maxShapes {
				return nil, errNoCard
			}
			s := shape{grow(at, size, p), ink}
			shapes = append(shapes, s)
			x = s.area.Max.X - 1
		}
	}
	return shapes, nil
}

// inside gives how many pixels from p on, to the right, belong to a known shape.
func inside(shapes []shape, p image.Point) int {
	for _, s := range shapes {
		if p.In(s.area) {
			return s.area.Max.X - p.X
		}
	}
	return 0
}

// grow widens a pixel to the right, then down for as long as whole rows follow.
func grow(at func(x, y int) rgb, size, p image.Point) image.Rectangle {
	ink := at(p.X, p.Y)
	right := p.X
	for right < size.X && at(right, p.Y) == ink {
		right++
	}
	bottom := p.Y
	for bottom < size.Y {
		for x := p.X; x < right; x++ {
			if at(x, bottom) != ink {
				return image.Rect(p.X, p.Y, right, bottom)
			}
		}
		bottom++
	}
	return image.Rect(p.X, p.Y, right, bottom)
}

func commonest(img image.Image, but rgb) rgb {
	at, size, count := pixels(img), img.Bounds().Size(), map[rgb]int{}
	best := but
	for y := range size.Y {
		for x := range size.X {
			ink := at(x, y)
			count[ink]++
			if ink != but && (best == but || count[ink] > count[best]) {
				best = ink
			}
		}
	}
	return best
}

// pixels reads colours with the picture's corner at 0, 0.
func pixels(img image.Image) func(x, y int) rgb {
	corner := img.Bounds().Min
	return func(x, y int) rgb {
		c, _ := color.NRGBAModel.Convert(img.At(corner.X+x, corner.Y+y)).(color.NRGBA)
		return rgb{c.R, c.G, c.B}
	}
}

// unlike compares two pictures pixel by pixel and says what differs; empty: nothing does.
func unlike(a, b image.Image) string {
	size, other := a.Bounds().Size(), b.Bounds().Size()
	if size != other {
		return fmt.Sprintf("one is %d×%d pixels, the other %d×%d", size.X, size.Y, other.X, other.Y)
	}
	atA, atB := pixels(a), pixels(b)
	count, area := 0, image.Rectangle{}
	for y := range size.Y {
		for x := range size.X {
			if atA(x, y) != atB(x, y) {
				count++
				area = area.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d pixels differ, all inside %d×%d at (%d, %d)", count, size.X*size.Y, area.Dx(), area.Dy(), area.Min.X, area.Min.Y)
}
