package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/keyring"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/provider/probe"
	"github.com/relo-dev/relo/core/internal/secret"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAKeyThatIsTypedIsTrimmedStoredAndReadBack(t *testing.T) {
	t.Parallel()
	e, ring := bare(t, nil), keyring.Memory()
	p := Providers{Env: e, Ring: ring}
	key, err := TidyKey("  sk-typed \r\n")
	must(t, err)
	added, err := p.Add(t.Context(), Addition{Name: "anthropic", Key: key})
	must(t, err)
	if added.Key.Kind != "keyring" || added.Changed {
		t.Errorf("%+v", added)
	}
	if v, err := ring.Get(t.Context(), "anthropic"); err != nil || v != "sk-typed" {
		t.Errorf("%v", err)
	}
	text, err := os.ReadFile(added.File)
	must(t, err)
	if strings.Contains(string(text), "sk-typed") {
		t.Errorf("the key is in the file:\n%s", text)
	}
	cfg, err := Load(e)
	must(t, err)
	if v, err := p.keys().Resolve(t.Context(), cfg.Providers["anthropic"].Key); err != nil || v.Reveal() != "sk-typed" {
		t.Errorf("%v", err)
	}
	if gone, err := p.Remove(t.Context(), "anthropic"); err != nil || !gone {
		t.Errorf("%v, %v", gone, err)
	}
	if _, err := ring.Get(t.Context(), "anthropic"); !errors.Is(err, keyring.ErrAbsent) {
		t.Errorf("the key stayed: %v", err)
	}
}

func TestChangingOneFieldLeavesTheKey(t *testing.T) {
	t.Parallel()
	e := bare(t, nil)
	p := Providers{Env: e, Ring: keyring.Memory()}
	_, err := p.Add(t.Context(), Addition{Name: "my.proxy", API: "openai-chat", URL: "https://proxy.example/v1", KeyRef: "env:PROXY_KEY"})
	must(t, err)
	file := e.places().File()
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, []byte("// mine\n"+string(text)), 0o600))
	added, err := p.Add(t.Context(), Addition{Name: "my.proxy", URL: "https://other.example/v1", Private: new(true)})
	must(t, err)
	cfg, err := Load(e)
	must(t, err)
	row := cfg.Providers["my.proxy"]
	text, err = os.ReadFile(file)
	if row.Key != "env:PROXY_KEY" || row.URL != "https://other.example/v1" || !row.IsPrivate() || !added.Changed || err != nil || !strings.HasPrefix(string(text), "// mine") {
		t.Errorf("%+v\n%s", row, text)
	}
	want := []ProviderDoc{{Name: "my.proxy", API: "openai-chat", Wire: "openai-chat", URL: "https://other.example/v1", Key: KeyDoc{Kind: "env", Ref: "env:PROXY_KEY"}, Private: true, Models: []string{}}}
	if d := cmp.Diff(want, p.List(cfg)); d != "" {
		t.Error(d)
	}
}

func TestWhatCannotBeAddedIsRefusedWithTheWay(t *testing.T) {
	t.Parallel()
	tests := []struct {
		why  string
		a    Addition
		want string
	}{
		{"no name", Addition{API: "openai"}, "needs a name"},
		{"a name that is no api", Addition{Name: "mine"}, "say which it speaks"},
		{"an api that is none", Addition{Name: "mine", API: "opanai"}, `did you mean "openai"?`},
		{"no address for a bare wire", Addition{Name: "mine", API: "openai-chat"}, "has no url"},
		{"plain http abroad", Addition{Name: "mine", API: "openai-chat", URL: "http://gpu.example/v1"}, "plain http"},
		{"a key and a place", Addition{Name: "openai", KeyRef: "env:K", Key: secret.New("sk-x")}, "choose one"},
		{"a key as a place", Addition{Name: "openai", KeyRef: "sk-x"}, "must not hold the key itself"},
	}
	for _, c := range tests {
		e, ring := bare(t, nil), keyring.Memory()
		_, err := Providers{Env: e, Ring: ring}.Add(t.Context(), c.a)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "sk-x") {
			t.Errorf("%s: %v", c.why, err)
		}
		if _, err := os.Stat(e.places().File()); err == nil {
			t.Errorf("%s: something was written", c.why)
		}
	}
	if _, err := TidyKey("two words"); err == nil {
		t.Error("two words are no key")
	}
	if _, err := TidyKey(" \n"); err == nil {
		t.Error("nothing is no key")
	}
}

