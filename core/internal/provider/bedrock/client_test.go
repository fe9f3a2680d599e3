package bedrock_test

import (
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/bedrock"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/provider/providertest"
	"github.com/relo-dev/relo/core/internal/secret"
)

// wire is the client with a Bedrock API key.
func wire(t *testing.T) providertest.Wire {
	frame := double.BedrockFrame
	damaged := []byte(frame("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"hi"}}`))
	damaged[len(damaged)-20] ^= 1
	return providertest.Wire{
		Name: double.WireBedrock, Inside: true,
		New: func(baseURL string, key secret.Value, idle time.Duration) provider.Client {
			c, err := bedrock.New(bedrock.Options{Provider: "played", BaseURL: baseURL, Key: key, KeyRef: "given", Idle: idle}, bedrock.AWS{Region: "us-east-1"})
			if err != nil {
				t.Error(err)
			}
			return c
		},
		Framing: &providertest.Framing{
			Type: "application/vnd.amazon.eventstream",
			Garbage: []string{
				string(damaged), "data: a stream of another framing\n\n",
				frame("contentBlockDelta", "not json"),
				frame("contentBlockDelta", `{"contentBlockIndex":"x","delta":7}`),
				frame("messageStop", `{"stopReason":"end_turn","stopReason":"tool_use"}`),
				frame("contentBlockStart", `[1,2]`),
			},
			Short: []string{
				frame("messageStart", `{"role":"assistant"}`),
				frame("brand_new", `{"type":"new_thing"}`),
				frame("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"hi"}}`),
			},
			Beat: frame("ping", "{}"),
		},
	}
}

func TestDialogues(t *testing.T) { providertest.Run(t, wire(t)) }

func TestDamagedReplies(t *testing.T) { providertest.RunDamage(t, wire(t)) }
