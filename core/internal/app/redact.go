package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/vision/picture"
)

// gone stands where a secret stood.
const gone = "[secret]"

const (
	// shortSecret is the least length of a value that is looked for word by word: a
	// shorter one stands in too many other words.
	shortSecret = 6
	// shortPicture is the least length of a run of base64 that is taken for a
	// picture's bytes.
	shortPicture = 256
)

// redactor takes secrets out of text: those that are known by their value, and
// those that look like one.
type redactor struct {
	known *strings.Replacer
	home  string
	never func(path string) bool
	// Blind are keys of the config that could not be fetched, in words: they are
	// not looked for by value.
	blind []string
}

// shapes are texts that look like a secret, whoever it belongs to. The group
// "keep" stays.
var shapes = []struct {
	name string
	re   *regexp.Regexp
}{
	{"a private key", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)`)},
	{"a JSON web token", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)},
	{"Anthropic, OpenAI, OpenRouter and others with sk-", regexp.MustCompile(`\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9_-]{16,}`)},
	{"GitHub", regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})`)},
	{"GitLab", regexp.MustCompile(`\bgl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{16,}`)},
	{"Slack", regexp.MustCompile(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`)},
	{"Slack hooks", regexp.MustCompile(`(?P<keep>hooks\.slack\.com/services/)[A-Za-z0-9/_-]{16,}`)},
	{"AWS key ids", regexp.MustCompile(`\b(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{12,}\b`)},
	{"Google", regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{30,}|\bya29\.[A-Za-z0-9_-]{16,}|\bGOCSPX-[A-Za-z0-9_-]{16,}`)},
	{"Hugging Face, Replicate, Groq, xAI, npm, PyPI, SendGrid and others", regexp.MustCompile(`\b(?:hf_|r8_|gsk_|xai-|npm_|pypi-|SG\.|csk-|fw_|pplx-|tvly-|dop_v1_|shpat_|nvapi-|lin_api_|sq0[a-z]{3}-)[A-Za-z0-9_.-]{16,}`)},
	{"the person and password of an address", regexp.MustCompile(`(?P<keep>\b[A-Za-z][A-Za-z0-9+.-]*://)[^\s/@"'<>\\]+(?P<keep2>@)`)},
	{"authorization headers", regexp.MustCompile(`(?i)(?P<keep>\b(?:bearer|basic|token)\s+)[A-Za-z0-9+/_.~=-]{12,}`)},
	{"headers and fields that name a secret", regexp.MustCompile(
		`(?i)(?P<keep>\b[A-Za-z0-9_.-]*(?:api[-_]?key|secret|passw(?:or)?d|passphrase|access[-_]?token|auth[-_]?token|refresh[-_]?token|client[-_]?secret|private[-_]?key|credentials?)[A-Za-z0-9_]*\\?["']?\s*(?:=|:)\s*\\?["']?)[^\s"'\\,;&}<>\[\]]{6,}`)},
	{"parameters of an address", regexp.MustCompile(`(?i)(?P<keep>[?&](?:key|token|sig|signature|code|auth|password|secret|x-amz-[a-z-]+)=)[^&\s"'<>\\]{6,}`)},
}

// secretNames are parts of the names of variables whose values are secrets.
var secretNames = regexp.MustCompile(`(?i)(?:KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH|COOKIE|DSN)`)

// newRedactor collects what must not leave: every key, header and variable of the
// config, and what the environment has under a name that says secret.
func newRedactor(ctx context.Context, e Env, cfg *config.Config) *redactor {
	r := &redactor{home: e.Getenv("HOME"), never: neverMatch(cfg.Pictures.Never)}
	found := map[string]bool{}
	add := func(text string) {
		if len(strings.TrimSpace(text)) >= shortSecret {
			found[strings.TrimSpace(text)] = true
		}
	}
	fetch := func(what, ref string) {
		if ref == "" {
			return
		}
		v, err := keysOf(e.Getenv).Resolve(ctx, ref)
		if err != nil {
			r.blind = append(r.blind, what)
		}
		add(v.Reveal())
	}
	value := func(what, text string) {
		place, _, ok := strings.Cut(text, ":")
		if ok && slices.Contains([]string{"env", "file", "cmd", "keyring"}, place) {
			fetch(what, text)
			return
		}
		add(text)
		if _, bare, ok := strings.Cut(text, " "); ok { // Bearer KEY
			add(bare)
		}
	}
	for name, p := range cfg.Providers {
		fetch("the key of "+name, p.Key)
		for h, v := range p.Headers {
			value("header "+h+" of "+name, v)
		}
		add(password(p.URL))
	}
	for name, m := range cfg.MCP {
		for h, v := range m.Headers {
			value("header "+h+" of "+name, v)
		}
		for n, v := range m.Env {
			value("variable "+n+" of "+name, v)
		}
		add(password(m.URL))
	}
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); secretNames.MatchString(name) {
			add(e.Getenv(name))
		}
	}
	slices.Sort(r.blind)
	r.known = replacer(found)
	return r
}

// password gives the password of an address, which some keep there.
func password(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return ""
	}
	text, _ := u.User.Password()
	return text
}

