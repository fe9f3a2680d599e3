package chat

import (
	"encoding/json"
	"strings"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
)

// The marks of what a provider gives beside its words and wants back as it came. A
// proof is of one model: another refuses it ("Thought signature is not valid",
// Roo-Code#10640), so the model stands in it. No other wire's signature has a colon.
const (
	detailsMark = "chat:details:" // reasoning_details
	extraMark   = "chat:extra:"   // extra_content of a call
)

// seal makes the signature of a part; empty: there is nothing to give back.
func seal(mark, model string, data json.RawMessage) string {
	if len(data) == 0 || string(data) == "null" || strings.Contains(model, "\n") {
		return ""
	}
	return mark + model + "\n" + string(data)
}

// unseal gives what was sealed for this model.
func unseal(mark, model, signature string) (json.RawMessage, bool) {
	rest, ok := strings.CutPrefix(signature, mark)
	if !ok {
		return nil, false
	}
	of, data, _ := strings.Cut(rest, "\n")
	return json.RawMessage(data), of == model && json.Valid([]byte(data))
}

// ours reports whether the words of a reasoning part came over this wire; a signed one
// belongs to another.
func ours(p provider.Part) bool {
	return p.Signature == "" || strings.HasPrefix(p.Signature, detailsMark)
}

// detail is an entry of reasoning_details, of which pieces may have arrived.
type detail struct {
	kind    string
	index   string // raw JSON; empty: none
	id      string
	fields  map[string]json.RawMessage
	text    strings.Builder
	summary strings.Builder
}

// details puts reasoning_details together: pieces of a text have the same type and
// index, and its signature comes in a piece of its own (agno#5802).
type details struct{ all []*detail }

// add takes an entry of a chunk, and gives the words in it.
func (d *details) add(raw json.RawMessage) (string, error) {
	var fields map[string]json.RawMessage
	if err := httpwire.Strict(raw, &fields); err != nil {
		return "", err
	}
	word := func(name string) string {
		var s string
		if json.Unmarshal(fields[name], &s) != nil { // null or another type: kept as it is
			return ""
		}
		return s
	}
	kind, id, text, summary := word("type"), word("id"), word("text"), word("summary")
	at := d.find(kind, string(fields["index"]), id)
	if at == nil {
		if len(d.all) == maxDetails {
			return "", errDetails
		}
		at = &detail{kind: kind, index: string(fields["index"]), id: id, fields: map[string]json.RawMessage{}}
		d.all = append(d.all, at)
	}
	for name, value := range fields {
		if _, there := at.fields[name]; !there || string(value) != "null" {
			at.fields[name] = value
		}
	}
	at.text.WriteString(text)
	at.summary.WriteString(summary)
	return text + summary, nil
}

// find gives the entry that a piece goes on; nil: it begins one.
func (d *details) find(kind, index, id string) *detail {
	if kind != "reasoning.text" && kind != "reasoning.summary" {
		return nil
	}
	for _, at := range d.all {
		if at.kind == kind && at.index == index && (id == "" || at.id == "" || at.id == id) {
			return at
		}
	}
	return nil
}

// json is the whole list; nil: there was none.
func (d *details) json() json.RawMessage {
	if len(d.all) == 0 {
		return nil
	}
	list := make([]map[string]json.RawMessage, 0, len(d.all))
	for _, at := range d.all {
		for name, built := range map[string]string{"text": at.text.String(), "summary": at.summary.String()} {
			if raw, err := json.Marshal(built); built != "" && err == nil {
				at.fields[name] = raw
			}
		}
		list = append(list, at.fields)
	}
	out, err := json.Marshal(list)
	if err != nil { // not of what was JSON before
		return nil
	}
	return out
}
