package found

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// programs are the agents whose settings are looked at.
var programs = []func(Place) Program{openCode, codex, claudeCode, geminiCLI}

// held is a secret in another program's file: only whether it is there is kept.
type held bool

// UnmarshalJSON keeps one bit.
func (h *held) UnmarshalJSON(b []byte) error {
	*h = len(b) > 2 && string(b) != "null" // neither "" nor {} nor null
	return nil
}

// read reads a JSON file, comments or not. A file that is not there, or that nobody
// can read, is false.
func read(name string, into any) bool {
	text, ok := readText(name)
	if !ok {
		return false
	}
	plain, err := hujson.Standardize([]byte(text))
	return err == nil && json.Unmarshal(plain, into) == nil
}

func readText(name string) (text string, ok bool) {
	f, err := os.Open(name) //nolint:gosec // known names below the person's own home
	if err != nil {
		return "", false
	}
	info, err := f.Stat()
	var data []byte
	if err == nil && info.Mode().IsRegular() && info.Size() <= maxSettings {
		data, err = io.ReadAll(io.LimitReader(f, maxSettings))
	} else if err == nil {
		err = fs.ErrInvalid
	}
	return string(data), errors.Join(err, f.Close()) == nil
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// below gives a folder that a variable names, else one below the home folder.
func (p Place) below(variable string, home ...string) string {
	if dir := p.Getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(append([]string{p.Home}, home...)...)
}

// plainName is a name that can stand in a command without changing it.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// pick is a command that prints one field of another program's file, at the time
// the key is needed: the key stays where it is. words is empty when there is one.
func (p Place) pick(file string, fields ...string) (ref, words string) {
	for _, f := range fields {
		if !plainName.MatchString(f) {
			return "", "its name cannot be put into a command"
		}
	}
	path := `["` + strings.Join(fields, `"]["`) + `"]`
	if strings.ContainsAny(file, "'\n") {
		return "", "its path cannot be put into a command"
	}
	if _, err := p.LookPath("jq"); err != nil {
		return "", "jq would be needed to fetch it from there"
	}
	return fmt.Sprintf("cmd:jq -r '.%s' '%s'", path, file), ""
}

// vendors are other agents' names for what Relo has a preset for.
var vendors = map[string]string{
	"anthropic": "anthropic", "openai": "openai", "openrouter": "openrouter", "google": "gemini-openai", "gemini": "gemini-openai",
	"mistral": "mistral", "xai": "xai", "groq": "groq", "deepseek": "deepseek", "zai": "zai", "moonshotai": "moonshot", "moonshot": "moonshot",
	"cerebras": "cerebras", "alibaba": "qwen", "minimax": "minimax",
}

const notTaken = "a sign-in that belongs to %s: Relo does not take it"

// openCode reads OpenCode's config (provider.NAME.npm, options.baseURL and apiKey,
// its documentation, "Providers") and its keys (auth.json, "type": "api" or "oauth").
func openCode(p Place) Program {
	prog := Program{Name: "OpenCode", Offers: []Offered{}}
	dir := filepath.Join(p.below("XDG_CONFIG_HOME", ".config"), "opencode")
	for _, name := range []string{"opencode.json", "opencode.jsonc"} {
		var cfg struct {
			Provider map[string]openCodeProvider `json:"provider"`
		}
		file := filepath.Join(dir, name)
		if !read(file, &cfg) {
			continue
		}
		prog.Files = append(prog.Files, file)
		for _, id := range slices.Sorted(maps.Keys(cfg.Provider)) {
			prog.Offers = append(prog.Offers, cfg.Provider[id].offer(p, id, file))
		}
	}
	var auth map[string]struct {
		Type string `json:"type"`
		Key  held   `json:"key"`
	}
	file := filepath.Join(p.below("XDG_DATA_HOME", ".local", "share"), "opencode", "auth.json")
	if !read(file, &auth) {
		return prog
	}
	prog.Files = append(prog.Files, file)
	for _, id := range slices.Sorted(maps.Keys(auth)) {
		o := Offered{Name: id, API: vendors[id]}
		switch a := auth[id]; {
		case a.Type == "api" && bool(a.Key):
			o.KeyRef, o.Words = p.pick(file, id, "key")
			o.Words = keptWords("OpenCode's auth.json", o.Words)
		case a.Type == "oauth":
			o.Words = fmt.Sprintf(notTaken, "OpenCode")
		default:
			o.Words = "not a key"
		}
		prog.Offers = append(prog.Offers, o)
	}
	return prog
}

func keptWords(where, why string) string {
	words := "a key in " + where
	if why != "" {
		words += "; " + why
	}
	return words
}

type openCodeProvider struct {
	NPM     string `json:"npm"`
	Options struct {
		BaseURL string          `json:"baseURL"`
		Key     json.RawMessage `json:"apiKey"`
	} `json:"options"`
}

func (c openCodeProvider) offer(p Place, id, file string) Offered {
	o := Offered{Name: id, API: vendors[id], URL: c.Options.BaseURL}
	switch c.NPM {
	case "@ai-sdk/openai-compatible":
		o.API = "openai-chat"
	case "@ai-sdk/anthropic":
		o.API = "anthropic"
	case "@ai-sdk/openai":
		o.API = "openai"
	}
	if o.API == "openai-chat" && o.URL == "" {
		o.API = ""
	}
	var text string
	if json.Unmarshal(c.Options.Key, &text) == nil && strings.HasPrefix(text, "{env:") && strings.HasSuffix(text, "}") {
		o.KeyRef, o.Words = "env:"+text[len("{env:"):len(text)-1], "a provider in OpenCode's settings, its key in a variable"
		return o
	}
	if text == "" {
		o.Words = "a provider in OpenCode's settings, without a key there"
		return o
	}
	o.KeyRef, o.Words = p.pick(file, "provider", id, "options", "apiKey")
	if strings.HasSuffix(file, ".jsonc") {
		o.KeyRef, o.Words = "", "the file has comments, which jq does not read"
	}
	o.Words = keptWords("OpenCode's settings", o.Words)
	return o
}

// tomlLine is as much of TOML as a provider's table in Codex's config needs.
var (
	tomlTable = regexp.MustCompile(`^\s*\[model_providers\.("?)([A-Za-z0-9_.-]+)("?)\]\s*(#.*)?$`)
	tomlOther = regexp.MustCompile(`^\s*\[`)
	tomlField = regexp.MustCompile(`^\s*(base_url|env_key|wire_api)\s*=\s*"([^"\\]*)"`)
)

// codex reads Codex's config.toml ([model_providers.NAME] base_url, env_key, wire_api,
// its documentation, "Config") and auth.json (OPENAI_API_KEY, or tokens of a sign-in).
func codex(p Place) Program {
	prog := Program{Name: "Codex", Offers: []Offered{}}
	dir := p.below("CODEX_HOME", ".codex")
	if text, ok := readText(filepath.Join(dir, "config.toml")); ok {
		prog.Files = append(prog.Files, filepath.Join(dir, "config.toml"))
		prog.Offers = append(prog.Offers, codexProviders(text)...)
	}
	var auth struct {
		Key    held `json:"OPENAI_API_KEY"`
		Tokens held `json:"tokens"`
	}
	file := filepath.Join(dir, "auth.json")
	if !read(file, &auth) {
		return prog
	}
	prog.Files = append(prog.Files, file)
	if auth.Key {
		o := Offered{Name: "openai", API: "openai"}
		o.KeyRef, o.Words = p.pick(file, "OPENAI_API_KEY")
		o.Words = keptWords("Codex's auth.json", o.Words)
		prog.Offers = append(prog.Offers, o)
	}
	if auth.Tokens {
		prog.Offers = append(prog.Offers, Offered{Name: "chatgpt", Words: fmt.Sprintf(notTaken, "Codex")})
	}
	return prog
}

func codexProviders(text string) []Offered {
	var offers []Offered
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if m := tomlTable.FindStringSubmatch(line); m != nil {
			offers, inside = append(offers, Offered{Name: m[2], API: "openai-chat", Words: "a provider in Codex's settings, without a key there"}), true
			continue
		}
		inside = inside && !tomlOther.MatchString(line)
		m := tomlField.FindStringSubmatch(line)
		if m == nil || !inside {
			continue
		}
		o := &offers[len(offers)-1]
		switch m[1] {
		case "base_url":
			o.URL = m[2]
		case "env_key":
			o.KeyRef, o.Words = "env:"+m[2], "a provider in Codex's settings, its key in a variable"
		case "wire_api":
			if m[2] == "responses" {
				o.API, o.Words = "", "speaks OpenAI's Responses, which this version does not"
			}
		}
	}
	return offers
}

