package ollama_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/provider/exchange"
	"github.com/relo-dev/relo/core/internal/provider/ollama"
)

// A prompt is either whole at the model or refused in words, never cut: the double has a
// context of 4,096 where nothing is asked for, and drops the oldest in silence as the real one.
func TestAPromptIsNeverCut(t *testing.T) {
	var turn double.Turn
	d := double.New(double.Options{Models: map[string]double.Model{"m": {Sees: true}}, Play: func(_ context.Context, got double.Turn) double.Reply {
		turn = got
		return double.Reply{Text: "ok"}
	}})
	s := httptest.NewServer(d)
	defer s.Close()
	said := 0
	client := ollama.NewSized(exchange.Options{Provider: "here", BaseURL: s.URL + "/api"}, func(string) int { return said })
	r := provider.Request{Model: "m", Messages: []provider.Message{
		{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("the task")}},
		{Role: provider.RoleAssistant, Parts: []provider.Part{provider.Text(strings.Repeat("words ", 20_000))}},
		{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("go on")}},
	}}
	if _, err := client.Stream(t.Context(), r, nil); err != nil || len(turn.Entries) != 3 {
		t.Errorf("%d entries of 3 arrived, %v", len(turn.Entries), err)
	}
	said = 8192
	_, err := client.Stream(t.Context(), r, nil)
	e, ok := errors.AsType[*provider.Error](err)
	if !ok || e.Kind != provider.KindRefused || e.Status != 400 || !strings.Contains(e.Words, "exceeds the available context size (8192 tokens)") {
		t.Errorf("%v", err)
	}
}
