package vision

import (
	"strings"
	"testing"
)

func TestNormalize(t *testing.T) {
	for _, c := range []struct{ id, want, why string }{
		{"us.anthropic.claude-3-5-haiku-20241022-v1:0", "claude-3.5-haiku-v-1", "region, vendor, date and tag go"},
		{"us-gov.openai.gpt-5.4", "gpt-5.4", "a region may carry a dash"},
		{"ai21.jamba-1-5-large-v1:0", "jamba-1.5-large-v-1", "a vendor with a digit"},
		{"us.deepseek.r1-v1:0", "deepseek-r-1-v-1", "this vendor is the family"},
		{"rednote-hilab/dots.llm1.inst", "dots-llm-1-inst", "so is this one"},
		{"accounts/fireworks/models/kimi-k2p7-code", "kimi-k-2.7-code", "p for the point"},
		{"Kimi-K2_6", "kimi-k-2.6", "an underscore for the point"},
		{"deepseek-ai/deepseek_v3", "deepseek-v-3", "an underscore for the dash"},
		{"qwen35-plus", "qwen-3.5-plus", "two digits behind a family"},
		{"openai-gpt-61-terra", "gpt-6.1-terra", "behind vendor and family"},
		{"glm-45v", "glm-4.5v", "the letter of sight stays"},
		{"minimax-m27", "minimax-m-2.7", "behind a family of two words"},
		{"claude-opus4-5", "claude-opus-4.5", "a number without its dash"},
		{"llama-2-70b", "llama-2-70b", "a size is no minor number"},
		{"qwen3-8b", "qwen-3-8b", "nor here: this is no 3.8"},
		{"qwen3-8-27b", "qwen-3.8-27b", "but this is"},
		{"gemma-7b-it", "gemma-7b-it", "and this no Gemma 7"},
		{"gemini-3-10", "gemini-3.10", "a minor of two digits"},
		{"gemma3:1b", "gemma-3-1b", "a tag that is a size stays"},
		{"qwen3-vl:235b-instruct", "qwen-3-vl-235b-instruct", "also with words behind it"},
		{"gemma3n:e4b", "gemma-3n-e-4b", "also an effective size"},
		{"kimi-k2:1t", "kimi-k-2-1t", "also a very large one"},
		{"glm-5.2@eu", "glm-5.2", "a region behind an at sign"},
		{"claude-opus-4-thinking:32000", "claude-opus-4-thinking", "a budget is no size"},
		{"hf:zai-org/GLM-5.2", "glm-5.2", "a scheme in front"},
		{"openai:gpt-4o", "gpt-4o", "a vendor as the scheme"},
		{"~anthropic/claude-sonnet-latest", "claude-sonnet-latest", "the last path part"},
		{"gpt-4.1-2025-04-14", "gpt-4.1", "a date in three parts"},
		{"command-a-plus-05-2026", "command-a-plus", "month and year"},
		{"gpt-4o-2024-11", "gpt-4o", "year and month"},
		{"glm-5-2-260617", "glm-5.2", "a date of six digits"},
		{"grok-4-07-09", "grok-4-0709", "a day without a year is a stamp"},
		{"mistral-small-2503", "mistral-small-2503", "a stamp may be the version"},
		{"Qwen3_5-9B-Q4_K_M", "qwen-3.5-9b", "quantisation"},
		{"gemma-7b-it-q8_0-gguf", "gemma-7b-it", "two of them, and no 8.0"},
		{"phi-2-4-bit", "phi-2", "in two words"},
		{"Llama-3.3+(3.1v3.3)-70B-Hanami-x1", "llama-3.3-3.1v-3.3-70b-hanami-x-1", "odd separators"},
		{"poolside/laguna-xs.2:free", "laguna-xs-2", "a point that parts words"},
		{"zai-org-glm-4.7", "glm-4.7", "a vendor of two words"},
		{"databricks-claude-opus-4-5", "claude-opus-4.5", "a cloud in front"},
		{"databricks", "databricks", "a vendor alone is kept"},
		{"amazon--nova-pro", "nova-pro", "two dashes"},
		{"  Qwen3 Coder  ", "qwen-3-coder", "white space"},
		{"gpt-4o", "gpt-4o", "the o is of the number"},
		{"claude-10", "claude-10", "a tenth generation is not 1.0"},
		{"", "", "nothing"},
		{"///", "", "nothing but slashes"},
	} {
		if got := Normalize(c.id); got != c.want {
			t.Errorf("Normalize(%q) = %q, want %q: %s", c.id, got, c.want, c.why)
		}
	}
}

