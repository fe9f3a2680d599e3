// Package listing reads the lists of models that endpoints give, in every shape that
// is in use. It knows no connection, believes no size, and passes over what it cannot
// read rather than losing the rest.
package listing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

// Page is one answer of an endpoint to the question which models it has.
type Page struct {
	Models []provider.Listed
	Marks  map[string]string // by id: what changes with the model (Ollama's digest); nil when the list has none
	Owners []string          // of the models (owned_by), each once, the first few: who made the list
	Shape  string            // the field that held the list: "data", "models", "" for a bare list
	Next   string            // where the next page begins, as the endpoint says it; empty: none
	Param  string            // the parameter of the question that takes Next
	Notes  []string          // what was left out, and why
}

// errNoList is of an answer that is JSON and holds no list of models.
var errNoList = errors.New("it has no list of models")

// Read reads any list of models: an object with a list under data, models or
// language_models, or a bare list. An entry without a usable id is passed over.
func Read(body []byte) (Page, error) {
	var p Page
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if bytes.HasPrefix(body, []byte("[")) { // Together answers with the bare list
		if err := json.Unmarshal(body, &list); err != nil {
			return p, fmt.Errorf("the list of models cannot be read: %w", err)
		}
		p.read(list)
		return p, nil
	}
	var top fields
	if err := json.Unmarshal(body, &top); err != nil {
		return p, fmt.Errorf("the list of models cannot be read: %w", err)
	}
	for _, name := range []string{"data", "models", "language_models", "result", "modelSummaries"} {
		raw := top[name]
		if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
			continue
		}
		p.Shape = name
		p.read(list)
		if p.Next, p.Param = top.next(); len(p.Next) > maxNext {
			p.Next, p.Param = "", ""
			p.Notes = append(p.Notes, "the list goes on, at a place whose name is too long to ask for")
		}
		if name == "data" {
			p.enrich(top["models"])
		}
		return p, nil
	}
	return p, fmt.Errorf("the list of models cannot be read: %w", errNoList)
}

// next reads where the list goes on, and how to ask for that: Gemini's token,
// Anthropic's last id, Cohere's token.
func (f fields) next() (next, param string) {
	if more, _ := f.yes("has_more"); more && f.text("last_id") != "" {
		return f.text("last_id"), "after_id"
	}
	for _, row := range []struct{ field, param string }{{"nextPageToken", "pageToken"}, {"next_page_token", "page_token"}} {
		if token := f.text(row.field); token != "" {
			return token, row.param
		}
	}
	return "", ""
}

func (p *Page) read(list []json.RawMessage) {
	seen := map[string]bool{}
	var odd, twice int
	for i, raw := range list {
		if i == MaxModels {
			p.Notes = append(p.Notes, fmt.Sprintf("the list has %d models; the first %d were read", len(list), MaxModels))
			break
		}
		f := entryOf(raw)
		id := f.id()
		switch {
		case id == "":
			odd++
			continue
		case seen[id]:
			twice++
			continue
		}
		if on, said := f.yes("active"); said && !on { // Groq keeps those that are gone
			continue
		}
		seen[id] = true
		p.Models = append(p.Models, f.model(id))
		p.mark(f, id)
	}
	if odd > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%d entries without a usable id were left out", odd))
	}
	if twice > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%d ids stand in the list twice; the first of each counts", twice))
	}
}

func (p *Page) mark(f fields, id string) {
	if digest := f.text("digest"); digest != "" && len(digest) <= maxID {
		if p.Marks == nil {
			p.Marks = map[string]string{}
		}
		p.Marks[id] = digest
	}
	if owner := httpwire.Plain(f.text("owned_by")); owner != "" && len(p.Owners) < maxOwners && !slices.Contains(p.Owners, owner) {
		p.Owners = append(p.Owners, owner)
	}
}

// enrich adds what llama.cpp says a second time, in another shape beside data.
func (p *Page) enrich(raw json.RawMessage) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return
	}
	at := make(map[string]*provider.Listed, len(p.Models))
	for i := range p.Models {
		at[p.Models[i].ID] = &p.Models[i]
	}
	for _, one := range list[:min(len(list), MaxModels)] {
		f := entryOf(one)
		m := at[f.id()]
		if m == nil {
			continue
		}
		if v := f.sight(); m.Sight == vision.Unknown && v.sight != vision.Unknown {
			m.Sight, m.Field = v.sight, "models."+v.field
		}
	}
}

// id gives the name by which the model is asked; empty when there is none that could
// be shown and sent.
func (f fields) id() string {
	for _, name := range []string{"id", "key", "model", "name", "modelId"} {
		raw := f[name]
		if len(raw) == 0 || string(raw) == "null" {
			continue
		}
		id := f.text(name)
		if id == "" { // of another type, or empty: a name for people is none to ask by instead
			return ""
		}
		if name == "name" || f.text("owned_by") == "google" {
			id = strings.TrimPrefix(id, "models/") // Gemini, in its own list and in its OpenAI-shaped one
		}
		if len(id) > maxID || strings.TrimSpace(id) != id || strings.ContainsFunc(id, unfit) {
			return ""
		}
		return id
	}
	return ""
}

