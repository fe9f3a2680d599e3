package catalog

import (
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

func TestAnEndpointIsAWireAndAnAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
		why  string
	}{
		{"https://Host.example/v1", "https://host.example/v1/", true, "neither capitals of the host nor a slash at the end matter"},
		{"https://me:secret@host.example/v1?k=v#x", "https://host.example/v1", true, "a user, a query and a fragment are no part of it"},
		{"https://host.example/v1", "https://host.example/V1", false, "a path may tell capitals apart"},
		{"https://host.example/v1", "http://host.example/v1", false, "another scheme is another server"},
		{"https://host.example:8443/v1", "https://host.example/v1", false, "so is another port"},
	} {
		if (EndpointOf("w", c.a) == EndpointOf("w", c.b)) != c.same {
			t.Errorf("%s: %q, %q", c.why, EndpointOf("w", c.a), EndpointOf("w", c.b))
		}
	}
	if EndpointOf("anthropic", "https://h") == EndpointOf("openai-chat", "https://h") || EndpointOf("w", "https://h/v1").URL() != "https://h/v1" {
		t.Error("a wire is part of it, and the address can be read back")
	}
}

func TestFactsComeFromThePersonThenTheListThenTheCatalogue(t *testing.T) {
	t.Parallel()
	price := func(in float64) Price { return Price{Input: &in, Output: &in} }
	at := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	s := Sources{
		Ref: "p/claude-sonnet-5", API: "anthropic", URL: "https://api.anthropic.com", Private: true, TakesPictures: true, ListedAt: at,
		Listed: &provider.Listed{ID: "claude-sonnet-5", Sight: vision.Blind, Field: "capabilities.image_input", Context: 111, Tools: new(false), Chat: new(true), Price: provider.ListedPrice(price(7))},
		Probed: &Probe{Endpoint: EndpointOf("anthropic", "https://api.anthropic.com"), ID: "claude-sonnet-5", Sight: vision.Sees, At: at, Words: "it saw"},
		Set:    Facts{Context: 222, Price: price(9), Tools: new(true)},
	}
	m := Resolve(s)
	if m.Context != 222 || *m.Price.Input != 9 || !m.Tools || !m.Chat || !m.Listed || !m.Private {
		t.Errorf("the person's word: %+v", m)
	}
	if m.Sight.Source != vision.Probed || m.Sight.Detail != "2026-12-01 at https://api.anthropic.com: it saw" || len(m.Said) != 4 {
		t.Errorf("a probe before a list before the catalogue before the name: %+v", m.Said)
	}
	s.Set, s.Probed = Facts{}, nil
	if m = Resolve(s); m.Context != 111 || *m.Price.Input != 7 || m.Tools || m.Sight.Source != vision.Reported || m.Sight.Detail != "capabilities.image_input, 2026-12-01" {
		t.Errorf("the list's: %+v", m)
	}
	s.Listed = nil
	if m = Resolve(s); m.Context != 1_000_000 || !m.Price.Known() || !m.Tools || m.Listed || m.Sight.Source != vision.Catalog || m.Sight.Sight != vision.Sees {
		t.Errorf("the catalogue's: %+v", m)
	}
}

func TestAModelThatALocalServerPassesOnIsNotPrivate(t *testing.T) {
	t.Parallel()
	s := Sources{Ref: "here/gpt-oss:120b-cloud", API: "ollama", URL: "http://127.0.0.1:11434", Private: true, Listed: &provider.Listed{ID: "gpt-oss:120b-cloud"}}
	if !Resolve(s).Private {
		t.Error("a model of a local server is private")
	}
	s.Listed.Remote = "ollama.com"
	if Resolve(s).Private {
		t.Error("it runs at ollama.com")
	}
}

func TestAnUnknownModelGetsWordsWhereNoPicturesAreTaken(t *testing.T) {
	t.Parallel()
	for _, takes := range []bool{true, false} {
		m := Resolve(Sources{Ref: "p/nobody-knows-7b", API: "openai-chat", URL: "https://p.example/v1", TakesPictures: takes})
		want := map[bool]vision.Sight{true: vision.Unknown, false: vision.Blind}[takes]
		if m.Sight.Sight != vision.Unknown || m.Eyes() != want || m.MayShow() != takes {
			t.Errorf("takes pictures %v: %s, eyes %s", takes, m.Sight.Sight, m.Eyes())
		}
	}
}