func TestEveryFamilyDecidesALineOfTheTable(t *testing.T) {
	decided := make([]bool, len(families))
	for _, c := range familyCases {
		a, chat := Guess(c.id)
		if a.Sight != c.sight || a.Detail != c.detail || a.Source != Name || !chat {
			t.Errorf("Guess(%q) = %v by %q, chat %v, want %v by %q", c.id, a.Sight, a.Detail, chat, c.sight, c.detail)
		}
		if i := decide(parseName(c.id)); i >= 0 {
			decided[i] = true
		}
	}
	for i, found := range decided {
		if !found {
			t.Errorf("no line of familyCases is decided by %+v", families[i])
		}
	}
}

func TestGuessOnNamesThatMislead(t *testing.T) {
	for _, c := range []struct {
		id    string
		sight Sight
		why   string
	}{
		{"qwen3-8b", Blind, "8b is a size"},
		{"qwen3-coder-next", Blind, "a name without a new version"},
		{"qwen3-vl-8b", Sees, "a word of sight comes first"},
		{"Qwen/Qwen3.5-27B-GPTQ-Int4", Sees, "quantisation is no fine-tune"},
		{"Qwen3.5-27B-Melinoe-Derestricted", Unknown, "a fine-tune may have lost its eyes"},
		{"gemma3:4b", Sees, "from 4B"},
		{"gemma-3-270m-it", Blind, "270m is less than 4b"},
		{"gemma3", Sees, "without a size the large one is meant"},
		{"amoral-gemma3-27B-v2", Unknown, "a fine-tune named after a family is not the family"},
		{"Hermes-3-Llama-3.2-3B", Blind, "a fine-tune of a blind model is blind"},
		{"somebody-llama-3.2-90b", Unknown, "of a seeing one nobody knows"},
		{"llama-3.2-90b-instruct", Sees, "the large ones of 3.2"},
		{"MiniCPM-Llama3-V-2_5", Sees, "the head decides before what stands inside"},
		{"llava-llama-3-8b", Sees, "sight before families"},
		{"glm-5.4", Unknown, "above the ceiling"},
		{"somehost-glm-5.2", Blind, "blind wherever it stands"},
		{"deepseek-v4.1-pro", Unknown, "above the ceiling and no flash"},
		{"deepseek-v4-flash-vision-exp", Sees, "a word of sight"},
		{"qwen3.5-omnimerge", Unknown, "omni must be a whole word"},
		{"gpt-5-chat", Sees, "before 5.3 chat is the model"},
		{"chatgpt-4o-latest", Sees, "the family is 4o"},
		{"mistral-large-latest", Unknown, "the name moves"},
		{"mistral-small-3.1-24b-instruct-2503", Sees, "version and stamp agree"},
		{"ministral-3b-latest", Unknown, "3b is a size"},
		{"codestral-3901", Unknown, "a stamp after the table was written"},
		{"hunyuan-turbos-2504", Blind, "a stamp before"},
		{"hunyuan-turbos-3001", Unknown, "a stamp after"},
		{"meta-llama/llama-guard-4-12b", Sees, "a guard answers in words"},
		{"ibm-granite-guardian-3", Blind, "the vendor goes, the family stays"},
		{"mistral-7b-instruct-v03", Blind, "03 is 0.3"},
		{"auto", Unknown, "a router"},
	} {
		if a, chat := Guess(c.id); a.Sight != c.sight || !chat {
			t.Errorf("Guess(%q) = %v by %q, chat %v, want %v: %s", c.id, a.Sight, a.Detail, chat, c.sight, c.why)
		}
	}
}

func TestEveryWordOfSightSees(t *testing.T) {
	for word := range sightWordsInID {
		if a, chat := Guess("nobody/strange-" + word + "-7b"); a.Sight != Sees || a.Detail != word || !chat {
			t.Errorf("%s: %v by %q, chat %v", word, a.Sight, a.Detail, chat)
		}
		if a, _ := Guess("strange" + word + "x"); a.Sight != Unknown {
			t.Errorf("%s within a word says %v", word, a.Sight)
		}
	}
}

