package prompt

import (
	_ "embed"
	"encoding/json"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

// ImageArgs are the arguments of relo_image.
type ImageArgs struct {
	Paths   []string       `json:"paths"`
	Region  *vision.Region `json:"region"`  // nil: the whole; of every path
	MaxEdge int            `json:"maxEdge"` // 0: the call did not say
}

//go:embed relo_image.md
var imageWords string

const imageSchema = `{"type":"object","additionalProperties":false,"required":["paths"],"properties":{
"paths":{"type":"array","minItems":1,"maxItems":4,"items":{"type":"string","minLength":1},"description":"picture files, relative to the workspace"},
"region":{"type":"object","additionalProperties":false,"required":["x","y","width","height"],
"description":"the part to show, in pixels of the upright source, x from the left and y from the top; of every path","properties":{
"x":{"type":"integer"},"y":{"type":"integer"},"width":{"type":"integer","minimum":1},"height":{"type":"integer","minimum":1}}},
"maxEdge":{"type":"integer","minimum":256,"maximum":2576,"description":"the longest edge of what is shown, in pixels; what the person set when absent, usually 1568"}}}`

// Image is relo_image as it is offered where the one who asks is known anyway: by the
// engine, or by a connection of its own.
func Image() provider.ToolSpec { return spec("relo_image", imageWords, imageSchema) }

// DecodeImage reads the arguments of relo_image. A region may stick out of the
// picture: it is clipped where the picture is known.
func DecodeImage(args json.RawMessage) (ImageArgs, []string) {
	return decode[ImageArgs](imageSchema, args)
}
