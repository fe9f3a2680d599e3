package catalog

import (
	"testing"

	"github.com/relo-dev/relo/core/internal/vision"
)

func TestEveryRowOfTheCatalogueIsWhole(t *testing.T) {
	t.Parallel()
	if len(table()) < 10 {
		t.Fatalf("%d vendors", len(table()))
	}
	for api, models := range table() {
		seen := 0
		for id, k := range models {
			if k.Name == "" || k.Tier == TierUnknown || k.Context < 8000 || k.Sight.Sight == vision.Unknown || k.API != api || k.ID != id {
				t.Errorf("%s/%s: %+v", api, id, k)
			}
			if k.MaxOutput > k.Context/2 {
				t.Errorf("%s/%s: an answer of %d leaves no room in %d", api, id, k.MaxOutput, k.Context)
			}
			if p := k.Price; p.Known() && (*p.Input <= 0 || *p.Output < *p.Input) {
				t.Errorf("%s/%s costs %v in, %v out", api, id, *p.Input, *p.Output)
			}
			if _, chat := vision.Guess(id); !chat {
				t.Errorf("%s/%s answers nobody", api, id)
			}
			seen++
		}
		if list := Vendor(api); len(list) != seen || list[0].Tier > list[len(list)-1].Tier {
			t.Errorf("%s is listed as %v", api, list)
		}
	}
}

func TestFindKeepsAVendorsPriceAtTheVendor(t *testing.T) {
	t.Parallel()
	tests := []struct {
		api, id string
		found   bool
		priced  bool
		why     string
	}{
		{"anthropic", "claude-sonnet-5", true, true, "the vendor's own"},
		{"openai-chat", "claude-sonnet-5", true, false, "a proxy has its own prices"},
		{"openai-chat", "anthropic/claude-sonnet-5", true, false, "a vendor's name before the id"},
		{"openai-chat", "somebodys-model", false, false, "nobody knows it"},
		{"nowhere", "", false, false, "no id"},
	}
	for _, c := range tests {
		k, ok := Find(c.api, "", c.id)
		if ok != c.found || k.Price.Known() != c.priced {
			t.Errorf("%s: %s/%s gives %+v, %v", c.why, c.api, c.id, k, ok)
		}
		if ok && k.Sight.Source != vision.Catalog {
			t.Errorf("%s: the sight is said by %q", c.why, k.Sight.Source)
		}
	}
}

func TestATierReadsItsOwnWords(t *testing.T) {
	t.Parallel()
	for i, word := range tierWords {
		var got Tier
		if err := got.UnmarshalText([]byte(word)); err != nil || got != Tier(i) {
			t.Errorf("%q is %v, %v", word, got, err)
		}
	}
	if new(Tier).UnmarshalText([]byte("huge")) == nil {
		t.Error("huge is no tier")
	}
}
