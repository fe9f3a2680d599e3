package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/provider"
)

func TestBedrockIsDialled(t *testing.T) {
	t.Parallel()
	keys := config.Keys{Getenv: func(name string) string { return map[string]string{"K": "bedrock-api-key-0001"}[name] }}
	client, err := dialProvider(t.Context(), keys, "aws", config.Provider{API: "bedrock", Wire: "bedrock", Region: "eu-west-1", Key: "env:K"})
	if err != nil {
		t.Fatal(err)
	}
	if got := client.Placements("us.openai.gpt-5"); !slices.Equal(got, []provider.Placement{provider.PlaceAfter}) {
		t.Errorf("%v", got)
	}
	_, err = dialProvider(t.Context(), keys, "aws", config.Provider{API: "bedrock", Wire: "bedrock", Profile: "nobody-has-this-profile", Key: ""})
	if err == nil || !strings.Contains(err.Error(), "provider aws: ") || !strings.Contains(err.Error(), "nobody-has-this-profile") {
		t.Errorf("a profile that is not there: %v", err)
	}
}
