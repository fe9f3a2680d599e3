package chat_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/chat"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/provider/providertest"
	"github.com/relo-dev/relo/core/internal/secret"
)

func wireOf(kind string) providertest.Wire {
	return providertest.Wire{
		Name: double.WireChat,
		New: func(baseURL string, key secret.Value, idle time.Duration) provider.Client {
			return chat.NewAs(chat.Options{Provider: "played", BaseURL: baseURL, Key: key, Idle: idle}, kind)
		},
	}
}

func TestDialogues(t *testing.T) {
	for _, kind := range []string{"", "mistral", "moonshot", "openrouter"} {
		t.Run("of "+kind, func(t *testing.T) { providertest.Run(t, wireOf(kind)) })
	}
}

func TestDamagedReplies(t *testing.T) { providertest.RunDamage(t, wireOf("")) }

// Some need a header that only one request in many has.
func TestHeadersOfADialect(t *testing.T) {
	d := double.New(double.Options{Models: map[string]double.Model{"m": {Sees: true}}})
	s := httptest.NewServer(d)
	defer s.Close()
	words := provider.Message{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("hi")}}
	picture := provider.Message{Role: provider.RoleUser, Parts: []provider.Part{provider.Show(shot(t, 40))}}
	for i, row := range []struct {
		kind, header, want string
		message            provider.Message
	}{
		{"copilot", "Copilot-Vision-Request", "true", picture},
		{"copilot", "Copilot-Vision-Request", "", words},
		{"openai", "Copilot-Vision-Request", "", picture},
		{"xai", "X-Grok-Conv-Id", "attempt-1", words},
	} {
		r := provider.Request{Model: "m", CacheKey: "attempt-1", Messages: []provider.Message{row.message}}
		if _, err := chat.NewAs(chat.Options{Provider: "played", BaseURL: s.URL + "/v1"}, row.kind).Stream(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
		if got := d.Requests()[i].Header.Get(row.header); got != row.want {
			t.Errorf("%s, row %d: %s is %q", row.kind, i, row.header, got)
		}
	}
}