// claudeCode reads Claude Code's settings (apiKeyHelper, a command that prints a key,
// and env; its documentation, "Settings"). Its sign-in is left alone.
func claudeCode(p Place) Program {
	prog := Program{Name: "Claude Code", Offers: []Offered{}}
	dir := p.below("CLAUDE_CONFIG_DIR", ".claude")
	var settings struct {
		Helper string `json:"apiKeyHelper"`
		Env    struct {
			Key  held   `json:"ANTHROPIC_API_KEY"`
			Base string `json:"ANTHROPIC_BASE_URL"`
		} `json:"env"`
	}
	if file := filepath.Join(dir, "settings.json"); read(file, &settings) {
		prog.Files = append(prog.Files, file)
		o := Offered{Name: "anthropic", API: "anthropic", URL: settings.Env.Base}
		switch {
		case settings.Helper != "":
			o.KeyRef, o.Words = "cmd:"+settings.Helper, "the command that Claude Code asks for its key"
			prog.Offers = append(prog.Offers, o)
		case bool(settings.Env.Key):
			o.KeyRef, o.Words = p.pick(file, "env", "ANTHROPIC_API_KEY")
			o.Words = keptWords("Claude Code's settings", o.Words)
			prog.Offers = append(prog.Offers, o)
		}
	}
	if file := filepath.Join(dir, ".credentials.json"); isFile(file) {
		prog.Files = append(prog.Files, file)
		prog.Offers = append(prog.Offers, Offered{Name: "claude.ai", Words: fmt.Sprintf(notTaken, "Claude Code")})
	}
	return prog
}

// geminiCLI looks for the Gemini CLI's key (.env) and its sign-in (oauth_creds.json;
// its documentation, "Authentication").
func geminiCLI(p Place) Program {
	prog := Program{Name: "Gemini CLI", Offers: []Offered{}}
	dir := filepath.Join(p.Home, ".gemini")
	file := filepath.Join(dir, ".env")
	if text, ok := readText(file); ok {
		prog.Files = append(prog.Files, file)
		if regexp.MustCompile(`(?m)^GEMINI_API_KEY=.`).MatchString(text) && !strings.ContainsAny(file, "'\n") {
			prog.Offers = append(prog.Offers, Offered{
				Name: "gemini", API: "gemini-openai", KeyRef: fmt.Sprintf("cmd:sed -n 's/^GEMINI_API_KEY=//p' '%s'", file), Words: keptWords("the Gemini CLI's .env", ""),
			})
		}
	}
	if file := filepath.Join(dir, "oauth_creds.json"); isFile(file) {
		prog.Files = append(prog.Files, file)
		prog.Offers = append(prog.Offers, Offered{Name: "google", Words: fmt.Sprintf(notTaken, "the Gemini CLI")})
	}
	return prog
}