func TestEveryNoHasACeiling(t *testing.T) {
	for i := range families {
		r := &families[i]
		if r.sight == Blind && r.to == "" {
			t.Errorf("%+v says no for ever", *r)
		}
		if r.inside && r.sight == Sees {
			t.Errorf("%+v says yes of a model named after the family", *r)
		}
		for _, bound := range []string{r.from, r.to} {
			if _, found := readBound(bound); bound != "" && !found {
				t.Errorf("%+v: the bound %q does not read", *r, bound)
			}
			if bound != "" && r.stamped != (len(bound) == 4 && isDigits(bound)) {
				t.Errorf("%+v: %q is not a stamp where the row counts in stamps, or is one where it does not", *r, bound)
			}
		}
		if Normalize(r.family) != r.family {
			t.Errorf("the family %q is not as names are normalised: %q", r.family, Normalize(r.family))
		}
	}
}

func TestNoFamilyIsBlindForEver(t *testing.T) {
	for i := range families {
		r := &families[i]
		with, _, _ := strings.Cut(r.with, "|")
		for _, far := range []string{"-90", "-3901"} {
			id := r.family + far
			if r.with != "" && with != anyNumberV {
				id += "-" + with
			}
			if a, _ := Guess(id); a.Sight == Blind {
				t.Errorf("%s is called blind by %s", id, a.Detail)
			}
		}
	}
}

func TestModelsThatDoNotChat(t *testing.T) {
	for _, id := range []string{
		"text-embedding-3-small", "gemini-embedding-001", "Qwen/Qwen3-VL-Embedding-8B", "BAAI/bge-m3", "intfloat/e5-large-v2",
		"cohere.embed-v4:0", "cohere/rerank-v4-pro", "voyage/voyage-4-large", "omni-moderation-latest", "gpt-4o-mini-tts",
		"gemini-2.5-flash-preview-tts", "openai/whisper-large-v3", "gpt-4o-transcribe", "elevenlabs/eleven_turbo_v2_5",
		"workers-ai/@cf/deepgram/nova-3", "flux-1-schnell", "FLUX.2-klein-4B", "gpt-image-1", "chatgpt-image-latest", "dall-e-3",
		"google/imagen-4", "google/veo-3.1-fast", "sora-2-pro", "grok-imagine-image", "qwen/qwen-image-edit", "wan2.7-image-pro",
		"doubao-seedream-4.5", "minimax/minimax-h3", "klingai/kling-3.0", "recraft-v3", "lyria-3-clip-preview",
		"pixverse/v5/transition", "nvidia/magpie-tts-zeroshot", "amazon.titan-embed-text-v2:0", "mistral-embed-2312",
	} {
		if a, chat := Guess(id); chat || a.Sight != Unknown || a.Detail == "" {
			t.Errorf("Guess(%q) = %v by %q, chat %v: this one answers nobody", id, a.Sight, a.Detail, chat)
		}
	}
	for _, id := range []string{
		"gemini-2.5-flash-image", "gemini-3-pro-image-preview", "gpt-5-image", "openai/gpt-5.4-image-2", "google/nano-banana",
		"llama-guard-3-8b", "meta-llama/llama-guard-4-12b", "gpt-audio-mini", "voxtral-small-latest", "hy-mt2-plus",
		"qwen3-omni-flash-realtime", "stabilityai/stablelm-2-12b-chat", "mercury-edit-2", "wanderer-7b", "fluxus-2",
	} {
		if a, chat := Guess(id); !chat {
			t.Errorf("Guess(%q) takes a chat model for a silent one by %q", id, a.Detail)
		}
	}
}

func FuzzGuess(f *testing.F) {
	for _, c := range familyCases {
		f.Add(c.id)
	}
	for _, id := range []string{
		"", "/", ":", "@", "-", ".", "a:b:c:1b", strings.Repeat("a.", 300), strings.Repeat("-1", 300), strings.Repeat("us-", 100) + "x",
		strings.Repeat("q4-", 200), strings.Repeat("a1", 300), strings.Repeat("é", 200), "\xff\xfe", "İ-K2", strings.Repeat("1p", 200),
	} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		once := Normalize(id)
		if twice := Normalize(once); twice != once {
			t.Errorf("%q normalises to %q and that to %q", id, once, twice)
		}
		if len(once) > 2*maxID {
			t.Errorf("%d bytes left of %d", len(once), len(id))
		}
		a, chat := Guess(id)
		if a.Source != Name || !chat && a.Sight != Unknown || (a.Sight != Unknown || !chat) != (a.Detail != "") {
			t.Errorf("Guess(%q) = %+v, chat %v", id, a, chat)
		}
	})
}
