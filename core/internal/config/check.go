package config

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/catalog"
)

// meanings check one value by itself; they answer with what is wrong and the fix.
var meanings = map[string]func(v any) (words, fix string){
	"url": func(v any) (string, string) { return checkURL(v, "http", "https") },
	"key": checkKey,
	"busurl": func(v any) (string, string) {
		return checkURL(v, "nats", "tls")
	},
	// It becomes part of a host's name.
	"region": func(v any) (string, string) {
		if s, _ := v.(string); s != "" && !regionName.MatchString(s) {
			return "is not an AWS region", `for example "us-east-1"`
		}
		return "", ""
	},
	"listen": func(v any) (string, string) {
		s, _ := v.(string)
		if _, _, err := net.SplitHostPort(s); err != nil {
			return "is not an address", `host:port, for example "127.0.0.1:0"`
		}
		return "", ""
	},
}

func checkURL(v any, schemes ...string) (words, fix string) {
	s, _ := v.(string)
	if s == "" {
		return "", ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || !slices.Contains(schemes, u.Scheme) {
		return "is not an address", "it begins with " + strings.Join(schemes, ":// or ") + ":// and names a host"
	}
	if u.User != nil {
		return "holds a name or password", "use key"
	}
	return "", ""
}

const keyFix = `keep it elsewhere and name the place: "env:NAME" for a variable, "file:PATH" for a file that only you can read, "keyring:NAME" for the system's keyring (relo providers add puts it there), "cmd:COMMAND" for a password manager`

// checkKey never repeats the value: it may be a key.
func checkKey(v any) (words, fix string) {
	s, _ := v.(string)
	if s == "" || reference(s) {
		return "", ""
	}
	return "must not hold the key itself", keyFix
}

// keyPlaces are the ways to name where a key is kept.
var keyPlaces = []string{"env", "file", "keyring", "cmd"}

func reference(s string) bool {
	place, rest, ok := strings.Cut(s, ":")
	return ok && rest != "" && slices.Contains(keyPlaces, place)
}

// secretHeaders are headers whose value is a key.
var secretHeaders = []string{"authorization", "proxy-authorization", "x-api-key", "api-key", "cookie", "x-goog-api-key"}

// checker looks at the whole after the layers were merged.
type checker struct {
	rep *report
	cfg *Config
	at  map[string]position
}

func (c *checker) add(path, words, fix string) {
	c.rep.add(c.where(path), path, words, fix)
}

// where finds the nearest place that is known for a path.
func (c *checker) where(path string) position {
	for p := path; ; p = parent(p) {
		if at, ok := c.at[p]; ok {
			return at
		}
		if p == "" {
			return position{origin: "default", file: "default"}
		}
	}
}

func parent(path string) string {
	if strings.HasSuffix(path, "]") {
		if i := strings.LastIndexByte(path, '['); i >= 0 {
			return path[:i]
		}
	}
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		return path[:i]
	}
	return ""
}

func (c *checker) all() {
	c.providers()
	c.models()
	c.engine()
	c.servers()
	for i, p := range c.cfg.Previews {
		path := item("previews", i)
		if p.Name == "" {
			c.add(path, "has no name", `add "name"`)
		}
		if (len(p.Command) == 0) == (p.URL == "") {
			c.add(path, "needs either command or url", "")
		}
	}
	for i, g := range c.cfg.Pictures.Never {
		if strings.TrimSpace(g) == "" {
			c.add(item("pictures.never", i), "is empty", `a glob, for example "**/secrets/**"`)
		}
	}
}

var regionName = regexp.MustCompile(`^[a-z]{2,}(-[a-z0-9]+)+$`)

var providerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func (c *checker) providers() {
	for _, name := range sortedKeys(c.cfg.Providers) {
		p, path := c.cfg.Providers[name], join("providers", name)
		if !providerName.MatchString(name) {
			c.add(path, "is not a name for a provider", "letters, digits, dot, dash and underscore")
		}
		if p.API == "" {
			if _, given := c.at[path+".api"]; !given {
				c.add(path, "has no api", `add "api": one of `+strings.Join(APIs(), ", "))
			}
			continue
		}
		if p.Wire != "bedrock" {
			for _, only := range []string{"region", "profile"} {
				if _, given := c.at[path+"."+only]; given {
					c.add(path+"."+only, "is for bedrock alone", "remove it")
				}
			}
		}
		if p.URL == "" && p.Wire == "openai-chat" {
			if _, given := c.at[path+".url"]; !given || p.API == "openai-chat" {
				c.add(path, "has no url", `add "url", the base address that ends in /v1 for most services`)
			}
		}
		if strings.HasPrefix(p.URL, "http://") && !p.Insecure && !nearAddress(p.URL) {
			c.add(path+".url", "is plain http to an address that is neither loopback nor private", `use https, or set "insecure": true`)
		}
		c.headers(path+".headers", p.Headers)
	}
}

