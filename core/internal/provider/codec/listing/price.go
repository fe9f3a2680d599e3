package listing

import "github.com/relo-dev/relo/core/internal/provider"

// tariff is where a service has its prices, and what a number there is of a USD for a
// million tokens.
type tariff struct {
	input, output, cached string
	unit                  float64
	either                bool // some write it for one token and some for a million
}

// tariffs are those of the services' API references: OpenRouter's texts for one token;
// Vercel's gateway, the same under other names, where Together has numbers for a
// million; DeepInfra's for a million; Novita's in ten-thousandths of a USD for a
// million; xAI's in cents for a hundred million.
var tariffs = []tariff{
	{"pricing.prompt", "pricing.completion", "pricing.input_cache_read", 1e6, false},
	{"pricing.input", "pricing.output", "pricing.input_cache_read", 1e6, true},
	{"metadata.pricing.input_tokens", "metadata.pricing.output_tokens", "metadata.pricing.cache_read_tokens", 1, false},
	{"input_token_price_per_m", "output_token_price_per_m", "", 1e-4, false},
	{"prompt_text_token_price", "completion_text_token_price", "cached_prompt_text_token_price", 1e-4, false},
}

const (
	// dearest is more USD for a million tokens than any model costs: what is above is
	// another unit than we think, and a budget must not count with it.
	dearest = 10_000
	// million is above every price for one token and below every one for a million but
	// nothing at all: the dearest token costs a thousandth of a USD.
	million = 0.001
)

// price reads USD for a million tokens; input and output both, or nothing.
func (f fields) price() provider.ListedPrice {
	for _, t := range tariffs {
		p := provider.ListedPrice{Input: t.read(f, t.input), Output: t.read(f, t.output)}
		if p.Input != nil && p.Output != nil {
			p.Cached = t.read(f, t.cached)
			return p
		}
	}
	return provider.ListedPrice{}
}

// read gives nil for what is no price: below zero is OpenRouter's "it depends".
func (t tariff) read(f fields, path string) *float64 {
	n, ok := f.number(path)
	if !ok || n < 0 {
		return nil
	}
	if !t.either || n < million {
		n *= t.unit
	}
	if n > dearest {
		return nil
	}
	return &n
}
