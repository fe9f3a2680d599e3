package packing

import (
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/vision"
)

// Limits of one endpoint's requests. Zero: no such limit known.
type Limits struct {
	Edge         int      // longest edge, pixels
	ManyEdge     int      // the same in a request of more than Many pictures
	Many         int      //
	Pictures     int      // most pictures in a request
	PictureBytes int      // of one picture, before base64
	RequestBytes int      // of the whole body
	MinEdge      int      // shortest edge, pixels
	MinPixels    int      // width × height
	MaxPixels    int      // width × height
	MaxAspect    int      // longer side over shorter
	Kinds        []string // media types taken; nil: png, jpeg, gif, webp
}

const (
	pngType  = "image/png"
	jpegType = "image/jpeg"
	gifType  = "image/gif"
	webpType = "image/webp"
)

// raw is the bytes that n characters of base64 hold.
func raw(n int) int { return n / 4 * 3 }

// row is what is known of one service, or of a family of models wherever it is served.
type row struct {
	name   string   // in the documents
	apis   []string // presets of the settings
	models []string // parts of a model's id; such a row narrows that of the service
	Limits
	source string
}

// services are the rows by api; what has none is unknown.
var services = []row{
	{
		name: "Anthropic", apis: []string{"anthropic"},
		// 10 MB a picture are taken by Anthropic itself since 2026, 5 MiB of base64 still on
		// Bedrock (aws-sdk-js-v3#8297) and by others who speak this wire; the smaller one loses
		// nothing, since the models scale down what is larger. 600 pictures are taken by models
		// of more than 200k tokens.
		Limits: Limits{Edge: 8000, ManyEdge: 2000, Many: 20, Pictures: 100, PictureBytes: raw(5 << 20), RequestBytes: 32_000_000},
		source: "Anthropic, guide \"Vision\" and API overview (request size limits); claude-code#8202, #27090, #52220",
	},
	{
		name: "OpenAI chat, Responses", apis: []string{"openai", "openai-responses"},
		// The newer text of the guide allows 512 MB for some models. Of GIFs only those that do not
		// move are taken, which nobody here looks for.
		Limits: Limits{Pictures: 500, PictureBytes: raw(20_000_000), RequestBytes: 50_000_000, Kinds: []string{pngType, jpegType, webpType}},
		source: "OpenAI, guide \"Images and vision\" (image input requirements; no GIF that moves); vercel/ai#1544 (20 MB a picture)",
	},
	{
		name: "Gemini, inline", apis: []string{"gemini", "gemini-openai"},
		// "File input methods" now speaks of 100 MB; the guide on pictures and Firebase's still say 20 MB.
		Limits: Limits{Pictures: 3000, RequestBytes: 20_000_000, Kinds: []string{pngType, jpegType, webpType}},
		source: "Google, \"Image understanding\" and \"Supported input files and requirements\" (20 MB in all; no GIF)",
	},
	{
		name: "Bedrock Converse", apis: []string{"bedrock"},
		// 20 are counted over the whole request: "too many images and documents: 21 + 0 > 20", cline#1844. AWS's page
		// "API restrictions" says by now that only the models set limits; "Message" still has these.
		Limits: Limits{Edge: 8000, Pictures: 20, PictureBytes: 3_750_000, RequestBytes: 20_000_000},
		source: "AWS, API reference \"Message\" (20 pictures, 3.75 MB, 8000 px); Anthropic, API overview (20 MB on Bedrock); cline#1844",
	},
	{
		name: "DashScope (Qwen)", apis: []string{"qwen"},
		Limits: Limits{
			PictureBytes: raw(10_000_000), RequestBytes: 20_000_000, MinEdge: 11, MaxAspect: 200,
			Kinds: []string{pngType, jpegType, webpType},
		},
		source: "Alibaba Cloud Model Studio, \"Error messages\" (sides, 200:1, content types; its refusal says \"larger than 10\") and \"Visual understanding\" (10 MB)",
	},
	{
		name: "xAI", apis: []string{"xai"},
		Limits: Limits{PictureBytes: raw(20 << 20), MinPixels: 512, Kinds: []string{pngType, jpegType}},
		source: "xAI, \"Models\" (20 MiB, jpg and png); its refusal \"which is below the minimum of 512 pixels\"",
	},
	{
		name: "Groq", apis: []string{"groq"},
		Limits: Limits{Pictures: 5, PictureBytes: raw(4_000_000), RequestBytes: 4_000_000, MaxPixels: 33_177_600},
		source: "Groq, \"Images and Vision\" (4 MB a request with base64, 33,177,600 pixels, 5 pictures)",
	},
	{
		name: "Mistral", apis: []string{"mistral"},
		Limits: Limits{Pictures: 8, PictureBytes: raw(10_000_000), RequestBytes: 50_000_000, Kinds: []string{pngType, jpegType, webpType}},
		source: "Mistral, \"Vision\", questions at its end (10 MB, 8 pictures, no GIF that moves)",
	},
	{
		name: "Ollama, LM Studio, llama.cpp, vLLM", apis: []string{"ollama", "lmstudio", "llamacpp", "vllm"},
		// "height:30 or width:305 must be larger than factor:32" ends the runner (32 itself is taken); the
		// smart resize of Qwen's own code demands 200:1. What reads pictures there (stb_image in llama.cpp) knows no WebP.
		Limits: Limits{MinEdge: 32, MaxAspect: 200, Kinds: []string{pngType, jpegType}},
		source: "ollama#11297, ollama#13113, vllm#21109; smart_resize as quoted in LlamaFactory#7690; llama.cpp (stb_image)",
	},
}

