package vision

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestNormalizeKeepsOnlyWhatNamesTheFamily(t *testing.T) {
	for _, c := range []struct{ id, want, why string }{
		{"us.anthropic.claude-3-5-haiku-20241022-v1:0", "claude-3.5-haiku-v-1", "region, vendor, date and tag go, 3-5 is 3.5"},
		{"accounts/fireworks/models/glm-4p5", "glm-4.5", "4p5 is 4.5"},
		{"qwen35", "qwen-3.5", "two digits are major and minor"},
		{"Qwen/Qwen3-8B", "qwen-3-8b", "a size is no minor version"},
		{"gemma-7b", "gemma-7b", "a size is no version"},
		{"gemma3:4b", "gemma-3-4b", "a tag that is a size stays"},
		{"llama3.2:latest", "llama-3.2", "any other tag goes"},
		{"claude-sonnet-4@20250514", "claude-sonnet-4", "@version goes"},
		{"gpt-35-turbo", "gpt-3.5-turbo", "Azure writes 35"},
		{"Meta-Llama-3_1-8B-Instruct-GGUF", "llama-3.1-8b-instruct", "underscore and quantisation"},
		{"qwen3-8b-q4_k_m", "qwen-3-8b", "quantisation"},
		{"gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash-preview", "month and year"},
		{"mistral-small-2503", "mistral-small-2503", "a stamp of four digits is a version"},
		{"laguna-xs.2", "laguna-xs-2", "a dot before a number is no vendor"},
		{"us.deepseek.r1-v1:0", "deepseek-r-1-v-1", "this vendor is its own family"},
		{"ai21.jamba-1-5-large-v1:0", "jamba-1.5-large-v-1", "a vendor with a digit"},
		{"", "", "nothing stays nothing"},
		{"///", "", "only separators"},
	} {
		if got := Normalize(c.id); got != c.want {
			t.Errorf("%s: Normalize(%q) = %q, want %q", c.why, c.id, got, c.want)
		}
	}
}

func TestGuessReadsTheFamily(t *testing.T) {
	for _, c := range []struct {
		id     string
		want   Sight
		detail string
		why    string
	}{
		{"claude-opus-4-8", Sees, "claude", "Claude sees from 3 on, wherever the version stands"},
		{"claude-2.1", Blind, "claude", "Claude 2 is text only"},
		{"claude-instant-v1", Blind, "claude-instant", "so is instant"},
		{"claude-sonnet-9", Sees, "claude", "a yes has no ceiling"},
		{"qwen3-8b", Blind, "qwen", "Qwen 3 of 8b is not Qwen 3.8"},
		{"qwen3.8-27b", Sees, "qwen", "Qwen 3.8 is"},
		{"qwen4-72b", Unknown, "", "above the ceiling of a no nothing is known"},
		{"qwen3.8-2.4t-a95b", Blind, "qwen", "the largest 3.8 is text only"},
		{"qwen3-vl-8b", Sees, "vl", "a word of sight comes before the family"},
		{"gemma-7b", Blind, "gemma", "Gemma of 7b is not Gemma 7"},
		{"gemma3:1b", Blind, "gemma", "the smallest Gemma 3 has no eyes"},
		{"gemma3:4b", Sees, "gemma", "the next has"},
		{"gemma-3n-e4b-it", Unknown, "gemma-3n", "routes differ on 3n"},
		{"glm-4.6v", Sees, "glm", "a v behind the version"},
		{"glm-5.2", Blind, "glm", "plain GLM is text only"},
		{"glm-5.3-flash", Sees, "glm", "but this one sees"},
		{"glm-6", Unknown, "", "above the ceiling"},
		{"deepseek-v4-pro", Blind, "deepseek-v", "text only up to V4"},
		{"deepseek-v4-flash-vision-exp", Sees, "vision", "unless it says vision"},
		{"deepseek-v5", Unknown, "", "above"},
		{"gpt-4", Blind, "gpt", "the first GPT-4 endpoint is text only"},
		{"gpt-4o", Sees, "gpt", "4o sees"},
		{"gpt-5.1-chat-latest", Unknown, "gpt", "an alias that moves"},
		{"o3-mini", Blind, "o", "o3-mini is text only"},
		{"o4-mini", Sees, "o", "o4-mini is not"},
		{"mistral-small-2501", Blind, "mistral-small", "before March 2025"},
		{"mistral-small-2503", Sees, "mistral-small", "since"},
		{"mistral-small-3.2-24b-instruct-2506", Sees, "mistral-small", "version and stamp agree"},
		{"mistral-large-2506", Unknown, "", "between the last no and the first yes nothing is known"},
		{"devstral-small-2512", Unknown, "", "above the stamp"},
		{"hermes-3-llama-3.1-70b", Blind, "llama", "a fine-tune of a blind model is blind"},
		{"my-claude-4-distill", Unknown, "", "a yes counts only when the family heads the id"},
		{"us.meta.llama3-2-11b-instruct-v1:0", Sees, "llama", "Llama 3.2 of 11b sees without saying so"},
		{"kimi-k2p6", Sees, "kimi-k", "K2.6"},
		{"kimi-k2-thinking", Blind, "kimi-k", "K2"},
		{"evil", Unknown, "", "vl inside a word is no word of sight"},
		{"somebody/else", Unknown, "", "an unknown family is unknown"},
	} {
		got, chat := Guess(c.id)
		want := Answer{Sight: c.want, Source: Name, Detail: c.detail}
		if diff := cmp.Diff(want, got); diff != "" || !chat {
			t.Errorf("%s: Guess(%q), chat %v (-want +got):\n%s", c.why, c.id, chat, diff)
		}
	}
}

