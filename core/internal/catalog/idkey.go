package catalog

import (
	"bytes"
	"strings"
)

// keyBytes is the room for a key; a longer id has none.
const keyBytes = maxID

// key writes into buf what an id has in common at all services: lower case, without
// the maker's path, Bedrock's region and maker, a version's @, and tags that change how
// a model is served but not what it is. It is empty for an id that names no model.
//
//	us.anthropic.claude-haiku-4-5-20251001-v1:0  claude-haiku-4-5-20251001
//	deepseek/deepseek-v4-flash:free              deepseek-v4-flash
//	claude-haiku-4.5                             claude-haiku-4-5
//	gemma3:27b                                   gemma3:27b (the size is the model)
func key(buf *[keyBytes]byte, id string) []byte {
	if len(id) > len(buf) {
		return nil
	}
	b := buf[:len(id)]
	for i := range len(id) {
		c := id[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		b[i] = c
	}
	b = lastPart(b)
	b, bedrock := withoutMaker(b)
	b = withoutTag(b)
	if bedrock {
		b = withoutRevision(b)
	}
	if at := bytes.LastIndexByte(b, '@'); at > 0 {
		b = stamped(b, at)
	}
	if strings.HasPrefix(string(b), "claude-") {
		for i, c := range b {
			if c == '.' {
				b[i] = '-'
			}
		}
	}
	return b
}

// lastPart is what stands behind the last slash. Novita serves some models by the
// community, with the word behind the name.
func lastPart(b []byte) []byte {
	if string(tail(b, len("/community"))) == "/community" {
		b = b[:len(b)-len("/community")]
	}
	return b[bytes.LastIndexByte(b, '/')+1:]
}

func tail(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

// withoutMaker cuts Bedrock's region and maker: us.anthropic.claude-… A name such as
// gpt-5.4 has a dot too, so only the known words are cut.
func withoutMaker(b []byte) ([]byte, bool) {
	at := bytes.IndexByte(b, '.')
	if at < 0 {
		return b, false
	}
	switch string(b[:at]) {
	case "us", "eu", "apac", "global", "jp", "au", "ca", "us-gov":
		b = b[at+1:]
		if at = bytes.IndexByte(b, '.'); at < 0 {
			return b, true
		}
	}
	switch string(b[:at]) {
	case "ai21", "amazon", "anthropic", "cohere", "deepseek", "google", "luma", "meta", "minimax", "mistral", "moonshot", "moonshotai", "nvidia", "openai",
		"qwen", "stability", "twelvelabs", "writer", "xai", "zai":
		return b[at+1:], true
	}
	return b, false
}

// withoutTag cuts a tag that says how a model is served (OpenRouter's variants, a
// budget for thinking, Bedrock's revision); Ollama's tags name another model and stay.
func withoutTag(b []byte) []byte {
	at := bytes.IndexByte(b, ':')
	if at <= 0 {
		return b
	}
	word, _, _ := strings.Cut(string(b[at+1:]), ":")
	switch word {
	case "free", "latest", "beta", "thinking", "nitro", "floor", "online", "exacto", "batch", "discounted", "extended", "optimized":
		return b[:at]
	}
	for _, c := range b[at+1:] {
		if c < '0' || c > '9' {
			return b
		}
	}
	if len(b)-at <= len(":999") || len(b)-at > len(":9999") { // not :0813, which is a date and may be another model
		return b[:at]
	}
	return b
}

// withoutRevision cuts -v1 behind a name of Bedrock's.
func withoutRevision(b []byte) []byte {
	at := bytes.LastIndexByte(b, '-')
	if at < 0 || at+2 >= len(b) || b[at+1] != 'v' {
		return b
	}
	for _, c := range b[at+2:] {
		if c < '0' || c > '9' {
			return b
		}
	}
	return b[:at]
}

// stamped makes Vertex's claude-haiku-4-5@20251001 what it is called elsewhere.
func stamped(b []byte, at int) []byte {
	switch string(b[at+1:]) {
	case "default", "latest", "":
		return b[:at]
	}
	b[at] = '-'
	return b
}

// tells reports whether a key says enough to know a model by it alone: not auto, free
// or fast, which each service means differently.
func tells(key string) bool {
	return len(key) >= 6 || strings.ContainsAny(key, "0123456789") && len(key) > 1
}
