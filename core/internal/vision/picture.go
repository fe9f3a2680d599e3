package vision

import (
	"path"
	"slices"
	"strings"
)

// Size is a width and a height in pixels.
type Size struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// Region is a rectangle in source pixels of the upright picture; x runs from
// the left, y from the top.
type Region struct {
	X      int `json:"x"`
	Y      int `json:"y"`
	Width  int `json:"width"`
	Height int `json:"height"`
}

// Scale says how many source pixels one sent pixel covers, per axis.
type Scale struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Meta describes one prepared picture, in the shape that relo_image reports.
// A source point is crop origin + sent point × scale.
type Meta struct {
	Index        int      `json:"index"`
	Path         string   `json:"path"`
	Format       string   `json:"format,omitempty"` // of the source: png, jpeg, gif, webp, bmp
	Source       Size     `json:"source"`
	Sent         Size     `json:"sent"`
	Crop         *Region  `json:"crop,omitempty"`
	Scale        Scale    `json:"scale"`
	MediaType    string   `json:"mediaType,omitempty"`
	Bytes        int      `json:"bytes"`
	SHA256       string   `json:"sha256"`
	ApproxTokens int      `json:"approxTokens"`
	Notes        []string `json:"notes,omitempty"`
}

// Picture is an encoded picture, ready to send. SHA256 is the hex digest of Bytes.
type Picture struct {
	SHA256    string `json:"sha256"`
	MediaType string `json:"mediaType"` // image/png, image/jpeg, image/gif, image/webp
	Width     int    `json:"width"`
	Height    int    `json:"height"`
	Bytes     []byte `json:"-"` // travels by SHA-256, never inside JSON
}

// Fit is what one place takes of a picture. Zero in a field: no such limit.
// Edges and pixels are of the upright picture, MaxAspect is the longer side over the shorter.
type Fit struct {
	MaxEdge   int      `json:"maxEdge,omitempty"`
	MaxBytes  int      `json:"maxBytes,omitempty"` // of the encoded picture, before base64
	MinEdge   int      `json:"minEdge,omitempty"`  // of the shorter side
	MinPixels int      `json:"minPixels,omitempty"`
	MaxPixels int      `json:"maxPixels,omitempty"`
	MaxAspect int      `json:"maxAspect,omitempty"`
	Kinds     []string `json:"kinds,omitempty"` // media types; nil: png, jpeg, gif and webp
}

// Takes reports whether a media type is among the kinds.
func (f Fit) Takes(mediaType string) bool {
	kinds := f.Kinds
	if kinds == nil {
		kinds = sentKinds
	}
	return slices.Contains(kinds, mediaType)
}

// Holds reports whether a picture of w × h pixels, n bytes and a media type is within the limits.
func (f Fit) Holds(w, h, n int, mediaType string) bool {
	long, short := max(w, h), min(w, h)
	return f.Takes(mediaType) && short >= max(1, f.MinEdge) && int64(w)*int64(h) >= int64(f.MinPixels) &&
		(f.MaxEdge == 0 || long <= f.MaxEdge) && (f.MaxBytes == 0 || n <= f.MaxBytes) &&
		(f.MaxPixels == 0 || int64(w)*int64(h) <= int64(f.MaxPixels)) &&
		(f.MaxAspect == 0 || int64(long) <= int64(short)*int64(f.MaxAspect))
}

var sentKinds = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// Role says what a picture is to the task.
type Role string

// The roles of a look.
const (
	Reference Role = "reference" // given with the task
	Result    Role = "result"    // made or changed by the attempt
	Other     Role = "other"
)

// View is where a shown picture came from, and the state of the work at that
// moment. It travels beside the picture so that a receipt can name it.
type View struct {
	ID     string  `json:"id"`               // unique in the attempt: the tool call's id and the picture's index
	Path   string  `json:"path"`             // slash path in the workspace, or the attachment's
	Role   Role    `json:"role"`             // reference, result, other
	Region *Region `json:"region,omitempty"` // nil: the whole picture
	Source Size    `json:"source"`           // before crop and scale
	Tree   string  `json:"tree,omitempty"`   // hash of the workspace's sources when the picture was prepared
	Fresh  bool    `json:"fresh"`            // the file was written after the last edit of the sources
}

var pictureEndings = map[string]bool{".png": true, ".jpg": true, ".jpeg": true, ".gif": true, ".webp": true, ".bmp": true}

// IsPictureName reports whether a slash path ends as pictures that can be shown
// do. It tells pictures from sources; what a file really is, its content says.
func IsPictureName(name string) bool { return pictureEndings[strings.ToLower(path.Ext(name))] }