// replacer finds each secret also as JSON, addresses and base64 have it.
func replacer(secrets map[string]bool) *strings.Replacer {
	forms := map[string]bool{}
	for s := range secrets {
		forms[s] = true
		for _, html := range []bool{true, false} {
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(html)
			if enc.Encode(s) == nil {
				once := strings.Trim(strings.TrimSpace(b.String()), `"`)
				forms[once] = true
				forms[strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(once)] = true // JSON within JSON
			}
		}
		forms[url.QueryEscape(s)], forms[url.PathEscape(s)] = true, true
		forms[base64.StdEncoding.EncodeToString([]byte(s))], forms[base64.RawURLEncoding.EncodeToString([]byte(s))] = true, true
	}
	list := slices.SortedFunc(maps.Keys(forms), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) // the longest first: one may be a part of another
	})
	var pairs []string
	for _, f := range list {
		pairs = append(pairs, f, gone)
	}
	return strings.NewReplacer(pairs...)
}

// text takes everything that must not leave out of a text.
func (r *redactor) text(s string) string {
	s = r.known.Replace(s)
	for _, shape := range shapes {
		s = shape.re.ReplaceAllString(s, keeping(shape.re))
	}
	if len(r.home) > 1 {
		s = r.shorten(s)
	}
	return s
}

// keeping is the replacement that leaves the groups called keep.
func keeping(re *regexp.Regexp) string {
	out := gone
	if re.SubexpIndex("keep") > 0 {
		out = "${keep}" + out
	}
	if re.SubexpIndex("keep2") > 0 {
		out += "${keep2}"
	}
	return out
}

// shorten writes the home folder as ~, where it is a whole name.
func (r *redactor) shorten(s string) string {
	home := filepath.Clean(r.home)
	var b strings.Builder
	for {
		at := strings.Index(s, home)
		if at < 0 {
			b.WriteString(s)
			return b.String()
		}
		end := at + len(home)
		b.WriteString(s[:at])
		if end < len(s) && (s[end] == '_' || s[end] == '-' || s[end] == '.' || s[end] >= '0' && s[end] <= '9' || s[end] >= 'A' && s[end] <= 'Z' || s[end] >= 'a' && s[end] <= 'z') {
			b.WriteString(home)
		} else {
			b.WriteString("~")
		}
		s = s[end:]
	}
}

// doc takes it out of a JSON document: of every text in it, and the pictures that
// no model may be shown with it. What is no JSON is treated as text.
func (r *redactor) doc(raw []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil || dec.More() {
		return []byte(r.text(string(raw)))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r.value(v)); err != nil {
		return []byte(r.text(string(raw)))
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// lines is doc for a file of one document a line.
func (r *redactor) lines(raw []byte) []byte {
	var out []byte
	for line := range bytes.Lines(raw) {
		out = append(append(out, r.doc(bytes.TrimRight(line, "\r\n"))...), '\n')
	}
	return out
}

func (r *redactor) value(v any) any {
	switch x := v.(type) {
	case string:
		if isPicture(x) {
			return "[picture]"
		}
		return r.text(x)
	case []any:
		for i := range x {
			x[i] = r.value(x[i])
		}
		return x
	case map[string]any:
		if path, ok := x["path"].(string); ok && r.never(path) {
			out := map[string]any{"leftOut": "a file that no model is shown (pictures.never)"}
			for _, name := range []string{"seq", "time", "job", "task", "attempt", "kind"} { // an event keeps its place
				if v, ok := x[name]; ok {
					out[name] = v
				}
			}
			return out
		}
		out := make(map[string]any, len(x))
		for name, part := range x {
			key := r.text(name)
			if text, ok := part.(string); ok && len(text) >= shortSecret && nameOfSecret(name) {
				out[key] = gone
				continue
			}
			out[key] = r.value(part)
		}
		return out
	}
	return v
}

// fieldNames are fields whose text is a secret whatever it looks like.
var fieldNames = regexp.MustCompile(`(?i)^(?:x-)?(?:api[-_]?key|authorization|proxy-authorization|cookie|set-cookie|passw(?:or)?d|secret|client[-_]?secret|(?:access|auth|refresh)[-_]?token|private[-_]?key)$`)

func nameOfSecret(name string) bool { return fieldNames.MatchString(name) }

// pictureHeads are the beginnings of PNG, JPEG, GIF and WebP in base64.
var pictureHeads = []string{"iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR"}

// isPicture reports whether a text is the bytes of a picture: these are files of
// their own in an export, or left out.
func isPicture(s string) bool {
	if _, data, ok := strings.Cut(s, ";base64,"); ok && strings.HasPrefix(s, "data:image/") {
		s = data
	}
	return len(s) >= shortPicture && slices.ContainsFunc(pictureHeads, func(h string) bool { return strings.HasPrefix(s, h) })
}

// neverMatch tells whether a path is one that no model is shown.
func neverMatch(globs []string) func(path string) bool {
	p := picture.New(picture.Options{Never: globs})
	return func(path string) bool {
		_, _, err := p.PrepareBytes(context.Background(), nil, path, picture.Params{}) // it asks for the name before the bytes
		e, ok := errors.AsType[*picture.Error](err)
		return ok && e.Code == picture.NotAllowed
	}
}