// unknown is for services that nobody has read about: what all of the known ones take, but
// those that are stricter than the rest.
var unknown = row{
	name:   "unknown",
	Limits: Limits{Edge: 2000, Pictures: 20, PictureBytes: ampleBytes, RequestBytes: 20_000_000, MinEdge: 32, MaxAspect: 200},
	source: "the strictest of the widely used services",
}

// families narrow the row of a service for models that are the same wherever they are served.
var families = []row{
	{
		name: "Claude", models: []string{"claude"},
		Limits: Limits{Edge: 8000, ManyEdge: 2000, Many: 20, Pictures: 100, PictureBytes: raw(5 << 20)},
		source: "Anthropic, guide \"Vision\"; bedrock: aws-sdk-js-v3#8297",
	},
	{
		name: "Qwen", models: []string{"qwen", "qvq"},
		Limits: Limits{MinEdge: 32, MaxAspect: 200},
		source: "vllm#21109, transformers#37264, ollama#13113",
	},
	{
		name: "Grok", models: []string{"grok"},
		Limits: Limits{MinPixels: 512, Kinds: []string{pngType, jpegType}},
		source: "xAI, \"Models\"; seen through OpenRouter",
	},
	{
		name: "Gemini", models: []string{"gemini"},
		Limits: Limits{Kinds: []string{pngType, jpegType, webpType}},
		source: "Google, \"Image understanding\"",
	},
}

// byWire gives the service that a wire was made by, for an api without a row.
var byWire = map[string]string{
	"anthropic": "anthropic", "openai-responses": "openai-responses", "gemini": "gemini",
	"bedrock": "bedrock", "ollama": "ollama",
}

// LimitsOf gives the limits of requests to a service, by the name that the settings call
// it (api), its wire, and the model's id. Api and wire may be empty. A family of models that has
// limits of its own narrows those of the service: Claude keeps them wherever it is served.
func LimitsOf(api, wire, model string) Limits {
	l := serviceOf(api, wire).Limits
	model = strings.ToLower(model)
	for _, f := range families {
		if slices.ContainsFunc(f.models, func(part string) bool { return strings.Contains(model, part) }) {
			l = narrow(l, f.Limits)
		}
	}
	l.Kinds = slices.Clone(l.Kinds)
	return l
}

func serviceOf(api, wire string) row {
	for _, name := range []string{api, byWire[wire]} {
		if at := slices.IndexFunc(services, func(r row) bool { return slices.Contains(r.apis, name) }); at >= 0 {
			return services[at]
		}
	}
	return unknown
}

// narrow gives the stricter of two limits in each field.
func narrow(a, b Limits) Limits {
	kinds := a.Kinds
	switch {
	case kinds == nil:
		kinds = b.Kinds
	case b.Kinds != nil:
		kinds = slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return !slices.Contains(b.Kinds, k) })
	}
	return Limits{
		Edge: least(a.Edge, b.Edge), ManyEdge: least(a.ManyEdge, b.ManyEdge), Many: least(a.Many, b.Many),
		Pictures: least(a.Pictures, b.Pictures), PictureBytes: least(a.PictureBytes, b.PictureBytes),
		RequestBytes: least(a.RequestBytes, b.RequestBytes), MinEdge: max(a.MinEdge, b.MinEdge),
		MinPixels: max(a.MinPixels, b.MinPixels), MaxPixels: least(a.MaxPixels, b.MaxPixels),
		MaxAspect: least(a.MaxAspect, b.MaxAspect), Kinds: kinds,
	}
}

// least is the smaller of two limits; zero is none.
func least(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// Fit is what the limits say of one picture in a request of so many.
func (l Limits) Fit(pictures int) vision.Fit {
	edge := l.Edge
	if l.ManyEdge > 0 && pictures > l.Many {
		edge = least(edge, l.ManyEdge)
	}
	return vision.Fit{
		MaxEdge: edge, MaxBytes: l.PictureBytes, MinEdge: l.MinEdge, MinPixels: l.MinPixels,
		MaxPixels: l.MaxPixels, MaxAspect: l.MaxAspect, Kinds: slices.Clone(l.Kinds),
	}
}
