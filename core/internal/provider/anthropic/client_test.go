package anthropic_test

import (
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/anthropic"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/provider/providertest"
	"github.com/relo-dev/relo/core/internal/secret"
)

func wire() providertest.Wire {
	return providertest.Wire{
		Name: double.WireAnthropic, Inside: true,
		New: func(baseURL string, key secret.Value, idle time.Duration) provider.Client {
			return anthropic.New(anthropic.Options{Provider: "played", BaseURL: baseURL, Key: key, Idle: idle})
		},
	}
}

func TestDialogues(t *testing.T) { providertest.Run(t, wire()) }

func TestDamagedReplies(t *testing.T) { providertest.RunDamage(t, wire()) }