func TestARefusedRowLeavesNoKeyBehind(t *testing.T) {
	t.Parallel()
	ring := keyring.Memory()
	_, err := Providers{Env: bare(t, nil), Ring: ring}.Add(t.Context(), Addition{Name: "mine", API: "openai-chat", Key: secret.New("sk-x")})
	if err == nil {
		t.Fatal("a row without an address was written")
	}
	if _, err := ring.Get(t.Context(), "mine"); !errors.Is(err, keyring.ErrAbsent) {
		t.Errorf("%v", err)
	}
}

func TestWithoutAKeyringTheWordsSayWhatToUse(t *testing.T) {
	t.Parallel()
	e := bare(t, nil) // a runtime folder without a bus
	_, err := Providers{Env: e}.Add(t.Context(), Addition{Name: "openai", Key: secret.New("sk-x")})
	fault, ok := errors.AsType[*protocol.Error](err)
	if !ok || fault.Code != protocol.CodeKey || fault.Hint != keyring.Instead {
		t.Fatalf("%#v", err)
	}
	if want := "the key was not stored: there is no keyring here: this login has no session bus, as over SSH or in a container"; fault.Message != want {
		t.Errorf("%s", fault.Message)
	}
}

func TestAProviderInUseStays(t *testing.T) {
	t.Parallel()
	e := bare(t, map[string]string{"MISTRAL_API_KEY": "k"})
	o, err := FindOffer(t.Context(), e)
	must(t, err)
	accept(t, e, o)
	_, err = Providers{Env: e}.Remove(t.Context(), "mistral")
	if err == nil || !strings.Contains(err.Error(), "is in use: the ladder, primary or a route names mistral/") {
		t.Errorf("%v", err)
	}
	if _, err := (Providers{Env: e}).Remove(t.Context(), "mistrl"); err == nil || !strings.Contains(err.Error(), `no provider "mistrl"`) {
		t.Errorf("%v", err)
	}
}

// played is a config over a double with models that see, are blind and lie about it.
func played(t *testing.T, api string, o double.Options) (Env, *config.Config) {
	t.Helper()
	o.Models = map[string]double.Model{"sees": {Sees: true}, "drops": {Drops: true}, "text": {}}
	if o.Play == nil {
		o.Play = func(_ context.Context, turn double.Turn) double.Reply {
			if len(turn.Pictures) > 0 {
				word, ok := probe.Decode(turn.Pictures[0].Bytes)
				if !ok {
					t.Error("the test picture cannot be read")
				}
				return double.Reply{Text: "It is " + strings.ToUpper(word)}
			}
			return double.Reply{Text: "ready"}
		}
	}
	s := httptest.NewServer(double.New(o))
	t.Cleanup(s.Close)
	return configured(t, fmt.Sprintf(`{"providers": {"acme": {"api": %q, "url": %q, "key": "env:ACME_KEY", "models": {"text": {"vision": false}}}},
		"ladder": [{"model": "acme/text"}, {"model": "acme/drops"}], "primary": "acme/sees"}`, api, s.URL+"/v1"))
}

func configured(t *testing.T, text string) (Env, *config.Config) {
	t.Helper()
	e := bare(t, map[string]string{"ACME_KEY": "sk-good-key"})
	if _, err := config.Create(e.places(), []byte(text), false); err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(e)
	must(t, err)
	return e, cfg
}

// steps runs a check and writes each step on a line; HOST stands for addresses.
func steps(t *testing.T, e Env, cfg *config.Config, o CheckOptions) []string {
	t.Helper()
	var out []string
	err := Providers{Env: e, Ring: keyring.Memory()}.Check(t.Context(), cfg, o, func(s Step) {
		line := fmt.Sprintf("%s %s %s: %s", s.State, s.Step, s.Model, s.Words)
		if s.BadKey {
			line += " [key]"
		}
		if s.State == stateFail && s.Hint == "" {
			t.Errorf("no hint: %+v", s)
		}
		out = append(out, line)
	})
	must(t, err)
	return out
}

