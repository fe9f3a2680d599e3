package bedrock

import (
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
)

// family is whose model an id names: Converse is one shape, but what is refused in
// it is the model's.
type family int

const (
	familyOther family = iota // another maker's, or an ARN that says nothing
	familyClaude
	familyNova
	familyOpenAI
)

// familyOf reads an id such as anthropic.claude-…, us.openai.gpt-… (an inference
// profile) or arn:aws:bedrock:…:foundation-model/amazon.nova-….
func familyOf(model string) family {
	parts := strings.FieldsFunc(strings.ToLower(model), func(r rune) bool { return r == '.' || r == '/' || r == ':' })
	for i, p := range parts {
		switch {
		case p == "anthropic" || strings.HasPrefix(p, "claude-"):
			return familyClaude
		case p == "openai":
			return familyOpenAI
		case p == "amazon" && i+1 < len(parts) && strings.HasPrefix(parts[i+1], "nova"):
			return familyNova
		}
	}
	return familyOther
}

// Placements gives the places for a tool's pictures that may work for a model, the
// usual one first: OpenAI's refuse one inside toolResult with "This model doesn't
// support the image field for user messages", and take it beside (pi#8643,
// oh-my-pi#11685); Claude and Nova take it inside.
func Placements(model string) []provider.Placement {
	if familyOf(model) == familyOpenAI {
		return []provider.Placement{provider.PlaceAfter}
	}
	return []provider.Placement{provider.PlaceInside, provider.PlaceAfter}
}

// placement is where the request's pictures of tools go.
func placement(r provider.Request) provider.Placement {
	if r.Placement == provider.PlaceInside || r.Placement == provider.PlaceAfter {
		return r.Placement
	}
	return Placements(r.Model)[0]
}

// uncached are parts of the ids of Claude models from before prompt caching, which
// refuse a cachePoint (Bedrock's user guide, "Prompt caching": Claude 3.5 Haiku, 3.7
// Sonnet and later).
var uncached = []string{"claude-v2", "claude-instant", "claude-3-haiku", "claude-3-sonnet", "claude-3-opus", "claude-3-5-sonnet"}

// caches says where a model takes a cachePoint. Nova's are in system alone: it is
// documented to take them in messages too, and refuses one beside toolResult with
// "extraneous key [cachePoint] is not permitted" (pi#2053).
func caches(model string) (system, messages bool) {
	switch familyOf(model) {
	case familyClaude:
		old := slices.ContainsFunc(uncached, func(part string) bool { return strings.Contains(strings.ToLower(model), part) })
		return !old, !old
	case familyNova:
		return true, false
	default:
		return false, false
	}
}

// reasons says whether signed reasoning goes back: only Claude signs it, and a
// model of another maker refuses the block.
func reasons(model string) bool {
	f := familyOf(model)
	return f == familyClaude || f == familyOther
}
