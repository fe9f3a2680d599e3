package vision

// row is one rule about a family. The first row that fits a name decides. A row
// whose sight is Unknown is a stop: no later row may speak of what it fits.
type row struct {
	family  string  // the words that head the normalised name
	with    string  // alternatives, parted by |, of which one must be there
	from    string  // the first version the row speaks of; "" = any
	to      string  // the last; a row that says Blind must have one
	bare    bool    // speaks also of names without a version; without bounds of every name
	inside  bool    // the family may stand anywhere: a fine-tune of a blind model is blind
	least   float64 // the smallest size in thousand millions of parameters; 0 = any
	below   float64 // sizes must be known and smaller; 0 = any
	plain   bool    // the rest of the name has only the maker's usual words: a fine-tune may have lost its eyes
	stamped bool    // from and to are release stamps of year and month, as in mistral-small-2503
	sight   Sight
}

// anyNumberV in a row's words stands for any version with a v behind it: 4.6v.
const anyNumberV = "#v"

// sightWordsInID, in a name, as whole words, tell of eyes whatever the family.
var sightWordsInID = setOf(`vl vision omni vlm multimodal ocr llava bakllava pixtral internvl qvq molmo smolvlm olmocr
	firellava paddleocr vqa onevision docling`)

// usual are the words that makers and hosts put behind a family's name without
// changing its weights. Any other word is that of a fine-tune.
var usual = setOf(`it instruct chat base pt qat think thinking reasoning no nothinking nothink non preview exp
	experimental beta alpha latest original official default free fast flex turbo lite flash max plus pro next coder code
	mini small large tiny nano tee maas batch speed highspeed lightning nitro eco high low medium xhigh instant
	short long hf fw cs vllm unsloth ud dynamic mtp exacto extended realtime search assistant`)

