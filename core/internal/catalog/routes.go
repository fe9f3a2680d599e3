package catalog

import (
	"slices"
	"strings"
)

// nature is what the lists themselves do not say of a route: how far its word goes.
type nature struct {
	// makes are the heads of the ids of models that its owner makes: of those it is the
	// vendor's own list, which beats all others. all is every model of the route.
	makes []string
	// firm is a list whose no can be believed: of the models whose vendor says that
	// they see, it says so too, each time. A test measures it. The importers of the
	// other lists leave the flag false when they do not know.
	firm bool
	// textOnly is a service that takes no pictures, whatever its models could (design,
	// "Does this model see?"). Its rows say nothing of the models elsewhere.
	textOnly bool
	// hosts are addresses beside those in the list: a host, a host and a path, or a
	// pattern with one star.
	hosts []string
}

var all = []string{""}

// natures are the routes of which something is known; of any other the yes counts and
// the no does not.
var natures = map[string]nature{
	"alibaba-coding-plan": {makes: []string{"qwen", "qwq", "qvq"}, firm: true},
	// Alibaba's pay-as-you-go service is not in the package; the models are the same.
	"alibaba-token-plan":    {makes: []string{"qwen", "qwq", "qvq"}, firm: true, hosts: []string{"dashscope-intl.aliyuncs.com", "dashscope.aliyuncs.com", "dashscope-us.aliyuncs.com"}},
	"amazon-bedrock":        {makes: []string{"nova-", "titan-"}, firm: true, hosts: []string{"bedrock-runtime.*.amazonaws.com"}},
	"anthropic":             {makes: all, firm: true},
	"azure":                 {firm: true, hosts: []string{"*.openai.azure.com", "*.services.ai.azure.com"}},
	"bedrock-mantle":        {firm: true},
	"cerebras":              {textOnly: true},
	"cline-pass":            {firm: true},
	"cloudflare-ai-gateway": {firm: true},
	"coreweave":             {firm: true},
	"deepseek":              {textOnly: true},
	"fireworks":             {firm: true},
	"github-copilot":        {firm: true, hosts: []string{"api.*.githubcopilot.com"}},
	"google":                {makes: all, firm: true},
	"google-antigravity":    {makes: []string{"gemini"}, firm: true},
	"google-gemini-cli":     {makes: []string{"gemini"}, firm: true},
	"google-vertex":         {makes: []string{"gemini"}, firm: true, hosts: []string{"aiplatform.googleapis.com"}},
	"kimi-code":             {makes: all, firm: true},
	"meta":                  {makes: all, firm: true},
	"minimax":               {makes: all, firm: true, hosts: []string{"api.minimax.io/v1"}},
	"minimax-cn":            {makes: all, firm: true, hosts: []string{"api.minimaxi.com/v1"}},
	"minimax-code":          {makes: all, firm: true},
	"minimax-code-cn":       {makes: all, firm: true},
	"mistral":               {makes: []string{"mistral", "ministral", "magistral", "devstral", "codestral", "pixtral", "voxtral", "open-mi", "labs-"}, firm: true},
	"moonshot":              {makes: all, firm: true},
	"muse-code":             {makes: all, firm: true},
	"novita":                {firm: true},
	"ollama-cloud":          {firm: true},
	"openai":                {makes: all, firm: true},
	"openai-codex":          {makes: all, firm: true},
	"opencode-go":           {firm: true},
	"openrouter":            {firm: true},
	"stepfun":               {makes: all, firm: true},
	"vercel-ai-gateway":     {firm: true},
	"xai":                   {makes: all, firm: true},
	"xiaomi":                {makes: all, firm: true},
	"xiaomi-token-plan-ams": {makes: all, firm: true},
	"xiaomi-token-plan-cn":  {makes: all, firm: true},
	"xiaomi-token-plan-sgp": {makes: all, firm: true},
	"zai":                   {makes: all, firm: true},
	"zhipu-coding-plan":     {makes: all, firm: true},
}

// presetRoutes are the routes of the config's apis, at their own address. An api that
// is a wire alone, or a server of one's own, has none.
var presetRoutes = map[string]string{
	"anthropic": "anthropic", "openai": "openai", "openai-responses": "openai", "gemini": "google", "gemini-openai": "google",
	"bedrock": "amazon-bedrock", "openrouter": "openrouter", "mistral": "mistral", "xai": "xai", "groq": "groq", "deepseek": "deepseek",
	"zai": "zai", "moonshot": "moonshot", "qwen": "alibaba-token-plan", "cerebras": "cerebras", "minimax": "minimax", "copilot": "github-copilot",
}

// isUsual reports whether the route is that of a preset.
func isUsual(route string) bool {
	for _, name := range presetRoutes {
		if name == route {
			return true
		}
	}
	return false
}

// owns reports whether the route's owner makes the model with this key.
func (n *nature) owns(key []byte) bool {
	return slices.ContainsFunc(n.makes, func(head string) bool { return strings.HasPrefix(string(key), head) })
}

// address is where a route is: a host, exact or with one star, and the path that all
// its requests begin with.
type address struct {
	host, path string
	route      int32
}

// addresses finds routes by their base URL.
type addresses struct {
	exact   map[string][]address
	pattern []address
}

func newAddresses() addresses { return addresses{exact: map[string][]address{}} }

// add keeps an address; one without a host is none.
func (a *addresses) add(url string, route int32) {
	host, path := hostPath(url)
	if host == "" {
		return
	}
	at := address{host: host, path: path, route: route}
	if strings.Contains(host, "*") {
		a.pattern = append(a.pattern, at)
		return
	}
	a.exact[host] = append(a.exact[host], at)
}

// at gives the route that a base URL leads to, -1 when it is none's. Of several the
// longest path counts, then the first that was added.
func (a *addresses) at(base string) int32 {
	host, path := hostPath(base)
	best, long := int32(-1), -1
	for _, x := range a.exact[host] {
		if under(path, x.path) && len(x.path) > long {
			best, long = x.route, len(x.path)
		}
	}
	if best >= 0 || host == "" {
		return best
	}
	if list := a.exact[host]; len(list) > 0 {
		return list[0].route // the service is known, the path may be one that the list does not use
	}
	for _, x := range a.pattern {
		if matches(host, x.host) {
			return x.route
		}
	}
	return -1
}

// has reports whether the base URL is at one of the route's own hosts.
func (a *addresses) has(base string, route int32) bool {
	host, _ := hostPath(base)
	for _, x := range a.exact[host] {
		if x.route == route {
			return true
		}
	}
	for _, x := range a.pattern {
		if x.route == route && matches(host, x.host) {
			return true
		}
	}
	return false
}

// matches compares a host with a pattern; the star stands for at least one letter and
// no more than the labels of one name, so it never reaches over the end of the pattern.
func matches(host, pattern string) bool {
	before, after, _ := strings.Cut(pattern, "*")
	return len(host) > len(before)+len(after) && strings.HasPrefix(host, before) && strings.HasSuffix(host, after)
}

// under reports whether a path lies at or below another.
func under(path, parent string) bool {
	return strings.HasPrefix(path, parent) && (len(path) == len(parent) || path[len(parent)] == '/')
}

// hostPath takes a URL apart without the cost of a whole parse: the host in lower case
// without user and usual port, the path without a slash at its end.
func hostPath(url string) (host, path string) {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		url = url[:i]
	}
	host, path = url, ""
	if i := strings.IndexByte(url, '/'); i >= 0 {
		host, path = url[:i], strings.TrimRight(url[i:], "/")
	}
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	return strings.ToLower(strings.TrimSuffix(host, ":443")), path
}
