package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/provider/probe"
)

// agentOf speaks with a tool server as an agent's program does: in lines.
type agentOf struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
	ids int
}

// content is one block of a tool's answer.
type content struct{ Type, Text, MimeType, Data string }

type answered struct {
	Content []content
	IsError bool
	Tools   []struct{ Name string }
}

func (a *agentOf) ask(method string, params any) answered {
	a.t.Helper()
	a.ids++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": a.ids, "method": method, "params": params})
	must(a.t, err)
	_, err = a.in.Write(append(line, '\n'))
	must(a.t, err)
	var got struct {
		ID     int
		Result answered
		Error  json.RawMessage
	}
	text, err := a.out.ReadBytes('\n')
	must(a.t, err)
	if err := json.Unmarshal(text, &got); err != nil || got.ID != a.ids || got.Error != nil {
		a.t.Fatalf("%v: %s", err, text)
	}
	return got.Result
}

func (a *agentOf) call(tool string, args map[string]any) answered {
	a.t.Helper()
	return a.ask("tools/call", map[string]any{"name": tool, "arguments": args})
}

func (a *agentOf) tools() (names []string) {
	a.t.Helper()
	for _, one := range a.ask("tools/list", map[string]any{}).Tools {
		names = append(names, one.Name)
	}
	return names
}

// toolServer starts relo mcp in a folder with pictures, under a configuration.
func toolServer(t *testing.T, config string, private bool) *agentOf {
	t.Helper()
	e := bare(t, nil)
	must(t, os.MkdirAll(filepath.Dir(e.places().File()), 0o700))
	must(t, os.WriteFile(e.places().File(), []byte(config), 0o600))
	for name, width := range map[string]int{"shot.png": 600, "secrets/shot.png": 300} {
		img := image.NewRGBA(image.Rect(0, 0, width, 100))
		img.Set(3, 3, color.RGBA{R: 255, A: 255})
		var b bytes.Buffer
		must(t, png.Encode(&b, img))
		must(t, os.MkdirAll(filepath.Join(e.Dir, filepath.Dir(name)), 0o700))
		must(t, os.WriteFile(filepath.Join(e.Dir, name), b.Bytes(), 0o600))
	}
	cfg, err := Load(e)
	must(t, err)
	s, err := OpenToolServer(e, cfg, private)
	must(t, err)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, inR, outW) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	a := &agentOf{t: t, in: inW, out: bufio.NewReaderSize(outR, 1<<20)}
	a.ask("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "t", "version": "1"}})
	return a
}

// seers plays a provider; what a model answers is that model's name.
func seers(t *testing.T, models map[string]double.Model) (*double.Server, string) {
	t.Helper()
	d := double.New(double.Options{Models: models, Play: func(_ context.Context, turn double.Turn) double.Reply {
		in, out := int64(1000), int64(100)
		if len(turn.Pictures) == 1 {
			if word, ok := probe.Decode(turn.Pictures[0].Bytes); ok { // a doubt is being settled
				return double.Reply{Text: word}
			}
		}
		return double.Reply{Text: turn.Model + " sees a red point", Usage: double.Usage{In: &in, Out: &out}}
	}})
	s := httptest.NewServer(d)
	t.Cleanup(s.Close)
	return d, s.URL + "/v1"
}

// provided is a row of a provider with models and their settings.
func provided(url string, private bool, models string) string {
	return fmt.Sprintf(`{"api": "openai-chat", "url": %q, "private": %v, "models": {%s}}`, url, private, models)
}

const priced = `"price": {"input": 2, "output": 10}`

func TestToolsOnAFolder(t *testing.T) {
	t.Parallel()
	a := toolServer(t, `{"pictures": {"maxEdge": 256, "never": ["secrets/**"]}}`, false)
	if d := cmp.Diff([]string{"relo_image"}, a.tools()); d != "" {
		t.Error("without a model that sees: " + d)
	}
	r := a.call("relo_image", map[string]any{"paths": []string{"shot.png", "secrets/shot.png"}})
	if len(r.Content) != 2 || r.IsError || !strings.Contains(r.Content[0].Text, `"code":"not_allowed"`) {
		t.Fatalf("%+v", r)
	}
	data, err := base64.StdEncoding.DecodeString(r.Content[1].Data)
	must(t, err)
	sent, err := png.DecodeConfig(bytes.NewReader(data))
	must(t, err)
	if sent.Width != 256 || r.Content[1].MimeType != "image/png" {
		t.Errorf("sent %d wide, the configuration says 256", sent.Width)
	}
}

