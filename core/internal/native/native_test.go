package native

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/engine"
	"github.com/relo-dev/relo/core/internal/engine/enginetest"
	"github.com/relo-dev/relo/core/internal/provider"
)

func TestNativeIsAnEngine(t *testing.T) {
	enginetest.Run(t, func(*testing.T) engine.Engine { return New() })
}

func TestSummaryIsOneTellingLine(t *testing.T) {
	for _, r := range []struct{ name, args, want string }{
		{"edit", `{"old":"x","path":"src/a.go","new":"y"}`, "edit src/a.go"},
		{"bash", `{"command":"go test\n./...\u001b[31m"}`, "bash go test ./...[31m"},
		{"relo_image", `{"paths":["a.png","b.png"]}`, "relo_image a.png b.png"},
		{"ls", `{}`, "ls"},
		{"ls", `nonsense`, "ls"},
		{"bash", `{"command":"` + strings.Repeat("x", 500) + `"}`, "bash " + strings.Repeat("x", maxSummary-6) + "…"},
	} {
		if got := summary(provider.Call{Name: r.name, Args: json.RawMessage(r.args)}); got != r.want {
			t.Errorf("summary(%s %s) = %q, want %q", r.name, r.args, got, r.want)
		}
	}
}

func TestATranscriptThatWasSentDoesNotChange(t *testing.T) {
	var sent []provider.Request
	task := engine.Task{First: []provider.Part{provider.Text("go")}, Rounds: 2, Nudge: "call a tool"}
	_, err := New().Run(t.Context(), task, engine.Desk{Ask: func(_ context.Context, r provider.Request) (provider.Response, error) {
		sent = append(sent, r)
		return provider.Response{}, nil // an empty answer: the nudge joins the same user message
	}})
	if err != nil || len(sent) != 2 {
		t.Fatal(err, len(sent))
	}
	if n, m := len(sent[0].Messages[0].Parts), len(sent[1].Messages[0].Parts); n != 2 || m != 3 || len(task.First) != 1 {
		t.Errorf("parts of the first message: %d then %d, of the task %d", n, m, len(task.First))
	}
}

// Gemini refuses a call of its own that comes back without its proof.
func TestACallGoesBackWithItsProof(t *testing.T) {
	var sent []provider.Request
	call := provider.Part{Kind: provider.PartCall, Signature: "proof", Call: &provider.Call{ID: "c1", Name: "nobody-has-it", Args: json.RawMessage(`{}`)}}
	_, err := New().Run(t.Context(), engine.Task{First: []provider.Part{provider.Text("go")}, Rounds: 2}, engine.Desk{
		Ask: func(_ context.Context, r provider.Request) (provider.Response, error) {
			sent = append(sent, r)
			return provider.Response{Message: provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{call}}, Stop: provider.StopCalls}, nil
		},
	})
	if err != nil || len(sent) != 2 {
		t.Fatal(err, len(sent))
	}
	if back := sent[1].Messages[1].Parts[0]; back.Kind != provider.PartCall || back.Signature != "proof" {
		t.Errorf("%+v", back)
	}
}
