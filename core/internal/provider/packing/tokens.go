package packing

import (
	"math"
	"regexp"
	"strings"
)

// meter estimates the tokens of a picture of w × h pixels.
type meter func(w, h int) int64

// priced is a family of models with its rule; the first that matches counts.
type priced struct {
	models *regexp.Regexp
	meter  meter
}

// meters are the rules that providers document. "OpenAI" is its guide "Images and vision",
// section "Calculating costs".
var meters = []priced{
	// Anthropic, guide "Vision": a token for each 28 × 28 pixels; at most 2576 px and 4784 tokens for the
	// models that it names (Fable 5, Mythos 5, Sonnet 5, Opus 4.7 and later), 1568 px and 1568 tokens for the others.
	{regexp.MustCompile(`fable|mythos|(sonnet|opus|haiku)-([5-9]|\d\d)\b|opus-4[-.]([7-9]|\d\d)\b`), claude(2576, 4784)},
	{regexp.MustCompile(`claude`), claude(1568, 1568)},
	// OpenAI: patches of 32 × 32. The newer families take 2,500 at 1.2 tokens each.
	{regexp.MustCompile(`gpt-4\.1-mini|gpt-5-mini`), patches(1536, 1.62)},
	{regexp.MustCompile(`gpt-4\.1-nano|gpt-5-nano`), patches(1536, 2.46)},
	{regexp.MustCompile(`o4-mini`), patches(1536, 1.72)},
	{regexp.MustCompile(`gpt-5[.-][2-9]|gpt-[6-9]`), patches(2500, 1.2)},
	// OpenAI: tiles of 512 × 512 and a base.
	{regexp.MustCompile(`gpt-4o-mini`), tiles(2833, 5667)},
	{regexp.MustCompile(`gpt-5`), tiles(70, 140)},
	{regexp.MustCompile(`(^|/)o[13](-|$)`), tiles(75, 150)},
	{regexp.MustCompile(`computer-use-preview`), tiles(65, 129)},
	{regexp.MustCompile(`gpt-4`), tiles(85, 170)},
	// Google, "Image understanding" of Vertex: 1120 is the default of Gemini 3, whatever the size.
	{regexp.MustCompile(`gemini-([3-9]|\d\d)`), func(_, _ int) int64 { return 1120 }},
	{regexp.MustCompile(`gemini`), gemini},
	// Qwen's model cards: a token for each 28 × 28 pixels, since Qwen3 32 × 32, and two around them;
	// DashScope takes at most 16,384.
	{regexp.MustCompile(`qwen-?2|qvq`), grid(28, 16384)},
	{regexp.MustCompile(`qwen`), grid(32, 16384)},
}

// Tokens estimates what a picture of w × h pixels costs a model in tokens, by the rule that its maker
// documents where there is one. Providers do not report it apart, so it stays an estimate.
func Tokens(api, model string, w, h int) int64 {
	if w <= 0 || h <= 0 {
		return 0
	}
	model = strings.ToLower(model)
	for _, m := range meters {
		if m.models.MatchString(model) {
			return m.meter(w, h)
		}
	}
	switch api {
	case "gemini", "gemini-openai":
		return gemini(w, h)
	case "anthropic":
		return claude(1568, 1568)(w, h)
	}
	return (int64(w)*int64(h) + pixelsPerToken - 1) / pixelsPerToken
}

func ceil(n, by float64) int64 { return int64(math.Ceil(n / by)) }

// claude counts patches of the largest size that keeps the aspect and both limits.
func claude(edge, budget float64) meter {
	return func(w, h int) int64 {
		fw, fh := float64(w), float64(h)
		scale := min(1, edge/max(fw, fh))
		count := func(s float64) int64 { return ceil(max(1, fw*s), 28) * ceil(max(1, fh*s), 28) }
		if n := count(scale); n <= int64(budget) {
			return n
		}
		// The largest scale whose count is within the budget; the count only grows with it.
		low, high := 0.0, scale
		for range 40 {
			if mid := (low + high) / 2; count(mid) <= int64(budget) {
				low = mid
			} else {
				high = mid
			}
		}
		return count(low)
	}
}

// patches counts 32 × 32 pixels; over the budget the picture is scaled so that whole patches cover it.
func patches(budget, each float64) meter {
	return func(w, h int) int64 {
		fw, fh := float64(w), float64(h)
		n := ceil(fw, 32) * ceil(fh, 32)
		if float64(n) > budget {
			r := math.Sqrt(32 * 32 * budget / (fw * fh))
			across, down := fw*r/32, fh*r/32
			if across >= 1 && down >= 1 {
				r *= min(math.Floor(across)/across, math.Floor(down)/down)
			}
			n = min(int64(budget), ceil(fw*r-1e-6, 32)*ceil(fh*r-1e-6, 32))
		}
		return int64(math.Ceil(float64(n) * each))
	}
}

// tiles counts 512 × 512 pixels after the picture was made to fit into 2048 × 2048 and its shorter side 768.
func tiles(base, each int64) meter {
	return func(w, h int) int64 {
		fw, fh := float64(w), float64(h)
		r := min(1, 2048/max(fw, fh))
		r *= min(1, 768/min(fw*r, fh*r))
		return base + each*ceil(fw*r-1e-6, 512)*ceil(fh*r-1e-6, 512)
	}
}

// gemini counts 258 for a small picture, else for each tile, as "Image understanding" of the Gemini API says.
func gemini(w, h int) int64 {
	const small, each = 384, 258
	if w <= small && h <= small {
		return each
	}
	unit := max(1, math.Floor(float64(min(w, h))/1.5))
	// A tile is 768 pixels when it is scaled; a picture of one pixel's width has not thousands of them.
	unit = max(unit, 256)
	return each * ceil(float64(w), unit) * ceil(float64(h), unit)
}

func grid(side float64, most int64) meter {
	return func(w, h int) int64 {
		return min(most, max(1, ceil(float64(w), side)*ceil(float64(h), side))) + 2
	}
}
