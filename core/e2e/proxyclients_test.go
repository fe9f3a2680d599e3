package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/npmtest"
	"github.com/relo-dev/relo/core/internal/provider/double"
)

// vendorsScript asks through both vendors' libraries for JavaScript, whole and streaming,
// and prints what it understood as JSON.
const vendorsScript = `
const [base, token, picture, modules] = process.argv.slice(2);
const load = async (name) => (await import(require.resolve(name, { paths: [modules] }))).default;
(async () => {
  const OpenAI = await load("openai"), Anthropic = await load("@anthropic-ai/sdk");
  const { GoogleGenAI } = await import(require.resolve("@google/genai", { paths: [modules] }));
  const google = new GoogleGenAI({ apiKey: token, httpOptions: { baseUrl: base } });
  const openai = new OpenAI({ baseURL: base + "/v1", apiKey: token, maxRetries: 0 });
  const claude = new Anthropic({ baseURL: base, apiKey: token, maxRetries: 0 });
  const url = "data:image/png;base64," + picture, out = {};
  const schema = { type: "object", properties: {} };
  for (const model of ["open/big", "anth/chief", "open/small"]) {
    const chat = { model, messages: [{ role: "user", content: [{ type: "text", text: "what is it" }, { type: "image_url", image_url: { url } }] }],
      tools: [{ type: "function", function: { name: "look", parameters: schema } }] };
    let r = await openai.chat.completions.create(chat);
    out["chat " + model] = r.choices[0].message.content + " " + r.choices[0].message.tool_calls[0].function.arguments;
    let text = "";
    for await (const c of await openai.chat.completions.create({ ...chat, stream: true })) text += c.choices[0]?.delta?.content ?? "";
    out["chat stream " + model] = text;
    const resp = { model, input: [{ role: "user", content: [{ type: "input_text", text: "what is it" }, { type: "input_image", image_url: url, detail: "auto" }] }],
      tools: [{ type: "function", name: "look", parameters: schema, strict: false }] };
    r = await openai.responses.create(resp);
    out["responses " + model] = r.output_text + " " + r.output.find((o) => o.type === "function_call").arguments;
    const s = openai.responses.stream(resp);
    out["responses stream " + model] = (await s.finalResponse()).output_text;
    const msg = { model, max_tokens: 100, tools: [{ name: "look", input_schema: schema }],
      messages: [{ role: "user", content: [{ type: "text", text: "what is it" }, { type: "image", source: { type: "base64", media_type: "image/png", data: picture } }] }] };
    const m = await claude.messages.create(msg);
    out["messages " + model] = m.content[0].text + " " + JSON.stringify(m.content[1].input);
    const gem = { model, contents: [{ role: "user", parts: [{ text: "what is it" }, { inlineData: { mimeType: "image/png", data: picture } }] }],
      config: { tools: [{ functionDeclarations: [{ name: "look", parametersJsonSchema: schema }] }] } };
    const g = await google.models.generateContent(gem);
    out["gemini " + model] = g.candidates[0].content.parts[0].text + " " + JSON.stringify(g.functionCalls[0].args);
    let piece = "";
    for await (const c of await google.models.generateContentStream(gem)) piece += c.candidates[0].content.parts.map((p) => p.text ?? "").join("");
    out["gemini stream " + model] = piece;
    out["messages stream " + model] = await claude.messages.stream(msg).finalText();
  }
  for (const [name, ask] of Object.entries({
    openai: () => openai.chat.completions.create({ model: "nobody/x", messages: [{ role: "user", content: "hi" }] }),
    claude: () => claude.messages.create({ model: "nobody/x", max_tokens: 9, messages: [{ role: "user", content: "hi" }] }),
  })) {
    try { await ask(); out["error " + name] = "none"; } catch (e) { out["error " + name] = e.status + " " + e.message; }
  }
  console.log(JSON.stringify(out));
})();
`

