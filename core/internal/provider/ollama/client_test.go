package ollama_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/provider/exchange"
	"github.com/relo-dev/relo/core/internal/provider/ollama"
	"github.com/relo-dev/relo/core/internal/provider/providertest"
	"github.com/relo-dev/relo/core/internal/secret"
)

func wire() providertest.Wire {
	return providertest.Wire{
		Name: double.WireOllama, Lines: true, BlindStatus: http.StatusInternalServerError,
		New: func(baseURL string, key secret.Value, idle time.Duration) provider.Client {
			return ollama.New(exchange.Options{Provider: "played", BaseURL: baseURL, Key: key, Idle: idle})
		},
		Lacks: map[providertest.Lack]string{
			providertest.LackRequestID: "neither the answer nor its header has one: Ollama's API documentation",
			providertest.LackCode:      "an error is words alone: Ollama's documentation, Errors",
			providertest.LackBeats:     "it is silent until the model says something: Ollama's documentation, Streaming",
		},
	}
}

func TestDialogues(t *testing.T) { providertest.Run(t, wire()) }

func TestDamagedReplies(t *testing.T) { providertest.RunDamage(t, wire()) }
