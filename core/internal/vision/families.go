package vision

// row is one rule about a family. The first row that fits a name decides.
// Facts: the model cards and public catalogues of autumn 2026.
type row struct {
	family  string  // the words that head the normalised name
	with    string  // alternatives, parted by |, of which one must be there
	from    string  // the first version the row speaks of; "" = any
	to      string  // the last; a row that says Blind must have one
	bare    bool    // speaks also of names without a version
	inside  bool    // the family may stand anywhere: a fine-tune of a blind model is blind
	least   float64 // the smallest size in thousand millions of parameters; 0 = any
	stamped bool    // from and to are release stamps of year and month, as in mistral-small-2503
	sight   Sight
}

// anyNumberV in a row's words stands for any version with a v behind it: 4.6v.
const anyNumberV = "#v"

// sightWordsInID, in a name, as whole words, tell of eyes whatever the family.
var sightWordsInID = []string{
	"vl", "vision", "omni", "vlm", "llava", "bakllava", "pixtral", "internvl", "qvq", "molmo", "ocr", "minicpm-v", "minicpm-o",
	"smolvlm", "cogvlm", "moondream", "paligemma", "multimodal", "ovis", "idefics", "ui-tars", "paddleocr", "nanonets-ocr",
}

// notChat are words of models that no picker offers: embedding, speech,
// pictures and films as output, moderation and ranking.
var notChat = []string{
	"embed", "embedding", "embeddings", "embedcode", "embedqa", "bge", "gte", "e-5", "minilm", "mpnet", "voyage", "nomic",
	"rerank", "reranker", "rerankers", "colbert",
	"whisper", "tts", "melotts", "stt", "asr", "transcribe", "transcription", "speech", "orpheus", "elevenlabs", "vibevoice",
	"musicgen", "lyria", "music", "aura", "parakeet", "kokoro", "audio-gen", "native-audio-dialog", "s-2-pro", "s-2.1-pro",
	"dall-e", "gpt-image", "chatgpt-image", "imagen", "flux", "sdxl", "stable-diffusion", "stable-audio", "stablediffusionxl", "veo", "sora", "kling",
	"seedream", "seedance", "recraft", "ideogram", "midjourney", "imagine", "wan", "happyhorse", "hailuo", "minimax-h", "muse-image",
	"nano-banana", "runway", "gen-4-turbo", "ray-2", "lucid", "cosmos-predict", "cosmos-transfer", "qwen-image", "glm-image", "mai-image", "mai-voice", "ming-image", "llada-image",
	"text-to-image", "text-to-video", "t-2v", "i-2v", "r-2v", "video-upscale", "riverflow", "fabric", "animate", "triposr", "inpainting",
	"gemini-omni", "arrow-1.1", "moderation", "text-moderation",
}

