package packing

import (
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

type Limits struct {
	Edge, ManyEdge, Many, Pictures, PictureBytes, RequestBytes, MinEdge, MinPixels, MaxPixels, MaxAspect int
	Kinds                                                                                               []string
}

func LimitsOf(api, wire, model string) Limits { return Limits{} }

type Picture struct {
	Key, View            string
	Width, Height, Bytes int
	MediaType            string
	Tool, Unanswered     bool
	Described            bool
}
type Reason string
type Fate struct {
	Keep bool
	Fit  *vision.Fit
	Why  Reason
}

func Plan(p []Picture, textBytes int, l Limits, keep int) []Fate {
	out := make([]Fate, len(p))
	for i := range out {
		out[i].Keep = true
	}
	return out
}
func Aged(messages []provider.Message, keep int) map[string]bool { return nil }

type Lifted struct {
	MediaType string
	Data      []byte
	Bad       bool
}

func Lift(text string) (string, []Lifted) { return text, nil }

func Tokens(api, model string, w, h int) int64 { return int64((w*h + 749) / 750) }
