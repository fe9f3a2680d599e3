package refusal

import (
	"strings"
	"unicode/utf8"
)

// row is a refusal that was seen, and what it meant.
type row struct {
	class  Class
	phrase string // lower case, quotes as '; … stands for at most maxGap of anything
	code   string // must be the refusal's code too, or stand in its words
	gate   gate   // at404, at500: counts with that status too
	unsure bool
	source string // where it was seen
}

// rows are what providers said, with where it was seen. Within a class the first
// that fits gives the phrase that people read.
var rows = []row{
	// The request was formed wrong.
	{class: Shape, phrase: "unexpected role 'user' after role 'tool'", source: "datapizza-ai#98, mistral-vibe#578"},
	{class: Shape, phrase: "support the image field for user messages", source: "oh-my-pi#11685: Bedrock, OpenAI's models"},
	{class: Shape, phrase: "image urls are only allowed for messages with role", source: "OpenHands#7700"},
	{class: Shape, phrase: "missing required copilot-vision-request header", source: "vscode#292901"},
	{class: Shape, phrase: ".image_url'. expected a valid url", source: "the Codex backend of a ChatGPT account"},
	{class: Shape, phrase: "invalid value: 'image'. supported values are: 'text'", source: "openai-kotlin#320"},
	{class: Shape, phrase: "image_url': expected an object", source: "ComfyUI-IF_AI_tools#101"},
	{class: Shape, phrase: "illegal base64 data at input byte", source: "dify#8170: a data URL in Ollama's images"},

	// This picture could not be read.
	{class: Unreadable, phrase: "could not process image", source: "claude-code#46127"},
	{class: Unreadable, phrase: "but the image appears to be a", source: "llxprt-code#2130"},
	{class: Unreadable, phrase: "media_type: input should be", source: "opencode#17772, #4052"},
	{class: Unreadable, phrase: "does not represent a valid image", source: "codex#7459, opencode#4781"},
	{class: Unreadable, phrase: "you uploaded an unsupported image", source: "vercel/ai#1544"},
	{class: Unreadable, phrase: "but got unsupported mime type", source: "codex#5346"},
	{class: Unreadable, phrase: "expected a base64-encoded data url with an image mime type", source: "codex#5346"},
	{class: Unreadable, phrase: "unable to process input image", source: "gemini-cli#5064"},
	{class: Unreadable, phrase: "provided image is not valid", source: "gemini-cli#27244"},
	{class: Unreadable, phrase: "unsupported mime type", source: "Gemini, of image/svg+xml"},
	{class: Unreadable, phrase: "image does not match the specified image format", source: "boto3#4415"},
	{class: Unreadable, phrase: "image.format' failed to satisfy", source: "hermes-agent#55429"},
	{class: Unreadable, phrase: "failed to extract … image(s)", source: "claude-code-router#372"},
	{class: Unreadable, phrase: "image: unknown format", source: "Go's image package, behind servers written in it"},

	// Refused for another reason: the model is not blind.
	{class: Other, phrase: "has no provider supported", source: "a router without a provider for the model"},
	{class: Other, phrase: "no endpoints found for", gate: at404, source: "OpenRouter, of a model that it does not have"},
	{class: Other, phrase: "context length", source: "too many tokens"},
	{class: Other, phrase: "context window", source: "too many tokens"},
	{class: Other, phrase: "maximum context", source: "too many tokens"},
	{class: Other, phrase: "prompt is too long", source: "Anthropic, too many tokens"},
	{class: Other, phrase: "multiple images", source: "one picture is taken"},
	{class: Other, phrase: "animated gif", source: "a still one is taken"},
	{class: Other, phrase: "aspect ratio", source: "another cut is taken"},
	{class: Other, phrase: "failed to download image", source: "a picture by its address"},

	// Too large, too many, too small.
	{class: Size, phrase: "image exceeds … maximum", source: "claude-code#8202"},
	{class: Size, phrase: "image dimensions exceed", source: "claude-code#27090"},
	{class: Size, phrase: "exceed max allowed size", source: "claude-code#52220"},
	{class: Size, phrase: "too much media", source: "Anthropic, and Claude on Bedrock"},
	{class: Size, phrase: "request_too_large", source: "claude-code#8092"},
	{class: Size, phrase: "request exceeds the maximum size", source: "claude-code#8092"},
	{class: Size, phrase: "image length and width do not meet", source: "DashScope"},
	{class: Size, phrase: "image base64 size", source: "opencode#19525"},

	// The model cannot see.
	{class: Blind, phrase: "no endpoints found that support image input", gate: at404, source: "oai-compatible-copilot#229, github/app#2163, goose#5396"},
	{class: Blind, phrase: "no endpoints found that support input image", gate: at404, source: "OpenRouter, in other words"},
	{class: Blind, phrase: "image_url is only supported by certain models", source: "web-ui#274, vllm#11629"},
	{class: Blind, phrase: "unknown variant 'image_url', expected 'text'", source: "Zoo-Code#1106, ccx#95, rikkahub#1433"},
	{class: Blind, phrase: "unknown variant image_url, expected text", source: "Zoo-Code#1106, ccx#95, rikkahub#1433"},
	{class: Blind, phrase: "messages.content.type 参数非法,取值范围 ['text']", source: "zcode-api#26"},
	{class: Blind, phrase: "messages.content.type is invalid, allowed values: ['text']", source: "a0-vision-fallback"},
	{class: Blind, phrase: "unexpected item type in content", source: "octo-agent#947: DashScope"},
	{class: Blind, phrase: "model only support text input", source: "cc-switch#5025"},
	{class: Blind, phrase: "model do not support image input", source: "zai-org/feedback#570, openclaw-qqbot#111: Volcengine"},
	{class: Blind, phrase: "this model does not support image input", gate: at500, source: "claude-code#91112: Ollama"},
	{class: Blind, phrase: "this model is missing data required for image input", gate: at500, source: "ha-llmvision#691, ollama#9741"},
	{class: Blind, phrase: "image input is not supported", gate: at500, source: "llama.cpp#13566, #19917; Ollama too"},
	{class: Blind, phrase: "is not a multimodal model", source: "vllm#23402"},
	{class: Blind, phrase: "image inputs are not supported by this model", source: "xAI"},
	{class: Blind, phrase: "image input is not enabled for this model", source: "Mistral, with code 3051"},
	{class: Blind, phrase: "image input modality is not enabled", source: "Gemini API, of Gemma and agents"},
	{class: Blind, phrase: "support the image content block that you provided", source: "Bedrock Converse"},
	{class: Blind, phrase: "not supported for vision", source: "opencode#20700: GitHub Copilot"},
	{class: Blind, phrase: "does not support image input", source: "picoclaw, and many gateways"},
	{class: Blind, phrase: "image_url is not supported", source: "picoclaw, and many gateways"},
	{class: Blind, phrase: "unsupported content type: image_url", source: "picoclaw, and many gateways"},
	{class: Blind, phrase: "does not support vision", source: "picoclaw, and many gateways"},
	{class: Blind, phrase: "at most 0 image", source: "vLLM that was started for text alone"},
	// A server whose content is plain text says so of every list, also of one
	// without a picture; that names no picture, so the proof decides.
	{class: Blind, phrase: "invalid type: sequence, expected a string", unsure: true, source: "chatbox#1740: DeepSeek, older"},
	{class: Blind, phrase: "content must be a string", unsure: true, source: "vercel/ai#2837, OpenHands#4643: Groq"},
	{class: Blind, phrase: "content' : value must be a string", unsure: true, source: "vercel/ai#2837, OpenHands#4643: Groq"},
	{class: Blind, phrase: "invalid api parameter", code: "1210", unsure: true, source: "opencode#2944, dyad#1353: Z.ai's coding plan"},
	{class: Blind, phrase: "api 调用参数有误", code: "1210", unsure: true, source: "the same in Chinese"},
}