// families is the whole of what the guess knows. A new family is a new row.
var families = []row{
	{family: "claude-instant", to: "1.2", bare: true, sight: Blind},
	{family: "claude", from: "3", sight: Sees},
	{family: "claude", to: "2.1", sight: Blind},
	{family: "claude", with: "opus|sonnet|haiku|fable", bare: true, sight: Sees},
	{family: "opus", from: "3", sight: Sees},
	{family: "sonnet", from: "3", sight: Sees},
	{family: "haiku", from: "3", sight: Sees},
	{family: "fable", from: "3", sight: Sees},

	{family: "gpt-oss", to: "1", bare: true, sight: Blind},
	{family: "gpt", with: "search-preview|audio", to: "4", sight: Blind},
	{family: "gpt", with: "codex-spark", to: "5.3", sight: Blind},
	{family: "gpt", with: "chat-latest|realtime", bare: true, sight: Unknown},
	{family: "gpt", with: "chat", from: "5.3", sight: Unknown},
	{family: "gpt", with: "turbo-preview|1106|0125|0613|0314|32k", to: "4", sight: Blind},
	{family: "gpt", with: "turbo|4o", from: "4", to: "4", sight: Sees},
	{family: "gpt", from: "4.1", sight: Sees},
	{family: "gpt", to: "4", sight: Blind},
	{family: "gpt-latest", bare: true, sight: Sees},
	{family: "chatgpt", with: "4o", sight: Sees},
	{family: "o", with: "mini", from: "1", to: "3", sight: Blind},
	{family: "o", with: "preview", from: "1", to: "1", sight: Blind},
	{family: "o", from: "1", sight: Sees},
	{family: "codex-mini", bare: true, sight: Sees},

	{family: "gemini", with: "live|native-audio|robotics", bare: true, sight: Unknown},
	{family: "gemini", bare: true, sight: Sees},
	{family: "gemma-3n", bare: true, sight: Unknown},
	{family: "gemma", from: "4", sight: Sees},
	{family: "gemma", from: "3", to: "3", least: 4, sight: Sees},
	{family: "gemma", from: "3", to: "3", sight: Blind},
	{family: "gemma", to: "2", bare: true, sight: Blind},

	{family: "deepseek-v", with: "flash", from: "4.1", to: "4.1", sight: Sees},
	{family: "deepseek-v", to: "4", sight: Blind},
	{family: "deepseek-r", to: "1", bare: true, sight: Blind},
	{family: "deepseek", with: "chat|reasoner|coder|prover|math|r|v", to: "4", bare: true, sight: Blind},
	{family: "deepseek", to: "4", sight: Blind},

	{family: "qwen", with: "max-preview", from: "3.6", to: "3.6", sight: Blind},
	{family: "qwen", with: "max", from: "3.7", to: "3.7", sight: Blind},
	{family: "qwen", with: "2.4t", from: "3.8", to: "3.8", sight: Blind},
	{family: "qwen", from: "3.5", to: "3.8", sight: Sees},
	{family: "qwen", to: "3.4", inside: true, sight: Blind},
	{family: "qwen", with: "latest", bare: true, sight: Unknown},
	{family: "qwen", with: "flash|plus|turbo|max|coder|long|math|mt", to: "3.4", bare: true, sight: Blind},
	{family: "qwq", to: "3.4", bare: true, sight: Blind},
	{family: "tongyi-deepresearch", to: "1", bare: true, sight: Blind},

	{family: "kimi-k", with: "linear|dev", to: "2", bare: true, sight: Blind},
	{family: "kimi-linear", to: "1", bare: true, sight: Blind},
	{family: "kimi-dev", to: "1", bare: true, sight: Blind},
	{family: "kimi-k", from: "2.5", sight: Sees},
	{family: "kimi-k", to: "2", sight: Blind},
	{family: "k", with: "3", from: "3", to: "3", sight: Sees},
	{family: "kimi-for-coding", bare: true, sight: Sees},

	{family: "glm", with: anyNumberV, bare: true, sight: Sees},
	{family: "glm", with: "flash|flashx", from: "5.3", to: "5.3", sight: Sees},
	{family: "glm", to: "5.3", sight: Blind},
	{family: "autoglm", bare: true, sight: Sees},
	{family: "minimax-text", to: "1", bare: true, sight: Blind},
	{family: "minimax-m", from: "3", sight: Sees},
	{family: "minimax-m", to: "2.7", sight: Blind},
	{family: "mimo-v", with: "flash|pro", to: "2.5", sight: Blind},
	{family: "mimo-v", from: "2.5", to: "2.6", sight: Sees},

	{family: "llama", from: "4", sight: Sees},
	{family: "llama", with: "11b|90b", from: "3.2", to: "3.2", sight: Sees},
	{family: "llama", to: "3.3", inside: true, sight: Blind},
	{family: "llama", to: "3.3", bare: true, sight: Blind, with: "guard|prompt-guard|7b|13b|65b|70b"},
	{family: "l", to: "3.3", sight: Blind},
	{family: "codellama", to: "1", bare: true, sight: Blind},
	{family: "tinyllama", to: "1", bare: true, sight: Blind},

	{family: "grok", with: "code", to: "1", bare: true, sight: Blind},
	{family: "grok-build", bare: true, sight: Sees},
	{family: "grok", with: "0709|voice", to: "4", bare: true, sight: Unknown},
	{family: "grok", from: "4", sight: Sees},
	{family: "grok", to: "3", sight: Blind},
	{family: "grok-latest", bare: true, sight: Sees},

	{family: "mistral-small", with: "creative", to: "3", bare: true, sight: Blind},
	{family: "mistral-small", from: "2503", stamped: true, sight: Sees},
	{family: "mistral-small", to: "2501", stamped: true, sight: Blind},
	{family: "mistral-small", from: "3.1", sight: Sees},
	{family: "mistral-small", to: "3", sight: Blind},
	{family: "mistral-small-latest", bare: true, sight: Sees},
	{family: "mistral-medium", from: "2505", stamped: true, sight: Sees},
	{family: "mistral-medium", to: "2312", stamped: true, sight: Blind},
	{family: "mistral-medium", from: "3", sight: Sees},
	{family: "mistral-medium", bare: true, sight: Sees},
	{family: "mistral-large", from: "2512", stamped: true, sight: Sees},
	{family: "mistral-large", to: "2411", stamped: true, sight: Blind},
	{family: "mistral-large", from: "3", sight: Sees},
	{family: "mistral-large", to: "2", sight: Blind},
	{family: "mistral-large-latest", bare: true, sight: Unknown},
	{family: "mistral-large", to: "2", bare: true, sight: Blind},
	{family: "ministral", to: "2410", stamped: true, sight: Blind},
	{family: "ministral", from: "2512", stamped: true, sight: Sees},
	{family: "ministral", with: "14b", bare: true, sight: Sees},
	{family: "ministral", from: "3", sight: Sees},
	{family: "magistral", from: "2509", stamped: true, sight: Sees},
	{family: "magistral", to: "2507", stamped: true, sight: Blind},
	{family: "devstral-small", from: "2", to: "2", sight: Sees},
	{family: "devstral", to: "2507", stamped: true, sight: Blind},
	{family: "codestral", to: "2508", stamped: true, sight: Blind},
	{family: "voxtral", to: "2602", stamped: true, sight: Blind},
	{family: "devstral", to: "2", bare: true, sight: Blind},
	{family: "mistral-nemo", to: "2407", stamped: true, inside: true, sight: Blind},
	{family: "mistral-nemo", to: "1", bare: true, inside: true, sight: Blind},
	{family: "mistral-saba", to: "1", bare: true, sight: Blind},
	{family: "mistral", with: "7b|24b|tiny", to: "0.3", bare: true, sight: Blind},
	{family: "open-mistral", to: "0.3", bare: true, sight: Blind},
	{family: "mixtral", to: "0.1", bare: true, sight: Blind},
	{family: "open-mixtral", to: "0.1", bare: true, sight: Blind},
	{family: "codestral", to: "2", bare: true, sight: Blind},
	{family: "voxtral", to: "2", bare: true, sight: Blind},

	{family: "nova-micro", to: "1", bare: true, sight: Blind},
	{family: "nova", with: "lite|pro|premier", bare: true, sight: Sees},
	{family: "step", from: "3.7", sight: Sees},
	{family: "step", with: anyNumberV, sight: Sees},
	{family: "step", from: "3.5", to: "3.5", sight: Blind},
	{family: "step", to: "2", sight: Blind},
	{family: "seed-oss", to: "1", bare: true, sight: Blind},
	{family: "seed", from: "1.6", to: "2.9", sight: Sees},
	{family: "phi", to: "4", sight: Blind},
	{family: "command-a-plus", bare: true, sight: Sees},
	{family: "command", to: "1", bare: true, sight: Blind},
	{family: "aya", to: "1", bare: true, sight: Blind},

	{family: "hunyuan", to: "2", bare: true, sight: Blind},
	{family: "hy", to: "4", bare: true, sight: Blind},
	{family: "nemotron", with: "content-safety", bare: true, inside: true, sight: Unknown},
	{family: "nemotron", to: "3.5", bare: true, inside: true, sight: Blind},
	{family: "granite", to: "4.2", bare: true, sight: Blind},
	{family: "jamba", to: "2", bare: true, sight: Blind},
	{family: "olmo", to: "3.1", bare: true, sight: Blind},
	{family: "solar", to: "10.7", bare: true, sight: Blind},
	{family: "mercury", to: "2", bare: true, sight: Blind},
	{family: "ling", to: "3", bare: true, sight: Blind},
	{family: "ring", to: "3", bare: true, sight: Blind},
	{family: "kat", to: "2.5", bare: true, sight: Blind},
	{family: "palmyra", to: "5", bare: true, sight: Blind},
	{family: "laguna", to: "2.1", bare: true, sight: Blind},
	{family: "longcat", to: "2", bare: true, sight: Blind},
	{family: "lfm", to: "2.5", sight: Blind},
	{family: "hermes", to: "4", bare: true, sight: Blind},
	{family: "deephermes", to: "3", sight: Blind},
	{family: "cogito", to: "2.1", sight: Blind},
	{family: "intellect", to: "3", sight: Blind},
	{family: "trinity", to: "1", bare: true, sight: Blind},
	{family: "aion", to: "3", bare: true, sight: Blind},
	{family: "inflection", to: "3", sight: Blind},
	{family: "baichuan", to: "4", sight: Blind},
	{family: "yi", to: "1.5", bare: true, sight: Blind},
	{family: "wizardlm", to: "2", bare: true, sight: Blind},
	{family: "mythomax", to: "2", bare: true, sight: Blind},
	{family: "morph", to: "3", bare: true, sight: Blind},
	{family: "muse-spark", from: "1.1", to: "1.2", sight: Sees},
	{family: "inkling", bare: true, sight: Sees},

	{family: "sonar-pro", bare: true, sight: Sees},
	{family: "sonar-deep-research", to: "1", bare: true, sight: Blind},
}