func TestVendorsScriptsCallModelsThroughTheProxy(t *testing.T) {
	t.Parallel()
	modules := npmtest.Install(t, "openai@7.59.0", "@anthropic-ai/sdk@1.15.0", "@google/genai@3.3.0")
	p := startProxy(t, mixed(), (&play{}).always(looksAndCalls))
	d := &desk{t: t, home: t.TempDir()}
	script := filepath.Join(t.TempDir(), "ask.cjs")
	if err := os.WriteFile(script, []byte(vendorsScript), 0o600); err != nil {
		t.Fatal(err)
	}
	d.run(nil, "node", script, p.base, p.token, p.picture, modules)
	var got map[string]string
	if err := json.Unmarshal([]byte(d.said), &got); err != nil {
		t.Fatalf("%v: %s", err, d.said)
	}
	for model, want := range map[string]string{"open/big": "big got 1 pictures", "anth/chief": "chief got 1 pictures", "open/small": "small got 0 pictures, and words"} {
		for _, how := range []string{"chat", "responses", "messages", "gemini"} {
			if whole := got[how+" "+model]; whole != want+` {"path":"x"}` {
				t.Errorf("%s of %s: %q", how, model, whole)
			}
			if streamed := got[how+" stream "+model]; streamed != want {
				t.Errorf("%s of %s, streamed: %q", how, model, streamed)
			}
		}
	}
	for _, name := range []string{"openai", "claude"} {
		if e := got["error "+name]; !strings.HasPrefix(e, "404 ") || !strings.Contains(e, "is not in Relo's config") {
			t.Errorf("%s: %q", name, e)
		}
	}
}

// OpenCode is pointed at the proxy, with a model that says it sees and refuses every
// picture: the session lives, and the model gets words.
func TestOpenCodeLivesWithAModelThatRefusesPictures(t *testing.T) {
	t.Parallel()
	modules := npmtest.Install(t, "opencode-linux-x64@1.18.33")
	l := mixed()
	l.models["refuses"] = double.Model{}
	p := startProxy(t, l, (&play{}).always(func(ctx context.Context, t turn) double.Reply {
		if strings.Contains(t.System, "You look at one picture") {
			return looksAndCalls(ctx, t)
		}
		at := slices.IndexFunc(t.Tools, func(name string) bool { return strings.HasSuffix(name, "relo_image") })
		looked := slices.ContainsFunc(t.Entries, func(e double.Entry) bool { return e.Role == "tool" })
		if at < 0 || looked {
			return double.Reply{Text: "I read: done."}
		}
		return double.Reply{Calls: []double.Call{{Name: t.Tools[at], Args: map[string]any{"paths": []string{"shot.png"}}}}}
	}))
	p.edit(`"models": {"small"`, `"models": {"refuses": {"vision": true, "price": {"input": 1, "output": 2}}, "small"`)
	d := &desk{t: t, home: t.TempDir(), dir: t.TempDir()}
	p.write(filepath.Join(d.dir, "shot.png"), string(drawing(t, 320, 200)))
	config := d.toJSON(map[string]any{
		"autoupdate": false, "share": "disabled", "model": "rec/open/refuses", "small_model": "rec/open/big", "enabled_providers": []string{"rec"},
		"provider": map[string]any{"rec": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Relo", "options": map[string]string{"baseURL": p.base + "/v1", "apiKey": p.token},
			"models": map[string]any{"open/refuses": map[string]any{
				"name": "R", "tool_call": true, "modalities": map[string][]string{"input": {"text", "image"}, "output": {"text"}}, "limit": map[string]int{"context": 128000, "output": 8000},
			}, "open/big": map[string]any{"name": "B", "limit": map[string]int{"context": 128000, "output": 8000}}},
		}},
		"mcp": map[string]any{"relo": map[string]any{
			"type": "local", "command": []string{binary, "mcp", "--root", d.dir}, "environment": map[string]string{"RELO_HOME": d.home}, "enabled": true,
		}},
	})
	env := map[string]string{"OPENCODE_CONFIG_CONTENT": config}
	for _, off := range []string{"PROJECT_CONFIG", "MODELS_FETCH", "AUTOUPDATE", "SHARE", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "CLAUDE_CODE"} {
		env["OPENCODE_DISABLE_"+off] = "1"
	}
	for _, kind := range []string{"DATA", "CONFIG", "STATE", "CACHE"} {
		env["XDG_"+kind+"_HOME"] = filepath.Join(d.home, strings.ToLower(kind))
	}
	d.run(env, filepath.Join(modules, "opencode-linux-x64", "bin", "opencode"), "run", "--model", "rec/open/refuses", "Look at the screenshot.")
	refused, words := 0, 0
	for _, r := range p.dbl.Requests() {
		if r.Model == "refuses" && r.Status == 400 {
			refused++
		}
		if r.Model == "refuses" && r.Status == 200 && strings.Contains(string(r.Body), "a drawing of 320 by 200") {
			words++
		}
	}
	if refused != 1 || words == 0 || !strings.Contains(d.said, "I read: done.") {
		t.Errorf("%d refused, %d with words; OpenCode said %s", refused, words, d.said)
	}
}