func TestAModelOfTheConfigurationLooksForAnAgent(t *testing.T) {
	t.Parallel()
	dbl, url := seers(t, map[string]double.Model{"eyes": {Sees: true}, "other": {Sees: true}, "text": {}})
	for _, c := range []struct {
		why, config string
		private     bool
		by          string // empty: not offered
		cost        string
		doubted     bool // nobody knows whether it sees, so it is shown tiny pictures too
	}{
		{"the only one that sees", `{"providers": {"far": ` + provided(url, false, `"text": {"vision": false}, "eyes": {"vision": true, `+priced+`}`) + `}}`, false, "far/eyes", "0.003 USD", false},
		{"whose price is not known", `{"providers": {"far": ` + provided(url, false, `"eyes": {"vision": true}`) + `}}`, false, "far/eyes", "not known", false},
		{"the route's, although the ladder has another", `{"providers": {"far": ` + provided(url, false, `"eyes": {"vision": true}, "other": {"vision": true}`) +
			`}, "ladder": [{"model": "far/eyes"}], "routes": {"vision": ["far/other"]}}`, false, "far/other", "not known", false},
		{"the ladder's first that sees", `{"providers": {"far": ` + provided(url, false, `"eyes": {"vision": true}, "other": {"vision": true}, "text": {"vision": false}`) +
			`}, "ladder": [{"model": "far/text"}, {"model": "far/other"}, {"model": "far/eyes"}]}`, false, "far/other", "not known", false},
		{"nobody sees", `{"providers": {"far": ` + provided(url, false, `"text": {"vision": false}`) + `}}`, false, "", "", false},
		{"nobody is known to see", `{"providers": {"far": ` + provided(url, false, `"dark-horse": {}`) + `}}`, false, "", "", false},
		{"a route to one of whom nobody knows", `{"providers": {"far": ` + provided(url, false, `"other": {}`) + `}, "routes": {"vision": ["far/other"]}}`, false, "far/other", "not known", true},
		{"privately, the one here", `{"providers": {"far": ` + provided(url, false, `"eyes": {"vision": true}`) + `, "here": ` + provided(url, true, `"other": {"vision": true}`) + `}}`, true, "here/other", "not known", false},
		{"privately, nobody", `{"providers": {"far": ` + provided(url, false, `"eyes": {"vision": true}`) + `}}`, true, "", "", false},
	} {
		a := toolServer(t, c.config, c.private)
		if offered := slices.Contains(a.tools(), "relo_describe"); offered != (c.by != "") {
			t.Errorf("%s: offered: %v", c.why, offered)
		}
		if c.by == "" {
			continue
		}
		before := len(dbl.Requests())
		r := a.call("relo_describe", map[string]any{"path": "shot.png", "question": "Where is the point?"})
		_, model, _ := strings.Cut(c.by, "/")
		if r.IsError || len(r.Content) != 1 || !strings.Contains(r.Content[0].Text, "\n"+model+" sees a red point\n") ||
			!strings.Contains(r.Content[0].Text, "Answered by "+c.by+"; cost: "+c.cost+".") {
			t.Errorf("%s: %+v", c.why, r)
		}
		asked := dbl.Requests()[before:]
		if c.doubted && len(asked) == 3 { // a colour and a digit
			asked = asked[:1]
		}
		if len(asked) != 1 || len(asked[0].Pictures) != 1 || asked[0].Pictures[0].Width != 600 || !bytes.Contains(asked[0].Body, []byte("Where is the point?")) ||
			!bytes.Contains(asked[0].Body, []byte("never follow")) || bytes.Contains(asked[0].Body, []byte(`"tools"`)) {
			t.Errorf("%s: %d requests", c.why, len(asked))
		}
	}
}

func TestWhenNobodyCouldLookTheAgentIsToldWhatToDo(t *testing.T) {
	t.Parallel()
	dbl, url := seers(t, map[string]double.Model{"blind": {}, "eyes": {Sees: true}})
	question := map[string]any{"path": "shot.png", "question": "What is it?"}

	a := toolServer(t, `{"providers": {"far": `+provided(url, false, `"blind": {"vision": true}, "eyes": {"vision": true}`)+`}, "routes": {"vision": ["far/blind", "far/eyes"]}}`, false)
	if r := a.call("relo_describe", question); r.IsError || !strings.Contains(r.Content[0].Text, "Answered by far/eyes") {
		t.Errorf("the next of the route was not asked: %+v", r)
	}
	before := len(dbl.Requests())
	if r := a.call("relo_describe", question); r.IsError || len(dbl.Requests()) != before+1 {
		t.Errorf("one that turned out not to see was asked again: %+v", r)
	}

	for _, c := range []struct{ why, config, want string }{
		{"it turned out not to see", `"routes": {"vision": ["far/blind"]}`, "say that nobody could look, or ask the person, who can name one under routes.vision"},
		{"the budget", `"routes": {"vision": ["far/dear"]}, "budget": {"perJob": 0.0001}`, "budget of 0.0001 USD cannot hold the next request"},
		{"a model that is not there", `"routes": {"vision": ["far/gone"]}`, "nobody could look at the picture: "},
	} {
		a := toolServer(t, `{"providers": {"far": `+provided(url, false, `"blind": {"vision": true}, "gone": {"vision": true}, "dear": {"vision": true, `+priced+`}`)+`}, `+c.config+`}`, false)
		if r := a.call("relo_describe", question); !r.IsError || !strings.Contains(r.Content[0].Text, c.want) {
			t.Errorf("%s: %+v", c.why, r)
		}
	}
}

func TestAForbiddenPictureReachesNoModel(t *testing.T) {
	t.Parallel()
	dbl, url := seers(t, map[string]double.Model{"eyes": {Sees: true}})
	a := toolServer(t, `{"providers": {"far": `+provided(url, false, `"eyes": {"vision": true}`)+`}, "pictures": {"never": ["secrets/**"]}}`, false)
	for _, path := range []string{"secrets/shot.png", "../x.png", "/etc/hostname", "gone.png"} {
		if r := a.call("relo_describe", map[string]any{"path": path, "question": "?"}); !r.IsError {
			t.Errorf("%s: %+v", path, r)
		}
	}
	if n := len(dbl.Requests()); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}
