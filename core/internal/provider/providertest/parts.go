package providertest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

// draw makes a picture of its own for each shade.
func draw(t *testing.T, path string, shade uint8) provider.Picture {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 40, 30))
	for x := range 40 {
		img.SetGray(x, int(shade)%30, color.Gray{Y: 255 - shade})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	return provider.Picture{
		Picture: vision.Picture{
			SHA256: hex.EncodeToString(sum[:]), MediaType: "image/png", Width: 40, Height: 30, Bytes: b.Bytes(),
		},
		View: vision.View{ID: "view-" + path, Path: path, Role: vision.Result},
	}
}

func ask(model string, messages ...provider.Message) provider.Request {
	if len(messages) == 0 {
		messages = []provider.Message{user(provider.Text("hello"))}
	}
	return provider.Request{
		Model: model, System: "Role: worker\nYou work.", Messages: messages, MaxTokens: 500,
		Tools: []provider.ToolSpec{
			{Name: "read", Description: "reads a file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
			{Name: "relo_image", Description: "shows a picture", Schema: json.RawMessage(`{"type":"object"}`)},
		},
	}
}

func user(parts ...provider.Part) provider.Message {
	return provider.Message{Role: provider.RoleUser, Parts: parts}
}

func assistant(parts ...provider.Part) provider.Message {
	return provider.Message{Role: provider.RoleAssistant, Parts: parts}
}

func results(all ...provider.Result) provider.Message {
	m := provider.Message{Role: provider.RoleTool}
	for i := range all {
		m.Parts = append(m.Parts, provider.Part{Kind: provider.PartResult, Result: &all[i]})
	}
	return m
}

func call(id, name, args string) provider.Part {
	return provider.Part{Kind: provider.PartCall, Call: &provider.Call{ID: id, Name: name, Args: json.RawMessage(args)}}
}

// text joins what a message says.
func text(m provider.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Kind == provider.PartText {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func calls(m provider.Message) []*provider.Call {
	var all []*provider.Call
	for _, p := range m.Parts {
		if p.Kind == provider.PartCall {
			all = append(all, p.Call)
		}
	}
	return all
}

func asError(err error) *provider.Error {
	e, ok := errors.AsType[*provider.Error](err)
	if !ok {
		return nil
	}
	return e
}