func TestModelsThatAnswerNobodyAreNotChatModels(t *testing.T) {
	for _, id := range []string{
		"text-embedding-3-small", "Qwen3-VL-Embedding-8B", "bge-m3", "whisper-large-v3", "gpt-4o-mini-tts",
		"gpt-image-1", "dall-e-3", "FLUX.1-dev", "omni-moderation-latest", "cohere/rerank-v3.5", "veo-3.1-generate-preview", "gemini-embedding-001",
	} {
		if a, chat := Guess(id); chat || a.Sight != Unknown {
			t.Errorf("Guess(%q) = %v, chat %v: no picker may offer it", id, a, chat)
		}
	}
	for _, id := range []string{"gemini-2.5-flash-image", "gpt-5-image", "llama-guard-4-12b"} {
		if _, chat := Guess(id); !chat {
			t.Errorf("Guess(%q): it answers in words, so it is a chat model", id)
		}
	}
}

func TestEveryNoHasACeiling(t *testing.T) {
	for _, r := range families {
		if r.sight == Unknown && !r.bare && r.from == "" {
			t.Errorf("row %+v says nothing", r)
		}
		if r.sight != Blind {
			continue
		}
		if r.to == "" {
			t.Errorf("row %+v: a no without a ceiling never heals", r)
			continue
		}
		// One release above every ceiling of the family, no row may say no.
		above := mustVersion(r.to)
		above.major += 40
		id := fmt.Sprintf("%s-%d.0", r.family, above.major)
		if r.stamped {
			id = r.family + "-3901"
		}
		for word := range strings.SplitSeq(r.with, "|") {
			if a, _ := Guess(strings.TrimSuffix(id+"-"+word, "-")); a.Sight == Blind && a.Detail == r.family {
				t.Errorf("Guess(%q) = no: above the ceiling %s it must be unknown", id+"-"+word, r.to)
			}
		}
	}
}

func TestBoundsOfTheTableAreVersions(t *testing.T) {
	for _, r := range families {
		for _, bound := range []string{r.from, r.to} {
			v := mustVersion(bound)
			if bound != "" && bound != fmt.Sprint(v.major) && bound != fmt.Sprintf("%d.%d", v.major, v.minor) {
				t.Errorf("row %+v: %q is no version", r, bound)
			}
		}
		if Normalize(r.family) != r.family && r.family != "gemma-3n" {
			t.Errorf("row %+v: no normalised id can begin with %q", r, r.family)
		}
	}
}

// anID draws ids as they occur: paths, families, numbers, tags.
func anID() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"qwen", "claude", "gpt", "us.anthropic.", "hf:", "openai/", "-", ".", "_", ":", "@", "/", "v1", "4p5", "35", "3-5",
			"8b", "20250514", "2503", "fp8", "q4_k_m", "azure-", "~", " ", "-05-20", "deepseek.", "ai21.", "10-2025",
		}),
		rapid.StringMatching(`[a-z0-9.:_-]{0,4}`), rapid.String(),
	)
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), "")
	})
}

func TestNormalizingTwiceChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		once := Normalize(anID().Draw(t, "id"))
		if twice := Normalize(once); twice != once {
			t.Fatalf("%q became %q", once, twice)
		}
	})
}

func TestAnUnknownFamilyIsUnknown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := "zzyzx" + rapid.StringMatching(`(-[0-9]{1,2}(\.[0-9])?)?(-(pro|mini|turbo|instruct))?`).Draw(t, "rest")
		if a, chat := Guess(id); a != (Answer{Source: Name}) || !chat {
			t.Fatalf("Guess(%q) = %+v, chat %v", id, a, chat)
		}
	})
}

func FuzzGuess(f *testing.F) {
	for _, seed := range []string{"us.anthropic.claude-3-5-haiku-20241022-v1:0", "qwen35", "glm-4p5", "gemma3:4b", "a-1-2-3-4", "hf:hf:x", "\xff/-"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		once := Normalize(id)
		if twice := Normalize(once); twice != once {
			t.Errorf("%q became %q, then %q", id, once, twice)
		}
		a, chat := Guess(id)
		if a.Source != Name || !chat && a.Sight != Unknown {
			t.Errorf("Guess(%q) = %+v, chat %v", id, a, chat)
		}
		if a.Sight != Unknown && a.Detail == "" {
			t.Errorf("Guess(%q) = %+v says so without a reason", id, a)
		}
	})
}
