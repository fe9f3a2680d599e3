package prompt

import (
	_ "embed"
	"encoding/json"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

// DefaultMaxEdge is the longest edge of a picture, in pixels, when a call does
// not say another (02-contracts §6).
const DefaultMaxEdge = 1568

// ImageArgs are the arguments of relo_image.
type ImageArgs struct {
	Paths   []string       `json:"paths"`
	Region  *vision.Region `json:"region"`  // nil: the whole; of every path
	MaxEdge int            `json:"maxEdge"` // DefaultMaxEdge when the call did not say
}

//go:embed relo_image.md
var imageWords string

const imageSchema = `{"type":"object","additionalProperties":false,"required":["paths"],"properties":{
"paths":{"type":"array","minItems":1,"maxItems":4,"items":{"type":"string","minLength":1},"description":"picture files, relative to the workspace"},
"region":{"type":"object","additionalProperties":false,"required":["x","y","width","height"],
"description":"the part to show, in pixels of the upright source, x from the left and y from the top; of every path","properties":{
"x":{"type":"integer"},"y":{"type":"integer"},"width":{"type":"integer","minimum":1},"height":{"type":"integer","minimum":1}}},
"maxEdge":{"type":"integer","minimum":256,"maximum":2576,"description":"the longest edge of what is shown; 1568 when absent"}}}`

// Image is relo_image as the native engine offers it: without a key, because the
// engine knows who asks. Over MCP the hub's own schema has one.
func Image() provider.ToolSpec { return spec("relo_image", imageWords, imageSchema) }

// DecodeImage reads the arguments of relo_image. A region may stick out of the
// picture: it is clipped where the picture is known.
func DecodeImage(args json.RawMessage) (ImageArgs, []string) {
	a, faults := decode[ImageArgs](imageSchema, args)
	if a.MaxEdge == 0 {
		a.MaxEdge = DefaultMaxEdge
	}
	return a, faults
}
