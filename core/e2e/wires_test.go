package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/gateway"
	"github.com/relo-dev/relo/core/internal/job"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/provider/exchange"
	"github.com/relo-dev/relo/core/internal/secret"
	"github.com/relo-dev/relo/core/internal/traffic"
)

// wiresFile is written by go test ./core/e2e -run DocumentOfWires -update.
const wiresFile = "../../docs/wires.md"

const wiresHead = `# Where pictures go on each wire

Each section is the body of one request as it left, captured by a provider double and shortened: a person's picture, then two
tool calls made at once that answered with a picture each. What stands for a picture is its place, its kind and the beginning of its SHA-256.
The same three pictures are in each: the person's is ` + "`%s`" + `, the first tool's ` + "`%s`" + `, the second's ` + "`%s`" + `.

The page is written by a test and held against the code: ` + "`go test ./core/e2e -run DocumentOfWires -update`" + `.
`

func TestTheDocumentOfWiresIsCurrent(t *testing.T) {
	t.Parallel()
	pictures := []provider.Picture{}
	for i, name := range []string{"mock.png", "before.png", "after.png"} {
		data := drawing(t, 60+i, 50)
		pictures = append(pictures, came(name, data, "image/png", 60+i, 50))
	}
	result := func(id string, p provider.Picture) provider.Part {
		return provider.Part{Kind: provider.PartResult, Result: &provider.Result{ID: id, Name: "relo_image", Text: "{\"path\":\"" + p.View.Path + "\"}", Pictures: []provider.Picture{p}}}
	}
	called := func(id, path string) provider.Part {
		return provider.Part{Kind: provider.PartCall, Call: &provider.Call{ID: id, Name: "relo_image", Args: []byte(`{"paths":["` + path + `"]}`)}}
	}
	messages := []provider.Message{
		{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("Make it look like this."), provider.Show(pictures[0])}},
		{Role: provider.RoleAssistant, Parts: []provider.Part{called("call_1", "before.png"), called("call_2", "after.png")}},
		{Role: provider.RoleTool, Parts: []provider.Part{result("call_1", pictures[1]), result("call_2", pictures[2])}},
	}
	var doc strings.Builder
	fmt.Fprintf(&doc, wiresHead, pictures[0].SHA256[:8], pictures[1].SHA256[:8], pictures[2].SHA256[:8])
	for _, w := range allWires {
		g, _, d := stageOf(t, w, double.Options{})
		a, err := g.Call(t.Context(), traffic.Call{
			Job: "j", Attempt: "a", Traffic: job.TrafficConversation, Chain: []catalog.Ref{catalog.Ref(w.name + "/sees")},
			Request: provider.Request{System: "Role: worker", Messages: messages, MaxTokens: 4000, Tools: []provider.ToolSpec{{Name: "relo_image", Description: "shows pictures", Schema: []byte(`{"type":"object"}`)}}},
		})
		if err != nil || len(a.Receipts) != 3 || len(d.Requests()) != 1 {
			t.Fatalf("%s: %v, %d receipts", w.name, err, len(a.Receipts))
		}
		r := d.Requests()[0]
		fmt.Fprintf(&doc, "\n## %s\n\n`POST %s`\n\n", w.name, r.Path)
		for i, x := range a.Receipts {
			if x.SHA256 != pictures[i].SHA256 {
				t.Errorf("%s: receipt %d is of %s", w.name, i, x.View.Path)
			}
			fmt.Fprintf(&doc, "- `%s` is at `%s`\n", x.View.Path, x.Place)
		}
		fmt.Fprintf(&doc, "\n```json\n%s\n```\n", shortened(t, r.Body))
	}
	if *update {
		if err := os.WriteFile(wiresFile, []byte(doc.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(wiresFile)
	if err != nil || string(kept) != doc.String() {
		t.Errorf("%s is not what the wires send now (%v): write it anew with -update", wiresFile, err)
	}
}

// longBase64 is a picture in a body.
var longBase64 = regexp.MustCompile(`(data:image/[a-z]+;base64,)?([A-Za-z0-9+/]{200,}={0,2})`)

func shortened(t *testing.T, body []byte) string {
	t.Helper()
	body = longBase64.ReplaceAllFunc(body, func(m []byte) []byte {
		parts := longBase64.FindSubmatch(m)
		raw, err := base64.StdEncoding.DecodeString(string(parts[2]))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Appendf(nil, "%s<picture %s>", parts[1], sha256Of(raw)[:8])
	})
	var b bytes.Buffer
	if err := json.Indent(&b, body, "", "  "); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A provider that takes two requests at once and says so, and six workers: all finish.
func TestAStormOfTooManyRequestsEnds(t *testing.T) {
	t.Parallel()
	d := double.New(double.Options{Models: map[string]double.Model{"sees": {Sees: true}}, Play: func(context.Context, double.Turn) double.Reply {
		return double.Reply{Text: "ok", Delay: 30 * time.Millisecond}
	}})
	var inside, refused, most atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := inside.Add(1)
		defer inside.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		if n > 2 {
			refused.Add(1)
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}`)
			return
		}
		d.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	w := allWires[0]
	client, err := w.client(exchange.Options{Provider: w.name, BaseURL: srv.URL + "/v1", Key: secret.New("key-0123456789")})
	if err != nil {
		t.Fatal(err)
	}
	one := &oneModel{wire: w, client: client, blobs: map[string][]byte{}}
	g := gateway.New(gateway.Parts{Book: one, Money: one, Album: one, Darkroom: app.NewDarkroom(app.Env{}), Log: zerolog.Nop(), Now: time.Now})
	const workers, calls = 6, 10
	var work sync.WaitGroup
	for i := range workers {
		work.Go(func() {
			for range calls {
				_, err := g.Call(t.Context(), traffic.Call{
					Job: "j", Attempt: fmt.Sprint(i), Traffic: job.TrafficConversation, Chain: []catalog.Ref{"chat/sees"},
					Request: provider.Request{Messages: []provider.Message{{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("hi")}}}},
				})
				if err != nil {
					t.Errorf("worker %d: %v", i, err)
				}
			}
		})
	}
	work.Wait()
	if refused.Load() == 0 || most.Load() < 3 {
		t.Error("there was no storm")
	}
	if n := refused.Load(); n > workers*calls/2 {
		t.Errorf("%d of %d requests were refused: the endpoint's pace was not found", n, workers*calls)
	}
}
