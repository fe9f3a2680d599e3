package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/gateway"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/anthropic"
	"github.com/relo-dev/relo/core/internal/provider/bedrock"
	"github.com/relo-dev/relo/core/internal/provider/chat"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/provider/exchange"
	"github.com/relo-dev/relo/core/internal/provider/gemini"
	"github.com/relo-dev/relo/core/internal/provider/ollama"
	"github.com/relo-dev/relo/core/internal/provider/packing"
	"github.com/relo-dev/relo/core/internal/provider/probe"
	"github.com/relo-dev/relo/core/internal/provider/responses"
	"github.com/relo-dev/relo/core/internal/record"
	"github.com/relo-dev/relo/core/internal/secret"
	"github.com/relo-dev/relo/core/internal/traffic"
	"github.com/relo-dev/relo/core/internal/vision"
)

// wireUnderTest is a wire with the double that has its provider's rules.
type wireUnderTest struct {
	name, api string
	client    func(o exchange.Options) (*exchange.Client, error)
}

var allWires = []wireUnderTest{
	{"chat", "openai", func(o exchange.Options) (*exchange.Client, error) { return chat.NewAs(o, "openai"), nil }},
	{"anthropic", "anthropic", func(o exchange.Options) (*exchange.Client, error) { return anthropic.New(o), nil }},
	{"responses", "openai-responses", func(o exchange.Options) (*exchange.Client, error) { return responses.New(o), nil }},
	{"gemini", "gemini", func(o exchange.Options) (*exchange.Client, error) { return gemini.New(o), nil }},
	{"bedrock", "bedrock", func(o exchange.Options) (*exchange.Client, error) {
		return bedrock.New(o, bedrock.AWS{Region: "eu-central-1", Getenv: func(string) string { return "" }})
	}},
	{"ollama", "ollama", func(o exchange.Options) (*exchange.Client, error) { return ollama.New(o), nil }},
}

// oneModel is what a gateway needs for one model that sees: no budget, pictures in memory.
type oneModel struct {
	wire   wireUnderTest
	client provider.Client
	mu     sync.Mutex
	blobs  map[string][]byte
	looks  []job.Look
	notes  []string
}

func (o *oneModel) Model(ref catalog.Ref) (catalog.Model, bool) {
	return catalog.Model{Ref: ref, Provider: o.wire.name, ID: "sees", Chat: true, Tools: true, TakesPictures: true, Sight: vision.Answer{Sight: vision.Sees, Source: vision.Configured}}, true
}

func (o *oneModel) Client(context.Context, catalog.Ref) (provider.Client, error) {
	return o.client, nil
}
func (o *oneModel) Endpoint(catalog.Ref) string { return o.wire.name }
func (o *oneModel) Limits(catalog.Ref) packing.Limits {
	return packing.LimitsOf(o.wire.api, o.wire.name, "sees")
}
func (*oneModel) Lookers(catalog.Ref, bool) []catalog.Ref { return nil }
func (*oneModel) Blinded(catalog.Ref, string)             {}
func (*oneModel) Probed(catalog.Ref, probe.Finding)       {}
func (*oneModel) Reserve(context.Context, ledger.Row, ledger.Budget) (record.Verdict, string, error) {
	return record.Granted, "", nil
}
func (*oneModel) Unsent(context.Context, string) error { return nil }
func (o *oneModel) Settle(_ context.Context, _ ledger.Row, looks []job.Look) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.looks = append(o.looks, looks...)
	return nil
}
func (*oneModel) TellBlinded(context.Context, ledger.Row, job.Blinded) error { return nil }
func (o *oneModel) Notice(_ context.Context, _ ledger.Row, words string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.notes = append(o.notes, words)
	return nil
}

func (o *oneModel) Blob(sha string) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if b, ok := o.blobs[sha]; ok {
		return b, nil
	}
	return nil, record.ErrUnknown
}

func (o *oneModel) PutBlob(data []byte) (string, error) {
	sha := sha256Of(data)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.blobs[sha] = data
	return sha, nil
}

// stageOf is a gateway before one wire and its provider.
func stageOf(t *testing.T, w wireUnderTest, o double.Options) (*gateway.Gateway, *oneModel, *double.Server) {
	t.Helper()
	if o.Models == nil {
		o.Models = map[string]double.Model{"sees": {Sees: true}}
	}
	o.Key = "key-0123456789"
	d := double.New(o)
	srv := httptest.NewServer(d)
	t.Cleanup(srv.Close)
	client, err := w.client(exchange.Options{Provider: w.name, BaseURL: srv.URL + "/v1", Key: secret.New(o.Key)})
	if err != nil {
		t.Fatal(err)
	}
	dark := app.NewDarkroom(app.Env{})
	t.Cleanup(func() { _ = dark.Close() })
	one := &oneModel{wire: w, client: client, blobs: map[string][]byte{}}
	return gateway.New(gateway.Parts{Book: one, Money: one, Album: one, Darkroom: dark, Log: zerolog.Nop(), Now: time.Now}), one, d
}

