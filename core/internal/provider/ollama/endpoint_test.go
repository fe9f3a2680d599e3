package ollama

import "testing"

func TestEndpoint(t *testing.T) {
	for base, want := range map[string]string{
		"":                              "http://127.0.0.1:11434/api/chat",
		"http://127.0.0.1:11434":        "http://127.0.0.1:11434/api/chat",
		" http://127.0.0.1:11434/ ":     "http://127.0.0.1:11434/api/chat",
		"http://gpu.example/v1":         "http://gpu.example/api/chat",
		"http://gpu.example/v1/":        "http://gpu.example/api/chat",
		"https://ollama.com/api":        "https://ollama.com/api/chat",
		"https://ollama.com/api/chat/":  "https://ollama.com/api/chat",
		"https://x.example/o%2Fp/?a=b":  "https://x.example/o%2Fp/api/chat?a=b",
		"https://x.example/o%2Fp/v1?a=": "https://x.example/o%2Fp/api/chat?a=",
		"http://[::1":                   "http://[::1",
	} {
		if got := endpoint(base); got != want {
			t.Errorf("%q gives %q, want %q", base, got, want)
		}
	}
}

func TestTheCloudIsKnownByItsHost(t *testing.T) {
	for base, want := range map[string]bool{
		"https://ollama.com": true, "https://www.Ollama.com/api": true, "http://127.0.0.1:11434": false, "https://notollama.com": false, "http://[::1": false,
	} {
		if cloud(base) != want {
			t.Errorf("%q: want %v", base, want)
		}
	}
}
