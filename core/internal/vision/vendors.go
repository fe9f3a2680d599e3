package vision

// vendors may stand before the family, joined with a dash or, as a scheme, with
// a colon: makers, clouds, routers and what they put before a name. A word that
// is also a family (qwen, mistral, deepseek, minimax, moonshot) is not one of
// them, nor is a word that a family may follow as part of its own name (open).
var vendors = setOf(`openai anthropic google meta microsoft amazon nvidia cohere ibm baidu tencent bytedance alibaba
	xiaomi xai zai zhipu zhipuai bigmodel thudm moonshotai minimaxai mistralai ai21 ai21labs c4ai labs stepfun upstage
	writer perplexity perplexityai snowflake nousresearch nous allenai lgai liquidai inclusionai inception
	huawei kwaipilot facebook huggingface spacexai thinkingmachines
	azure aws bedrock vertex vertexai gcp sap oci oracle databricks cloudflare cf workersai alicloud aliyun dashscope
	bailian volcengine volc ark qianfan siliconflow modelscope groq cerebras sambanova together togetherai fireworks
	deepinfra novita nebius chutes hyperbolic parasail friendli baseten lambda replicate runpod runware scaleway ovh
	ovhcloud ionos gmi canopywave embercloud venice poe kilo opencode openrouter cline cursor copilot github vercel
	nanogpt umans stealth aihub orcarouter ollama lmstudio lmstudiocommunity mlxcommunity unsloth bartowski thebloke
	hf tee e2ee coding cc mm deep pro free cheaper private secure us eu au jp ca apac global emea europe`)

// vendorPairs are vendors of two words.
var vendorPairs = map[string][]string{
	"z": {"ai"}, "zai": {"org"}, "x": {"ai"}, "aion": {"labs"}, "duo": {"chat"}, "moonshot": {"ai"},
	"meta": {"models"}, "us": {"gov"}, "aws": {"bedrock", "mantle"}, "azure": {"openai", "ai", "anthropic"},
	"vertex": {"ai", "anthropic", "openai"}, "together": {"ai"}, "fireworks": {"ai"}, "workers": {"ai"},
	"deepseek": {"ai"}, "mistral": {"ai"}, "stepfun": {"ai"}, "arcee": {"ai"}, "nex": {"agi"}, "cline": {"pass", "free"},
}
