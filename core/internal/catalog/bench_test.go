package catalog

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

// many is how many models are resolved in one go: some three long lists.
const many = 5000

// services are the twenty providers that the drawn models are of.
var services = []struct{ api, base, route string }{
	{"anthropic", "https://api.anthropic.com", "anthropic"},
	{"openai", "https://api.openai.com/v1", "openai"},
	{"gemini-openai", "https://generativelanguage.googleapis.com/v1beta/openai", "google"},
	{"mistral", "https://api.mistral.ai/v1", "mistral"},
	{"xai", "https://api.x.ai/v1", "xai"},
	{"groq", "https://api.groq.com/openai/v1", "groq"},
	{"zai", "https://api.z.ai/api/paas/v4", "zai"},
	{"moonshot", "https://api.moonshot.ai/v1", "moonshot"},
	{"openrouter", "https://openrouter.ai/api/v1", "openrouter"},
	{"copilot", "https://api.githubcopilot.com", "github-copilot"},
	{"bedrock", "", "amazon-bedrock"},
	{"cerebras", "https://api.cerebras.ai/v1", "cerebras"},
	{"openai-chat", "https://api.together.xyz/v1", "together"},
	{"openai-chat", "https://nano-gpt.com/api/v1", "nanogpt"},
	{"openai-chat", "https://api.venice.ai/api/v1", "venice"},
	{"openai-chat", "https://api.novita.ai/openai/v1", "novita"},
	{"openai-chat", "https://integrate.api.nvidia.com/v1", "nvidia"},
	{"openai-chat", "https://proxy.example/v1", "kilo"},
	{"vllm", "http://127.0.0.1:8000/v1", "huggingface"},
	{"ollama", "http://127.0.0.1:11434", "ollama-cloud"},
}

// drawSources draws models of the services: nine in ten from the lists of the table, one
// in ten that no list has; of each second one the endpoint's own list says what it is.
func drawSources() []Sources {
	b, r := BuiltIn(), rand.New(rand.NewPCG(4, 2))
	var all []Sources
	for i := range many {
		at := services[r.IntN(len(services))]
		of := b.routes[b.byName[at.route]]
		id := b.rows[of.first+r.Int32N(of.behind-of.first)].id
		if r.IntN(10) == 0 {
			id = fmt.Sprintf("%s-tuned-%d", id, i)
		}
		s := Sources{Ref: Ref("p/" + id), API: at.api, URL: at.base, TakesPictures: true}
		if r.IntN(2) == 0 {
			s.Listed, s.ListedAt = &provider.Listed{ID: id, Sight: vision.Sight(r.IntN(3)), Field: "capabilities.vision"}, time.Unix(1_790_000_000, 0)
		}
		all = append(all, s)
	}
	return all
}

// sink keeps the compiler from leaving work out.
var sink int

func mapRound(known map[Ref]Known, all []Sources) {
	for i := range all {
		k := known[all[i].Ref]
		sink += int(k.Sight.Sight)
	}
}

func resolveRound(all []Sources) {
	for i := range all {
		m := Resolve(all[i])
		sink += int(m.Sight.Sight)
	}
}

func plainMap(all []Sources) map[Ref]Known {
	known := map[Ref]Known{}
	for _, s := range all {
		_, id := s.Ref.Split()
		known[s.Ref], _ = Find(s.API, s.URL, id)
	}
	return known
}

func BenchmarkFind(b *testing.B) {
	all, i := drawSources(), 0
	b.ReportAllocs()
	for b.Loop() {
		s := &all[i%many]
		_, id := s.Ref.Split()
		k, _ := Find(s.API, s.URL, id)
		sink += k.Context
		i++
	}
}

func BenchmarkResolve5000(b *testing.B) {
	all := drawSources()
	b.ReportAllocs()
	for b.Loop() {
		resolveRound(all)
	}
}

func BenchmarkMap5000(b *testing.B) {
	all := drawSources()
	known := plainMap(all)
	b.ReportAllocs()
	for b.Loop() {
		mapRound(known, all)
	}
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadTable(bytes.NewReader(modelsTSV)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCatalogue prints the table of docs/performance.md, in alternating rounds.
func BenchmarkCatalogue(b *testing.B) {
	if b.N > 1 {
		b.Skip("not run: the table is one measurement; make bench runs it once")
	}
	all := drawSources()
	known := plainMap(all)
	rows := []struct {
		name string
		run  func()
		took []time.Duration
	}{
		{name: "a plain map look-up of 5,000 models", run: func() { mapRound(known, all) }},
		{name: "`catalog.Resolve` of 5,000 models from 20 providers", run: func() { resolveRound(all) }},
		{name: "the built-in table read, once a process that asks", run: func() {
			if _, err := ReadTable(bytes.NewReader(modelsTSV)); err != nil {
				b.Fatal(err)
			}
		}},
	}
	const rounds = 9
	for range rounds {
		for i := range rows {
			runtime.GC()
			start := time.Now()
			rows[i].run()
			rows[i].took = append(rows[i].took, time.Since(start))
		}
	}
	fmt.Fprintf(os.Stderr, "\n%s, %d cores, %s, median of %d alternating rounds\n\n| Measured | ms | × |\n|---|---|---|\n",
		runtime.Version(), runtime.NumCPU(), time.Now().UTC().Format(time.DateOnly), rounds)
	var base float64
	for _, r := range rows {
		slices.Sort(r.took)
		ms := r.took[len(r.took)/2].Seconds() * 1000
		if base == 0 {
			base = ms
		}
		fmt.Fprintf(os.Stderr, "| %s | %.2f | %.0f |\n", r.name, ms, ms/base)
	}
}