func encodedPNG(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// came is a picture as it comes in a request, under a name that may lie.
func came(id string, data []byte, mediaType string, w, h int) provider.Picture {
	return provider.Picture{
		Picture: vision.Picture{SHA256: sha256Of(data), MediaType: mediaType, Width: w, Height: h, Bytes: data},
		View:    vision.View{ID: id, Path: id, Role: vision.Other},
	}
}

// hardPictures are requests that providers refuse as they come.
func hardPictures(t *testing.T) map[string][]provider.Message {
	t.Helper()
	page := func(w, h int) []byte {
		img := image.NewNRGBA(image.Rect(0, 0, w, h))
		for i := range h {
			img.Set(i%w, i, color.NRGBA{R: uint8(i), A: 255})
		}
		return encodedPNG(t, img)
	}
	noise := image.NewNRGBA(image.Rect(0, 0, 1500, 1150))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range noise.Pix {
		noise.Pix[i] = uint8(r.Uint32())
		if i%4 == 3 {
			noise.Pix[i] = 255
		}
	}
	loud := encodedPNG(t, noise)
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 300, 200)), nil); err != nil {
		t.Fatal(err)
	}
	person := func(pictures ...provider.Picture) []provider.Message {
		parts := []provider.Part{provider.Text("look")}
		for _, p := range pictures {
			parts = append(parts, provider.Show(p))
		}
		return []provider.Message{{Role: provider.RoleUser, Parts: parts}}
	}
	called := func(text string, pictures ...provider.Picture) []provider.Message {
		return []provider.Message{
			{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("look")}},
			{Role: provider.RoleAssistant, Parts: []provider.Part{{Kind: provider.PartCall, Call: &provider.Call{ID: "c1", Name: "shot", Args: []byte(`{}`)}}}},
			{Role: provider.RoleTool, Parts: []provider.Part{{Kind: provider.PartResult, Result: &provider.Result{ID: "c1", Name: "shot", Text: text, Pictures: pictures}}}},
		}
	}
	many := make([]provider.Picture, 21)
	for i := range many {
		many[i] = came(fmt.Sprintf("p%d", i), page(2100, 60+i), "image/png", 2100, 60+i)
	}
	inline := image.NewNRGBA(image.Rect(0, 0, 320, 240))
	copy(inline.Pix, noise.Pix)
	text := "before data:image/png;base64," + base64.StdEncoding.EncodeToString(encodedPNG(t, inline)) + " after"
	if len(text) < 300_000 {
		t.Fatalf("the text has %d bytes", len(text))
	}
	good := page(200, 100)
	return map[string][]provider.Message{
		"21 pictures of 2100 px":                person(many...),
		"21 pictures of a tool":                 called("here", many...),
		"8001 px":                               person(came("wide", page(8001, 40), "image/png", 8001, 40)),
		"6.7 MB of noise":                       person(came("loud", loud, "image/png", 1500, 1150)),
		"a JPEG named PNG":                      person(came("photo.png", photo.Bytes(), "image/png", 300, 200)),
		"a truncated PNG":                       person(came("cut", good[:len(good)/2], "image/png", 200, 100)),
		"an SVG":                                person(came("x.svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), "image/svg+xml", 10, 10)),
		"a data URL of 300 kB in a tool's text": called(text),
		"one pixel":                             person(came("dot", page(1, 1), "image/png", 1, 1)),
		"a tool's truncated picture and a whole one": called("here", came("cut", good[:len(good)/2], "image/png", 200, 100), came("good", good, "image/png", 200, 100)),
	}
}

func TestHardPicturesAreFineOnTheFirstTryOnEveryWire(t *testing.T) {
	t.Parallel()
	hard := hardPictures(t)
	for _, w := range allWires {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			for name, messages := range hard {
				g, one, d := stageOf(t, w, double.Options{})
				a, err := g.Call(t.Context(), traffic.Call{
					Job: "j", Attempt: "a", Traffic: job.TrafficConversation, Chain: []catalog.Ref{catalog.Ref(w.name + "/sees")},
					Request: provider.Request{System: "Role: worker", Messages: messages, Tools: []provider.ToolSpec{{Name: "shot", Schema: []byte(`{"type":"object"}`)}}},
				})
				asked := d.Requests()
				if err != nil || len(asked) != 1 || asked[0].Status != 200 {
					t.Errorf("%s: %v after %d requests", name, err, len(asked))
					continue
				}
				arrived := len(asked[0].Pictures)
				shown, worded := 0, 0
				for _, l := range one.looks {
					if l.How == job.HowPixels {
						shown++
					} else {
						worded++
					}
				}
				if arrived != shown || arrived != len(a.Receipts) || arrived+worded == 0 {
					t.Errorf("%s: %d arrived, %d receipts, %d looks, %d in words", name, arrived, len(a.Receipts), shown, worded)
				}
				damaged := name == "a truncated PNG" || name == "an SVG"
				if (arrived == 0) != damaged {
					t.Errorf("%s: %d pictures arrived", name, arrived)
				}
				for _, p := range asked[0].Pictures {
					if bytes.Contains(asked[0].Body, []byte("data:image/png;base64,/9j/")) {
						t.Errorf("%s: a JPEG is called a PNG", name)
					}
					if _, err := one.Blob(p.SHA256); err != nil && name != "a JPEG named PNG" {
						if len(messages[0].Parts) == 1 { // what a tool's text held, and what was made smaller, can be looked at
							t.Errorf("%s: nobody can look at what the model saw: %v", name, err)
						}
					}
				}
			}
		})
	}
}

func sha256Of(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func base64Of(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