// unfit are characters that no id has and that could deceive who reads it: control
// and format characters (which turn the direction of writing), spaces but the plain
// one, and what stands for broken UTF-8.
func unfit(r rune) bool {
	return r == unicode.ReplacementChar || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.IsSpace(r) && r != ' '
}

func (f fields) model(id string) provider.Listed {
	m := provider.Listed{
		ID: id, Chat: f.chat(), Tools: f.tools(), Context: f.context(), MaxOutput: f.maxOutput(), Price: f.price(),
		Remote: httpwire.Plain(f.text("remote_host")),
	}
	for _, name := range []string{"display_name", "displayName", "name", "title"} {
		if said := f.text(name); said != "" && said != id && strings.TrimPrefix(said, "models/") != id {
			m.Name = httpwire.Plain(said)
			break
		}
	}
	if v := f.sight(); v.sight != vision.Unknown {
		m.Sight, m.Field = v.sight, v.field
	}
	if n, _ := f.number("meta.n_params"); n > 0 && n <= maxSize*1e9 {
		m.Size = n / 1e9
	} else {
		m.Size = FirstSize(f.text("params_string"), f.text("details.parameter_size"), id)
	}
	return m
}

// objects reads a list of objects; odd ones are left out.
func (f fields) objects(path string) []fields {
	var list []json.RawMessage
	if raw := f[path]; !begins(raw, "[") || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []fields
	for _, raw := range list {
		if o := entryOf(raw); o != nil {
			out = append(out, o)
		}
	}
	return out
}

var contextSet = regexp.MustCompile(`(?m)^num_ctx\s+(\d+)`)

// ReadShow completes an entry with what Ollama's /api/show says of the model (its API
// documentation): capabilities, the length of the context under the architecture's
// name, and parameters, where a Modelfile may set num_ctx. Servers before 0.6.4 name
// no capabilities; there a projector is what sees.
func ReadShow(body []byte, m *provider.Listed) error {
	var f fields
	if err := json.Unmarshal(body, &f); err != nil {
		return fmt.Errorf("what is said of %s cannot be read: %w", m.ID, err)
	}
	if list := f.words("capabilities"); len(list) > 0 {
		m.Sight, m.Field = vision.Of(slices.Contains(list, "vision")), "capabilities"
		m.Tools = new(slices.Contains(list, "tools"))
		m.Chat = new(slices.Contains(list, "completion"))
	}
	info := objectOf(f["model_info"])
	if projector := f.projector(info); m.Sight == vision.Unknown && projector != "" {
		m.Sight, m.Field = vision.Sees, projector
	}
	if n := info.shownContext(); n > 0 {
		m.Context = n
	}
	if set := contextSet.FindStringSubmatch(f.text("parameters")); set != nil {
		if n, err := strconv.Atoi(set[1]); err == nil && n > 0 && n <= maxTokens {
			m.Context = n
		}
	}
	if host := f.text("remote_host"); host != "" {
		m.Remote = httpwire.Plain(host)
	}
	return nil
}

// projector names where Ollama shows that a model has a part for pictures; empty: nowhere.
func (f fields) projector(info fields) string {
	if len(objectOf(f["projector_info"])) > 0 {
		return "projector_info"
	}
	for name := range info {
		if strings.Contains(name, ".vision.") {
			return "model_info"
		}
	}
	return ""
}

// shownContext reads the length of the context in Ollama's model_info, where each name
// begins with an architecture. The model's own counts; when it is not said, the longest
// that is not of a part for pictures or sound, so that the same answer is read the same.
func (f fields) shownContext() int {
	const length = ".context_length"
	var arch string
	if json.Unmarshal(f["general.architecture"], &arch) == nil {
		if n := (fields{"n": f[arch+length]}).tokens("n"); n > 0 {
			return n
		}
	}
	most := 0
	for name, raw := range f {
		if strings.HasSuffix(name, length) && !strings.Contains(name, ".vision.") && !strings.Contains(name, ".audio.") {
			most = max(most, fields{"n": raw}.tokens("n"))
		}
	}
	return most
}

// ReadProps completes the entry of the one model that llama.cpp has loaded with its
// /props (its server's README): modalities, the context in use, what the template can.
func ReadProps(body []byte, m *provider.Listed) error {
	var top fields
	if err := json.Unmarshal(body, &top); err != nil {
		return fmt.Errorf("the server's properties cannot be read: %w", err)
	}
	f := fields{}
	f.open(top, "", levels)
	if yes, said := f.yes("modalities.vision"); said {
		m.Sight, m.Field = vision.Of(yes), "modalities.vision"
	}
	if n := f.tokens("default_generation_settings.n_ctx"); n > 0 {
		m.Context = n
	}
	if yes, said := f.yes("chat_template_caps.supports_tools"); said {
		m.Tools = &yes
	}
	return nil
}
