package catalog

import (
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/vision"
)

func TestAKeyIsWhatIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	tests := []struct{ id, want string }{
		{"us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5-20251001"},
		{"anthropic.claude-opus-5", "claude-opus-5"},
		{"apac.amazon.nova-lite-v1:0", "nova-lite"},
		{"anthropic/claude-haiku-4.5", "claude-haiku-4-5"},
		{"claude-haiku-4-5@20251001", "claude-haiku-4-5-20251001"},
		{"claude-opus-5@default", "claude-opus-5"},
		{"deepseek/deepseek-v4-flash:free", "deepseek-v4-flash"},
		{"deepseek-v4-flash:0731", "deepseek-v4-flash:0731"},
		{"x-ai/grok-code-fast-1:optimized:free", "grok-code-fast-1"},
		{"claude-3-7-sonnet-thinking:32768", "claude-3-7-sonnet-thinking"},
		{"gemma3:27b", "gemma3:27b"},
		{"qwen3-vl:latest", "qwen3-vl"},
		{"gpt-5.4-mini", "gpt-5.4-mini"},
		{"Qwen/Qwen3.8-27B", "qwen3.8-27b"},
		{"deepseek/deepseek-r1/community", "deepseek-r1"},
		{"workers-ai/@cf/zai-org/glm-5.3", "glm-5.3"},
		{"google.gemma-4-31b-it", "gemma-4-31b-it"},
		{"models/gemini-2.5-flash", "gemini-2.5-flash"},
		{"", ""},
		{"/", ""},
		{":", ":"},
		{"@", "@"},
		{"us.", ""},
		{"eu.anthropic.", ""},
		{"a-", "a-"},
		{strings.Repeat("x", maxID+1), ""},
	}
	var buf [keyBytes]byte
	for _, c := range tests {
		if got := string(key(&buf, c.id)); got != c.want {
			t.Errorf("%q is %q, want %q", c.id, got, c.want)
		}
	}
}

func TestARouteIsAPresetAtHomeOrAKnownHost(t *testing.T) {
	t.Parallel()
	tests := []struct{ api, base, want string }{
		{"anthropic", "", "anthropic"},
		{"anthropic", "https://api.anthropic.com", "anthropic"},
		{"anthropic", "https://API.Anthropic.com:443/v1/", "anthropic"},
		{"anthropic", "https://proxy.example", ""},
		{"anthropic", "https://api.anthropic.com.evil.example", ""},
		{"anthropic", "https://evil.example/api.anthropic.com", ""},
		{"anthropic", "https://api.anthropic.com@evil.example/", ""},
		{"openai", "https://api.openai.com/v1", "openai"},
		{"openai", "http://127.0.0.1:8080/v1", ""},
		{"openai-responses", "", "openai"},
		{"openai-chat", "", ""},
		{"openai-chat", "https://api.together.xyz/v1", "together"},
		{"openai-chat", "https://api.openai.com/v1", "openai"},
		{"openai-chat", "https://opencode.ai/zen/v1", "opencode-zen"},
		{"openai-chat", "https://opencode.ai/zen/go/v1", "opencode-go"},
		{"openai-chat", "https://opencode.ai/zen/gone", "opencode-zen"},
		{"openai-chat", "https://api.x.ai/v1", "xai"},
		{"openai-chat", "https://api.minimax.io/v1", "minimax"},
		{"openai-chat", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "alibaba-token-plan"},
		{"openai-chat", "https://us-east1-aiplatform.googleapis.com/v1/projects/p/locations/l/endpoints/openapi", "google-vertex"},
		{"openai-chat", "https://mine.openai.azure.com/openai/v1", "azure"},
		{"openai-chat", "https://unknown.example/v1", ""},
		{"gemini", "", "google"},
		{"gemini-openai", "https://generativelanguage.googleapis.com/v1beta/openai", "google"},
		{"bedrock", "", "amazon-bedrock"},
		{"bedrock", "https://bedrock-runtime.eu-west-1.amazonaws.com", "amazon-bedrock"},
		{"bedrock", "https://bedrock-runtime.amazonaws.com.evil.example", ""},
		{"copilot", "https://api.business.githubcopilot.com", "github-copilot"},
		{"zai", "https://api.z.ai/api/coding/paas/v4", "zai"},
		{"ollama", "", ""},
		{"ollama", "http://127.0.0.1:11434", ""},
		{"ollama", "https://ollama.com", "ollama-cloud"},
		{"lmstudio", "http://127.0.0.1:1234/v1", ""},
		{"no-api", "::", ""},
	}
	b := BuiltIn()
	for _, c := range tests {
		got := ""
		if at := b.route(c.api, c.base); at >= 0 {
			got = b.routes[at].name
		}
		if got != c.want {
			t.Errorf("%s at %q is route %q, want %q", c.api, c.base, got, c.want)
		}
	}
}