// families is the whole of what the guess knows. A new family is a new row and
// a line in the test. The order matters only between rows of one family.
var families = append([]row{
	// Anthropic. Clouds and editors drop the first word: opus-4-6.
	{family: "claude-instant", bare: true, to: "1.2", sight: Blind},
	{family: "claude-instant", bare: true, sight: Unknown},
	{family: "claude", from: "3", sight: Sees},
	{family: "claude", with: "opus|sonnet|haiku|fable|mythos", bare: true, sight: Sees},
	{family: "claude", to: "2.1", sight: Blind},
	{family: "opus", from: "3", sight: Sees},
	{family: "sonnet", from: "3", sight: Sees},
	{family: "haiku", from: "3", sight: Sees},
	{family: "fable", from: "5", sight: Sees},
	{family: "mythos", from: "5", sight: Sees},

	// OpenAI.
	{family: "gpt-oss", bare: true, to: "1", sight: Blind},
	{family: "gpt-oss", bare: true, sight: Unknown},
	{family: "gpt-oss", inside: true, bare: true, to: "1", sight: Blind},
	{family: "gpt-audio", bare: true, to: "1.5", sight: Blind},
	{family: "gpt-4o", with: "search|audio", bare: true, to: "1", sight: Blind},
	{family: "gpt-4o", with: "realtime", bare: true, sight: Unknown},
	{family: "gpt-4o", bare: true, sight: Sees},
	{family: "gpt-4-o", bare: true, sight: Sees},
	{family: "chatgpt-4o", bare: true, sight: Sees},
	{family: "gpt-4-turbo", with: "preview", bare: true, to: "1", sight: Blind},
	{family: "gpt-4-turbo", bare: true, sight: Sees},
	{family: "gpt", with: "spark", from: "5.3", to: "5.3", sight: Blind},
	{family: "gpt", with: "search-preview", from: "4", to: "4", sight: Blind},
	{family: "gpt", with: "chat-latest", bare: true, sight: Unknown},
	{family: "gpt", with: "chat", from: "5.3", sight: Unknown},
	{family: "gpt", with: anyNumberV, from: "4", sight: Sees},
	{family: "gpt", from: "4.1", sight: Sees},
	{family: "gpt", from: "2", to: "4", sight: Blind},
	{family: "gpt-j", bare: true, to: "1", sight: Blind},
	{family: "gpt-neo", bare: true, to: "1", sight: Blind},
	{family: "gpt-neox", bare: true, to: "1", sight: Blind},
	{family: "o", with: "mini", from: "1", to: "3", sight: Blind},
	{family: "o", with: "preview", from: "1", to: "1", sight: Blind},
	{family: "o", from: "1", sight: Sees},
	{family: "davinci", inside: true, bare: true, to: "3", sight: Blind},
	{family: "babbage", inside: true, bare: true, to: "2", sight: Blind},

	// Google.
	{family: "gemini", with: "live|native-audio", bare: true, sight: Unknown},
	{family: "gemini", bare: true, sight: Sees},
	{family: "nano-banana", bare: true, sight: Sees},
	{family: "sea-lion", inside: true, bare: true, to: "4", sight: Blind}, // also gemma-sea-lion
	{family: "gemma-3n", bare: true, sight: Unknown},
	{family: "gemma", from: "3", to: "3", below: 4, sight: Blind},
	{family: "gemma", from: "3", plain: true, sight: Sees},
	{family: "gemma", to: "2", sight: Blind},
	{family: "gemma", with: "7b|2b", bare: true, to: "2", sight: Blind},
	{family: "learnlm", bare: true, sight: Sees},
	{family: "medgemma", bare: true, sight: Sees},
	{family: "paligemma", bare: true, sight: Sees},
	{family: "translategemma", bare: true, sight: Sees},
	{family: "codegemma", bare: true, to: "1.1", sight: Blind},
	{family: "recurrentgemma", bare: true, to: "1", sight: Blind},
	{family: "functiongemma", bare: true, to: "1", sight: Blind},
	{family: "txgemma", bare: true, to: "1", sight: Blind},
	{family: "shieldgemma", bare: true, to: "1", sight: Blind},
	{family: "palm", bare: true, to: "2", sight: Blind},
	{family: "bison", inside: true, bare: true, to: "2", sight: Blind}, // text-bison, chat-bison, codechat-bison
	{family: "flan", bare: true, to: "5", sight: Blind},

	// DeepSeek.
	{family: "deepseek", with: "flash", from: "4.1", sight: Sees},
	{family: "deepseek", inside: true, bare: true, to: "4", sight: Blind},
	{family: "tng", with: "r|chimera", bare: true, to: "2", sight: Blind}, // merges of R1
	{family: "janus", bare: true, sight: Sees},

	// Qwen. Plus, flash, turbo and max without a version are of the blind generations.
	{family: "qwen", with: "max", from: "3.6", to: "3.7", sight: Blind},
	{family: "qwen", with: "2.4t", from: "3.8", to: "3.8", sight: Blind},
	{family: "qwen", from: "3.5", plain: true, sight: Sees},
	{family: "qwen", inside: true, to: "3.4", sight: Blind},
	{family: "qwen", with: "latest", bare: true, to: "0", sight: Unknown}, // an alias moves on
	{family: "qwen", bare: true, to: "3.4", sight: Blind},
	{family: "qwq", inside: true, bare: true, to: "1", sight: Blind},
	{family: "qwenlong", bare: true, to: "1.5", sight: Blind},
	{family: "codeqwen", bare: true, to: "1.5", sight: Blind},
	{family: "tongyi-deepresearch", bare: true, to: "1", sight: Blind},
	{family: "marco-o", to: "1", sight: Blind},

	// Moonshot.
	{family: "kimi", from: "2.5", sight: Sees},
	{family: "kimi", inside: true, from: "2", to: "2.4", sight: Blind},
	{family: "kimi", with: "linear|dev", bare: true, to: "1", sight: Blind},
	{family: "kimi", with: "latest", bare: true, sight: Sees},
	{family: "k", from: "2.5", sight: Sees},
	{family: "k", from: "2", to: "2.4", sight: Blind},
	{family: "moonshot", from: "1", to: "1", sight: Blind},

	// Z.ai. In 4.6v the letter sees; from 5.3 flash does without it.
	{family: "glm", with: anyNumberV, from: "4", sight: Sees},
	{family: "glm", with: "flash|flashx", from: "5.3", sight: Sees},
	{family: "glm", inside: true, with: anyNumberV, bare: true, sight: Unknown},
	{family: "glm", inside: true, with: "flash|flashx", from: "5.3", sight: Unknown},
	{family: "glm", inside: true, to: "5.3", sight: Blind},
	{family: "glm", with: "latest", bare: true, to: "0", sight: Unknown},
	{family: "glm", bare: true, to: "5.3", sight: Blind},
	{family: "chatglm", bare: true, to: "4", sight: Blind},
	{family: "codegeex", bare: true, to: "4", sight: Blind},
	{family: "autoglm", bare: true, sight: Sees},
	{family: "cogvlm", bare: true, sight: Sees},
	{family: "cogagent", bare: true, sight: Sees},

	// MiniMax.
	{family: "minimax", from: "3", sight: Sees},
	{family: "minimax", inside: true, from: "1", to: "2.9", sight: Blind},
	{family: "minimax-text", bare: true, to: "1", sight: Blind},
	{family: "m", from: "3", to: "3", sight: Sees},
	{family: "m", from: "1", to: "2.9", sight: Blind},
	{family: "abab", bare: true, to: "7", sight: Blind},

	// Xiaomi.
	{family: "mimo", with: "pro", from: "2", to: "2.5", sight: Blind},
	{family: "mimo", from: "2.5", sight: Sees},
	{family: "mimo", inside: true, bare: true, to: "2.4", sight: Blind},

	// xAI.
	{family: "grok-code", bare: true, to: "1", sight: Blind},
	{family: "grok-code", bare: true, sight: Unknown},
	{family: "grok-build", bare: true, sight: Sees},
	{family: "grok-composer", bare: true, sight: Unknown},
	{family: "grok", with: "0709", from: "4", to: "4", sight: Unknown}, // routes differ
	{family: "grok", from: "4", sight: Sees},
	{family: "grok", to: "3", sight: Blind},
	{family: "grok", with: "beta", bare: true, to: "3", sight: Blind},

	// Meta. Fine-tunes of the blind ones carry l3 or llama-3.1 anywhere.
	{family: "llama", from: "4", sight: Sees},
	{family: "llama", from: "3.2", to: "3.2", least: 11, sight: Sees},
	{family: "llama", inside: true, from: "3.2", to: "3.2", below: 11, sight: Blind},
	{family: "llama", inside: true, from: "3.3", to: "3.3", sight: Blind},
	{family: "llama", inside: true, from: "1", to: "3.1", sight: Blind},
	{family: "l", inside: true, from: "3.3", to: "3.3", sight: Blind},
	{family: "l", inside: true, from: "2", to: "3.1", sight: Blind},
	{family: "llama", bare: true, to: "1", sight: Blind, with: "7b|13b|30b|65b"},
	{family: "codellama", inside: true, bare: true, to: "2", sight: Blind},
	{family: "tinyllama", bare: true, to: "1.1", sight: Blind},
	{family: "muse", bare: true, sight: Sees},

	// Mistral.
	{family: "mistral-small", with: "creative", stamped: true, bare: true, to: "2512", sight: Blind},
	{family: "mistral-small", stamped: true, from: "2503", sight: Sees},
	{family: "mistral-small", stamped: true, to: "2502", sight: Blind},
	{family: "mistral-small", from: "3.1", sight: Sees},
	{family: "mistral-small", to: "3.0", sight: Blind},
	{family: "mistral-small", bare: true, sight: Sees},
	{family: "mistral-medium", stamped: true, from: "2505", sight: Sees},
	{family: "mistral-medium", stamped: true, to: "2504", sight: Blind},
	{family: "mistral-medium", from: "3", sight: Sees},
	{family: "mistral-medium", bare: true, sight: Sees},
	{family: "mistral-large", stamped: true, from: "2512", sight: Sees},
	{family: "mistral-large", stamped: true, to: "2511", sight: Blind},
	{family: "mistral-large", from: "3", sight: Sees},
	{family: "mistral-large", to: "2.1", sight: Blind},
	{family: "ministral", stamped: true, from: "2512", sight: Sees},
	{family: "ministral", stamped: true, to: "2511", sight: Blind},
	{family: "ministral", from: "3", sight: Sees},
	{family: "ministral", with: "14b", bare: true, sight: Sees},
	{family: "magistral", stamped: true, from: "2509", sight: Sees},
	{family: "magistral", stamped: true, to: "2508", sight: Blind},
	{family: "magistral", from: "1.2", sight: Sees},
	{family: "magistral", to: "1.1", sight: Blind},
	{family: "devstral-small", stamped: true, from: "2512", sight: Sees},
	{family: "devstral-small", from: "2", sight: Sees},
	{family: "devstral-small", with: "latest", bare: true, sight: Unknown},
	{family: "devstral", stamped: true, bare: true, to: "2512", sight: Blind},
	{family: "devstral", to: "2", sight: Blind},
	{family: "codestral", inside: true, stamped: true, bare: true, to: "2508", sight: Blind},
	{family: "codestral", inside: true, to: "2", sight: Blind},
	{family: "voxtral", stamped: true, bare: true, to: "2507", sight: Blind},
	{family: "mathstral", bare: true, to: "0.1", sight: Blind},
	{family: "leanstral", bare: true, to: "1.5", sight: Blind},
	{family: "mixtral", inside: true, bare: true, to: "3", sight: Blind},
	{family: "mistral-nemo", inside: true, stamped: true, bare: true, to: "2407", sight: Blind},
	{family: "mistral-saba", stamped: true, bare: true, to: "2502", sight: Blind},
	{family: "mistral-tiny", stamped: true, bare: true, to: "2407", sight: Blind},
	{family: "mistral-7b", inside: true, bare: true, to: "1", sight: Blind},
	{family: "mistral", from: "4", sight: Sees},
}, moreFamilies...)