func TestCheckGoesStepByStep(t *testing.T) {
	t.Parallel()
	for _, api := range []string{"openai-chat", "anthropic"} {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			e, cfg := played(t, api, double.Options{Key: "sk-good-key"})
			want := []string{
				"ok reach : reached", "ok key : key accepted", "ok models : 3 models",
				"ok answer acme/text: answered", "skip picture acme/text: text only (set by you): no picture was sent",
				"ok answer acme/drops: answered", `fail picture acme/drops: the picture was lost on the way: X with it, X`,
				"ok answer acme/sees: answered", "ok picture acme/sees: it named the colour X and the digit X",
			}
			got := steps(t, e, cfg, CheckOptions{Picture: true})
			drawn := regexp.MustCompile(`\((?:[a-z]+|\d)\)|\d+ tokens|\d+ without`)
			for i := range got {
				if strings.Contains(got[i], "it named the colour") || strings.Contains(got[i], "lost on the way") {
					got[i] = drawn.ReplaceAllString(got[i], "X")
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCheckSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	reply := func(r double.Reply) double.Player {
		return func(context.Context, double.Turn) double.Reply { return r }
	}
	tests := []struct {
		why  string
		o    double.Options
		want []string
	}{
		{"a wrong key", double.Options{Key: "sk-another"}, []string{
			"ok reach : reached",
			"fail key : the key (env:ACME_KEY) was refused: Incorrect API key provided: sk-g***-key. You can find your API key at https://platform.openai.com/account/api-keys. [key]",
		}},
		{"no credit, which is no failed key", double.Options{Play: reply(double.Reply{Status: 402})}, []string{
			"ok reach : reached", "ok key : key accepted", "ok models : 3 models",
			"fail answer acme/text: the key (env:ACME_KEY) is good, but its account has no credit: Your credit balance is too low to access the API [key]",
		}},
		{"no tools", double.Options{Play: reply(double.Reply{Status: 400, ErrorBody: `{"error":{"message":"text does not support tools"}}`})}, []string{
			"ok reach : reached", "ok key : key accepted", "ok models : 3 models",
			"fail answer acme/text: text cannot call tools, and Relo's agents work with tools: text does not support tools",
		}},
		{"too many requests", double.Options{Play: reply(double.Reply{Status: 429, Header: map[string]string{"Retry-After": "30"}})}, []string{
			"ok reach : reached", "ok key : key accepted", "ok models : 3 models",
			"fail answer acme/text: too many requests for now, it asks to wait 30s: Rate limit reached",
		}},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			e, cfg := played(t, "openai-chat", c.o)
			got := steps(t, e, cfg, CheckOptions{})
			got = got[:min(len(got), len(c.want))] // the other models say the same
			for i := range got {
				if at := strings.Index(got[i], "sk-g"); at >= 0 {
					end := at + strings.Index(got[i][at:], ". ")
					got[i] = got[i][:at] + "sk-g***-key" + got[i][end:]
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCheckOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>Sign in</html>")) }))
	t.Cleanup(page.Close)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	must(t, l.Close())
	row := func(url string) string {
		return fmt.Sprintf(`{"providers": {"acme": {"api": "openai-chat", "url": %q, "key": "env:ACME_KEY"}}}`, url)
	}
	tests := []struct{ why, config, want string }{
		{"a web page", row(page.URL), "fail reach : " + strings.TrimPrefix(page.URL, "http://") + " sent a web page (HTML) instead of an answer: Sign in"},
		{"nobody", row("http://" + l.Addr().String()), "fail reach : nothing listens at " + l.Addr().String() + " (connection refused)"},
		{"no key in the variable", `{"providers": {"acme": {"api": "openai", "key": "env:NOWHERE"}}}`, "fail key : no key: the variable NOWHERE is not set [key]"},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			e, cfg := configured(t, c.config)
			var got []Step
			must(t, Providers{Env: e}.Check(t.Context(), cfg, CheckOptions{}, func(s Step) { got = append(got, s) }))
			line := ""
			if len(got) == 1 {
				line = fmt.Sprintf("%s %s %s: %s", got[0].State, got[0].Step, got[0].Model, got[0].Words)
				if got[0].BadKey {
					line += " [key]"
				}
			}
			if line != c.want {
				t.Errorf("got  %+v\nwant %s", got, c.want)
			}
		})
	}
}

func TestCheckOfTheRehearsalNeedsNothing(t *testing.T) {
	t.Parallel()
	e, cfg := configured(t, demoConfig)
	got := steps(t, e, cfg, CheckOptions{})
	if len(got) != 6 || !slices.Contains(got, "ok answer rehearsal/rehearsal-large: answered") {
		t.Errorf("%q", got)
	}
	if err := (Providers{Env: e}).Check(t.Context(), cfg, CheckOptions{Names: []string{"other"}}, func(Step) {}); err == nil || provider.Is(err, provider.KindKey) {
		t.Errorf("%v", err)
	}
}