func TestFindKeepsAServicesPriceAtTheService(t *testing.T) {
	t.Parallel()
	tests := []struct {
		api, base, id string
		found, priced bool
		context       int
		why           string
	}{
		{"anthropic", "", "claude-sonnet-5", true, true, 1000000, "the vendor's own"},
		{"anthropic", "https://proxy.example", "claude-sonnet-5", true, true, 1000000, "the preset says whose prices a proxy passes on"},
		{"openai-chat", "", "claude-sonnet-5", true, false, 1000000, "a proxy has its own prices"},
		{"openai-chat", "", "anthropic/claude-sonnet-5", true, false, 1000000, "a vendor's name before the id"},
		{"openai-chat", "", "CLAUDE-SONNET-5", true, false, 1000000, "in capitals"},
		{"openai-chat", "https://api.together.xyz/v1", "openai/gpt-oss-120b", true, true, 131072, "a known host"},
		{"gemini", "", "models/gemini-2.5-flash", true, true, 1048576, "as Gemini's own list writes it"},
		{"bedrock", "", "eu.anthropic.claude-sonnet-4-6", true, true, 1000000, "a region"},
		{"openrouter", "", "z-ai/glm-5.2:free", true, true, 0, "free is a price"},
		{"openrouter", "", "openrouter/auto", true, false, 0, "a router's price is that of what it picks"},
		{"copilot", "", "gpt-4o", true, false, 0, "a subscription's 0 is no price"},
		{"openai-chat", "", "somebodys-model", false, false, 0, "nobody knows it"},
		{"openai-chat", "", "auto", false, false, 0, "each service means another"},
		{"nowhere", "", "", false, false, 0, "no id"},
	}
	for _, c := range tests {
		k, ok := Find(c.api, c.base, c.id)
		if ok != c.found || k.Price.Known() != c.priced || c.context != 0 && k.Context != c.context || k.API != c.api && ok {
			t.Errorf("%s: %s/%s gives %+v, %v", c.why, c.api, c.id, k, ok)
		}
		if ok && (k.Route == "") != (k.MaxOutput == 0) && c.context != 0 && c.base == "" && c.api != "openai-chat" {
			t.Errorf("%s: an answer of %d from route %q", c.why, k.MaxOutput, k.Route)
		}
		if ok && k.Sight.Source != vision.Catalog {
			t.Errorf("%s: the sight is said by %q", c.why, k.Sight.Source)
		}
	}
	if k, _ := Find("openrouter", "", "z-ai/glm-5.2:free"); k.Price.Input == nil || *k.Price.Input != 0 || k.Price.Cached != nil {
		t.Errorf("a free model costs %+v", k.Price)
	}
}