// passes reports whether the row counts at this gate.
func (r *row) passes(g gate) bool {
	switch g {
	case shut:
		return false
	case sizeOnly:
		return r.class == Size || r.class == Other
	case at404, at500:
		return r.gate == g
	default:
		return true
	}
}

// find looks for the phrase, its parts in their order.
func (r *row) find(s said) (found, bool) {
	if r.code != "" && s.code != r.code && !standsIn(s.lower, r.code) {
		return found{}, false
	}
	first, rest, _ := strings.Cut(r.phrase, " … ")
	for at := 0; ; {
		i := strings.Index(s.lower[at:], first)
		if i < 0 {
			return found{}, false
		}
		from := at + i
		to := from + len(first)
		if rest != "" {
			window := s.lower[to:within(s.lower, to, maxGap+utf8.RuneCountInString(rest))]
			j := strings.Index(window, rest)
			if j < 0 {
				at = to
				continue
			}
			to += j + len(rest)
		}
		start := utf8.RuneCountInString(s.lower[:from])
		return found{start, start + utf8.RuneCountInString(s.lower[from:to]), r.unsure}, true
	}
}

// within is the byte at most n runes after from.
func within(s string, from, n int) int {
	for i := range s[from:] {
		if n == 0 {
			return from + i
		}
		n--
	}
	return len(s)
}

// standsIn finds a code as a word of its own.
func standsIn(s, code string) bool {
	digit := func(b byte) bool { return b >= '0' && b <= '9' }
	for at := 0; ; at++ {
		i := strings.Index(s[at:], code)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(code)
		if (at == 0 || !digit(s[at-1])) && (end == len(s) || !digit(s[end])) {
			return true
		}
	}
}