func (c *checker) headers(path string, headers map[string]string) {
	for _, name := range sortedKeys(headers) {
		if slices.Contains(secretHeaders, strings.ToLower(name)) && headers[name] != "" && !reference(headers[name]) {
			c.add(join(path, name), "must not hold the key itself", keyFix)
		}
	}
}

func (c *checker) models() {
	seen := map[catalog.Ref]string{}
	for i, r := range c.cfg.Ladder {
		path := item("ladder", i)
		if len(r.Model) == 0 && c.complete(path+".model") {
			c.add(path, "names no model", `add "model": "provider/id"`)
		}
		for j, m := range r.Model {
			sub := path + ".model"
			if _, list := c.at[item(sub, j)]; list {
				sub = item(sub, j)
			}
			c.model(sub, m)
			if first, twice := seen[m]; twice {
				c.add(sub, fmt.Sprintf("%q is in the ladder twice", short(string(m))), "it stands at "+first+" already; a model has one rung")
			} else {
				seen[m] = sub
			}
		}
	}
	if c.cfg.Primary != "" {
		c.model("primary", c.cfg.Primary)
	}
	for _, route := range []struct {
		name  string
		chain Chain
	}{{"vision", c.cfg.Routes.Vision}, {"planning", c.cfg.Routes.Planning}, {"review", c.cfg.Routes.Review}} {
		for i, m := range route.chain {
			c.model(item("routes."+route.name, i), m)
		}
	}
}

// complete reports whether nothing was dropped at the path: what has a fault of its
// own must not get another one for being absent.
func (c *checker) complete(path string) bool {
	_, given := c.at[path]
	if !given {
		return true
	}
	for _, f := range c.rep.list {
		if strings.HasPrefix(f.Path, path) {
			return false
		}
	}
	return true
}

func (c *checker) model(path string, m catalog.Ref) {
	provider, id := m.Split()
	if provider == "" || id == "" {
		c.add(path, fmt.Sprintf("%q is not a model", short(string(m))), "provider/id, for example anthropic/claude-sonnet-5")
		return
	}
	if _, known := c.cfg.Providers[provider]; !known {
		fix := meant(provider, sortedKeys(c.cfg.Providers))
		if len(c.cfg.Providers) == 0 {
			fix = "add it under providers"
		}
		c.add(path, fmt.Sprintf("%q names a provider that is not configured: %q", short(string(m)), short(provider)), fix)
	}
}

var engines = []string{"native", "opencode", "codex", "claude"}

func (c *checker) engine() {
	name, isACP := strings.CutPrefix(c.cfg.Engine, "acp:")
	if isACP {
		if _, known := c.cfg.ACP[name]; !known {
			c.add("engine", fmt.Sprintf("there is no %q under acp", short(name)), meant(name, sortedKeys(c.cfg.ACP)))
		}
	} else if !slices.Contains(engines, c.cfg.Engine) {
		c.add("engine", fmt.Sprintf("%q is not an engine", short(c.cfg.Engine)), meant(c.cfg.Engine, append(slices.Clone(engines), "acp:<name>")))
	}
	for _, name := range sortedKeys(c.cfg.Engines) {
		if !slices.Contains(engines, name) {
			c.add(join("engines", name), "is not an engine", meant(name, engines))
		}
	}
	for _, name := range sortedKeys(c.cfg.ACP) {
		if path := join("acp", name); len(c.cfg.ACP[name].Command) == 0 && c.complete(path) {
			c.add(path, "has no command", `add "command": ["program", "argument"]`)
		}
	}
}

func (c *checker) servers() {
	for _, name := range sortedKeys(c.cfg.MCP) {
		s, path := c.cfg.MCP[name], join("mcp", name)
		if (s.URL == "") == (len(s.Command) == 0) && c.complete(path) {
			c.add(path, "needs either url or command", "")
		}
		if strings.HasPrefix(s.URL, "http://") && !nearAddress(s.URL) {
			c.add(path+".url", "is plain http to an address that is neither loopback nor private", "use https")
		}
		c.headers(path+".headers", s.Headers)
	}
}