func TestTheCatalogueSaysWhoSees(t *testing.T) {
	t.Parallel()
	tests := []struct {
		api, base, id string
		want          vision.Sight
		detail        string
	}{
		{"anthropic", "", "claude-sonnet-5", vision.Sees, "anthropic's list of "},
		{"openai-chat", "", "claude-sonnet-5", vision.Sees, "anthropic's own list of "},
		{"openai-chat", "", "glm-5.3", vision.Blind, "zai's own list of "},
		{"openai-chat", "https://api.commandcode.ai/provider/v1", "claude-opus-5", vision.Sees, "anthropic's own list of "}, // its list has no images for it
		{"openai-chat", "https://api.venice.ai/api/v1", "e2ee-qwen3-vl-30b-a3b-p", vision.Unknown, "too few to be sure: 1 no "},
		{"xai", "", "grok-4", vision.Unknown, "contested: 4 yes, "},
		{"openai-chat", "", "grok-4", vision.Unknown, "contested: 4 yes, "},
		{"openai-chat", "", "gemma-3-4b-it", vision.Sees, "5 yes, 2 no in the lists of "},
		{"openai-chat", "", "gpt-oss-120b", vision.Blind, " no in the lists of "},
		{"deepseek", "", "deepseek-v4-flash", vision.Blind, textOnly},
		{"deepseek", "", "deepseek-v9-of-tomorrow", vision.Blind, textOnly},
		{"openai-chat", "https://api.deepseek.com/v1", "deepseek-flash", vision.Blind, textOnly},
		{"cerebras", "", "gemma-4-31b", vision.Blind, textOnly},
		{"deepseek", "https://proxy.example/v1", "claude-sonnet-5", vision.Sees, "anthropic's own"},
		{"openai", "", "text-embedding-3-large", vision.Unknown, ""},
	}
	for _, c := range tests {
		k, _ := Find(c.api, c.base, c.id)
		if k.Sight.Sight != c.want || !strings.Contains(k.Sight.Detail, c.detail) {
			t.Errorf("%s %s/%s: %+v, want %s by %q", c.api, c.base, c.id, k.Sight, c.want, c.detail)
		}
	}
}

func TestWhatIsNoChatModelIsSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		api, id string
		want    string
	}{
		{"openai", "text-embedding-3-large", "no"},
		{"openai-chat", "text-embedding-3-large", "no"},
		{"openai", "gpt-5.4", "yes"},
		{"openai-chat", "gpt-5.4", "yes"},
		{"openai", "gpt-image-2", "not said"},
		{"openai-chat", "flux-dev", "not said"},
		{"xai", "grok-tts", "no"},
	} {
		k, _ := Find(c.api, "", c.id)
		got := "not said"
		if k.Chat != nil {
			got = map[bool]string{true: "yes", false: "no"}[*k.Chat]
		}
		if got != c.want {
			t.Errorf("%s/%s chats: %s, want %s", c.api, c.id, got, c.want)
		}
	}
}

func TestEveryModelWorthProposingIsInTheTable(t *testing.T) {
	t.Parallel()
	if len(tiers) < 10 {
		t.Fatalf("%d vendors", len(tiers))
	}
	for api, models := range tiers {
		list := Vendor(api)
		if len(list) != len(models) || list[0].Tier > list[len(list)-1].Tier {
			t.Errorf("of %v the table has %v", models, list)
		}
		for _, k := range list {
			if k.Name == "" || k.Tier == TierUnknown || k.Context < 8000 || k.Sight.Sight == vision.Unknown || k.API != api {
				t.Errorf("%s/%s: %+v", api, k.ID, k)
			}
			if p := k.Price; p.Known() && (*p.Input <= 0 || *p.Output < *p.Input) || !p.Known() && api != "qwen" {
				t.Errorf("%s/%s costs %v", api, k.ID, p) // the package has no prices of Alibaba's own service
			}
			if _, chat := vision.Guess(k.ID); !chat {
				t.Errorf("%s/%s answers nobody", api, k.ID)
			}
			if takes := api != "deepseek" && api != "cerebras"; !takes && k.Sight.Sight != vision.Blind {
				t.Errorf("%s takes no pictures, and %s has %s", api, k.ID, k.Sight.Sight)
			}
		}
	}
}

func TestFindTakesNoMemory(t *testing.T) {
	BuiltIn()
	for _, c := range []struct {
		api, base, id string
		most          float64
	}{
		{"anthropic", "https://api.anthropic.com", "claude-sonnet-5", 0},
		{"openai-chat", "https://api.together.xyz/v1", "openai/gpt-oss-120b", 0},
		{"openrouter", "https://openrouter.ai/api/v1", "anthropic/claude-haiku-4.5", 0},
		{"openai-chat", "https://proxy.example/v1", "claude-sonnet-5", 0},
		{"openai-chat", "https://proxy.example/v1", "gpt-oss-120b", 1}, // the words of the tally
		{"openai-chat", "https://proxy.example/v1", "nobody-knows-7b", 0},
	} {
		if got := testing.AllocsPerRun(100, func() { Find(c.api, c.base, c.id) }); got > c.most {
			t.Errorf("%s %s/%s: %v allocations, want %v", c.api, c.base, c.id, got, c.most)
		}
	}
}
