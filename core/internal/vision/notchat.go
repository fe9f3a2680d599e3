package vision

// picture, as a word, tells of a model that draws and does not talk, save for
// the families that do both.
const picture = "image"

// notChat are words, anywhere in the name, of models that no picker offers:
// embedding, speech, pictures and films as output, moderation and ranking.
var notChat = setOf(`embedding embeddings embed embedder embedqa embedcode rerank reranker reranking ranker
	moderation tts stt asr transcribe transcriber transcription transcriptions whisper parakeet voiceclone
	voicedesign diarize speech text2speech imagine images video t2v i2v r2v v2v t2i i2i t2a inpainting inpaint
	outpainting upscale upscaler deblur sdxl lipsync animate music sonic embeddinggemma detection
	nemoretriever`)

// notChatFamilies head the names of models that do one of these things and say
// so with no word of their own.
var notChatFamilies = []string{
	// Pictures and bodies.
	"flux", "stable-diffusion", "sd", "dall-e", "dalle", "imagen", "seedream", "doubao-seedream", "seededit", "doubao-seededit",
	"dreamina", "recraft", "ideogram", "midjourney", "kandinsky", "playground-v", "kolors", "cogview", "hidream", "lucid-origin",
	"lucid-realism", "dreamshaper", "firefly", "riverflow", "photon", "nova-canvas", "chroma", "krea", "bria", "omnigen", "sam",
	"resnet", "clip", "siglip", "esrgan", "real-esrgan", "sana", "seedvr", "trellis", "tripo", "meshy", "hunyuan-3d",
	// Films.
	"veo", "sora", "kling", "wan", "wanx", "seedance", "doubao-seedance", "happyhorse", "hailuo", "minimax-hailuo", "minimax-h",
	"runway", "gen-4", "gen-3", "ray", "luma", "pixverse", "vidu", "cogvideo", "cogvideox", "ltx", "ltxv", "mochi", "nova-reel",
	"cosmos-transfer", "cosmos-predict", "dream-machine", "pika", "marey", "skyreels", "lip-sync", "avatar", "omnihuman",
	// Voices and music.
	"lyria", "elevenlabs", "eleven", "kokoro", "orpheus", "magpie", "aura", "vibevoice", "octave", "bark", "chatterbox", "dia",
	"xtts", "cosyvoice", "melotts", "speecht", "suno", "udio", "musicgen", "canary", "cartesia", "mai-voice", "stable-audio",
	"mureka", "sensevoice", "paraformer", "scribe",
	// Vectors, ranks, classes and translations.
	"bge", "gte", "e-5", "multilingual-e-5", "minilm", "all-minilm", "all-mpnet", "mini-lm", "paraphrase", "nomic", "voyage",
	"jina-clip", "jina-colbert", "mxbai", "uae", "m-2-bert", "labse", "esm", "esmfold", "gliner", "distilbert", "bert", "roberta",
	"deberta", "bart", "m-2m", "nllb", "indictrans", "opus-mt", "detr", "yolo", "colbert", "colpali", "colqwen",
}

// notChatMakers make nothing that chats; any path part before the name counts.
var notChatMakers = setOf(`elevenlabs deepgram black-forest-labs bfl klingai kling kwaivgi runwayml runway recraft
	recraft-ai fish-audio voyageai voyage pixverse luma lumalabs lumaai ideogram ideogram-ai suno topazlabs topaz bria
	briaai leonardo-ai leonardo quiverai veed wanx canopylabs hexgrad cartesia assemblyai sourceful krea
	sentence-transformers thenlper intfloat lightricks vidu pruna prunaai midjourney hume playht rime
	resemble-ai fal-ai tts music`)
