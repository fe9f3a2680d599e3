package app

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/relo-dev/relo/core/internal/config"
)

func bareRedactor(secrets ...string) *redactor {
	all := map[string]bool{}
	for _, s := range secrets {
		all[s] = true
	}
	return &redactor{known: replacer(all), home: "/home/ann", never: neverMatch([]string{"**/secrets/**"})}
}

// Every row holds its secret between two bars, which the test takes out.
func TestWhatLooksLikeASecretIsTakenOut(t *testing.T) {
	t.Parallel()
	for _, row := range []string{
		"key |sk-ant-api03-AAAAbbbbCCCCddddEEEEffff_gggg-hhhh|!",
		"|sk-proj-AAAAbbbbCCCCddddEEEEffff|",
		"|sk-or-v1-0123456789abcdef0123456789abcdef|",
		"|ghp_0123456789abcdefABCDEF0123456789abcd| and |github_pat_11AAAAAAA0abcdefghijkl_mnopqrstuvwxyz|",
		"|glpat-AAAAbbbbCCCCddddEEEE|",
		"|xoxb-123456789012-abcdefghijkl|",
		"https://hooks.slack.com/services/|T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX|",
		"|AKIAIOSFODNN7EXAMPLE| |ASIAIOSFODNN7EXAMPLE|",
		"|AIzaSyA-0123456789abcdefghijklmnopqrstu|",
		"|hf_abcdefghijklmnopqrstuvwx|, |gsk_abcdefghijklmnopqrstuvwx|, |xai-abcdefghijklmnopqrstuvwx|, |npm_abcdefghijklmnopqrstuvwx|",
		"|eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF-_123|",
		"-----BEGIN is no key",
		"|-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----|",
		"https://|bob:hunter2|@example.com/x and postgres://|user:p%40ss|@db/x",
		"Authorization: Bearer |abcdefghijklmnop.qrstuv|",
		"curl -H 'x-api-key: |0123456789abcdef|'",
		`{"api_key": "|0123456789abcdef|", "name": "x"}`,
		`{\"client_secret\": \"|0123456789abcdef|\"}`,
		"DB_PASSWORD=|correct-horse| next",
		"password: |correct-horse|",
		"https://example.com/a?x=1&token=|abcdefghi|&y=2",
		"https://example.com/a?X-Amz-Signature=|0123456789abcdef0123|",
		"cd /home/annabel is not her home",
	} {
		want := row
		for {
			a := strings.Index(want, "|")
			if a < 0 {
				break
			}
			b := a + 1 + strings.Index(want[a+1:], "|")
			want = want[:a] + gone + want[b+1:]
		}
		if got := bareRedactor().text(strings.ReplaceAll(row, "|", "")); got != want {
			t.Errorf("%s\nbecomes %s\nwant    %s", row, got, want)
		}
	}
	if got := bareRedactor().text("in /home/ann/work and /home/ann"); got != "in ~/work and ~" {
		t.Error(got)
	}
}

func TestOrdinaryWordsStay(t *testing.T) {
	t.Parallel()
	for _, row := range []string{
		"the token is cheap: 1200 tokens in, 30 out", "git log --format=%(trailers:key=Relo-Task,valueonly)", "sk-small", "see https://example.com/path?page=2",
		`{"sha256":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","tokensIn":512}`, "a monkey=banana", "keyboard: qwerty",
	} {
		if got := bareRedactor().text(row); got != row {
			t.Errorf("%s\nbecomes %s", row, got)
		}
	}
}

func TestAKnownSecretIsFoundInEveryForm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[a-zA-Z0-9"\\&<>/ +=%-]{8,40}`).Filter(func(s string) bool {
			return strings.TrimSpace(s) == s && !strings.HasPrefix(s, `"`) // else it may be a JSON text itself, which reads as what stands in it
		}).Draw(t, "secret")
		r := bareRedactor(secret)
		inner, _ := json.Marshal(map[string]string{"out": "a " + secret + " b"})
		outer, _ := json.Marshal(map[string]string{"text": string(inner), "at": "https://x/?q=" + url.QueryEscape(secret)})
		for _, text := range []string{secret, string(inner), string(outer), base64.StdEncoding.EncodeToString([]byte(secret)), "https://x/" + url.PathEscape(secret)} {
			for _, got := range []string{r.text(text), string(r.doc([]byte(text)))} {
				if strings.Contains(got, secret) || strings.Contains(got, base64.StdEncoding.EncodeToString([]byte(secret))) {
					t.Fatalf("%q is still in %q", secret, got)
				}
				var back map[string]string
				if json.Unmarshal([]byte(got), &back) == nil && strings.Contains(back["text"], secret) {
					t.Fatalf("%q is still in %q", secret, back["text"])
				}
			}
		}
	})
}

func TestADocumentLosesPicturesAndFilesThatAreNeverShown(t *testing.T) {
	t.Parallel()
	r := bareRedactor()
	picture := "iVBORw0KGgo" + strings.Repeat("A", shortPicture)
	got := string(r.doc([]byte(`{"a": {"path": "x/secrets/s.png", "text": "private"}, "b": {"path": "ok.png", "n": 12345678901234567890}, "data": "` + picture + `", "cookie": "abcdefgh"}`)))
	for _, bad := range []string{"private", "s.png", "AAAA", "abcdefgh"} {
		if strings.Contains(got, bad) {
			t.Errorf("%q is in %s", bad, got)
		}
	}
	for _, good := range []string{"ok.png", "12345678901234567890", "[picture]"} {
		if !strings.Contains(got, good) {
			t.Errorf("%q is not in %s", good, got)
		}
	}
}

func TestEveryKeyOfTheConfigIsKnown(t *testing.T) {
	t.Parallel()
	env := map[string]string{"ACME_KEY": "env-value-123456", "HDR": "header-ref-123456"}
	e := Env{Getenv: func(n string) string { return env[n] }}
	cfg := &config.Config{
		Providers: map[string]config.Provider{"acme": {Key: "env:ACME_KEY", URL: "https://bob:url-pass-1234@x/v1", Headers: map[string]string{"a": "env:HDR", "b": "Bearer plain-header-1234"}}, "away": {Key: "env:NOT_SET"}},
		MCP:       map[string]config.Server{"pg": {Headers: map[string]string{"x": "mcp-header-1234"}, Env: map[string]string{"PG": "mcp-env-1234"}}},
	}
	r := newRedactor(t.Context(), e, cfg)
	for _, secret := range []string{"env-value-123456", "url-pass-1234", "header-ref-123456", "plain-header-1234", "mcp-header-1234", "mcp-env-1234"} {
		if got := r.text("x " + secret + " y"); got != "x "+gone+" y" {
			t.Errorf("%s: %s", secret, got)
		}
	}
	if len(r.blind) != 1 || r.blind[0] != "the key of away" {
		t.Errorf("keys that could not be fetched: %v", r.blind)
	}
}
