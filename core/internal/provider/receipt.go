package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/relo-dev/relo/core/internal/vision"
)

// ErrPicture says that a picture cannot be sent as it is: it has no bytes, they
// are not the ones that its SHA-256 names, or its media type is missing.
var ErrPicture = errors.New("the picture cannot be sent")

// Receipt makes the receipt for p at place, after hashing its bytes: a receipt
// never repeats a claim.
func (p Picture) Receipt(place string) (Receipt, error) {
	sum := sha256.Sum256(p.Bytes)
	digest := hex.EncodeToString(sum[:])
	switch {
	case len(p.Bytes) == 0:
		return Receipt{}, fmt.Errorf("%w: %q has no bytes", ErrPicture, p.View.Path)
	case digest != p.SHA256:
		return Receipt{}, fmt.Errorf("%w: the bytes of %q have not the SHA-256 that it names", ErrPicture, p.View.Path)
	case p.MediaType == "":
		return Receipt{}, fmt.Errorf("%w: %q has no media type", ErrPicture, p.View.Path)
	}
	return Receipt{
		SHA256: digest, Place: place, Bytes: len(p.Bytes), MediaType: p.MediaType,
		Size: vision.Size{Width: p.Width, Height: p.Height}, View: p.View,
	}, nil
}
