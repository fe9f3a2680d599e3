package refusal

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheNumbersOfARefusalAreRead(t *testing.T) {
	tests := []struct {
		words string
		want  Sizes
	}{
		{"messages.3.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes", Sizes{Bytes: 5000000 / 4 * 3}},
		{"At least one of the image dimensions exceed max allowed size: 8000 pixels", Sizes{Edge: 8000}},
		{"At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels", Sizes{Edge: 2000}},
		{"Too much media: 0 document pages + 101 images > 100", Sizes{Pictures: 100}},
		{"At most 1 image(s) may be provided in one prompt.", Sizes{Pictures: 1}},
		{`{"error":{"message":"At most 4 images may be provided in one prompt"}}`, Sizes{Pictures: 4}},
		{"The image length and width do not meet the model restrictions. [height:8 or width:1000 must be larger than 10]", Sizes{MinEdge: 11}},
		{"Image must have at least 512 total pixels", Sizes{MinPixels: 512}},
		{"Image base64 size (7.2 MB) exceeds API limit (5 MB)", Sizes{Bytes: 5000000 / 4 * 3}},
		{"Image size must be under 20 MB", Sizes{Bytes: 20000000 / 4 * 3}},
		{"Request exceeds the maximum size", Sizes{}},
		{"the image is too large", Sizes{}},
		{"The image was too small: minimum is 32 pixels", Sizes{MinEdge: 32}},
		{"maximum of 5 images allowed, 429 tokens left", Sizes{Pictures: 5}},
	}
	for _, c := range tests {
		if diff := cmp.Diff(c.want, ReadSizes(c.words)); diff != "" {
			t.Errorf("%q:\n%s", c.words, diff)
		}
	}
}
