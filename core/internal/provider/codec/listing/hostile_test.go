package listing

import (
	"fmt"
	"strings"
	"testing"
)

// ids writes what was read as "id:sight:field", to compare in one line.
func ids(p Page) string {
	var out []string
	for _, m := range p.Models {
		out = append(out, fmt.Sprintf("%s:%s:%s", m.ID, m.Sight, m.Field))
	}
	return strings.Join(out, " ")
}

func TestAnEntryThatDeceivesIsLeftOutAndHidesNoOther(t *testing.T) {
	t.Parallel()
	const good = `{"id":"good","supports_vision":true}`
	for _, c := range []struct{ why, entry string }{
		{"nothing", `null`},
		{"no object", `7`},
		{"a list", `["id"]`},
		{"no id", `{"object":"model"}`},
		{"an empty id", `{"id":""}`},
		{"an id that is a number, beside a name for people", `{"id":7,"name":"Nice"}`},
		{"an id that is an object", `{"id":{"name":"x"},"name":"Nice"}`},
		{"a line break", `{"id":"two\nlines"}`},
		{"an escape", `{"id":"x\u001b[2J"}`},
		{"a writing direction", `{"id":"\u202egood"}`},
		{"a character of no width", `{"id":"go\u200bod"}`},
		{"a space that is not plain", `{"id":"go\u00a0od"}`},
		{"a space at the end", `{"id":"good "}`},
		{"half a character", `{"id":"\ud800"}`},
		{"too long", `{"id":"` + strings.Repeat("x", maxID+1) + `"}`},
		{"a text of megabytes", `{"id":"` + strings.Repeat("x", 1<<20) + `"}`},
	} {
		p, err := Read([]byte(`{"data":[` + c.entry + `,` + good + `]}`))
		if err != nil || ids(p) != "good:yes:supports_vision" || len(p.Notes) != 1 {
			t.Errorf("%s: %s, notes %q, %v", c.why, ids(p), p.Notes, err)
		}
	}
}

func TestOneOddFieldHidesNoOther(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"name", "capabilities", "architecture", "pricing", "context_window", "type", "tags", "features", "endpoints", "providers", "meta", "details", "limits",
		"top_provider", "supported_parameters", "loaded_instances", "remote_host", "digest", "owned_by", "active", "modalities",
	} {
		for _, odd := range []string{`null`, `7`, `"x"`, `true`, `[]`, `[null]`, `[7,"x"]`, `{}`, `{"x":[]}`, `1e999`, strings.Repeat("[", 5000) + strings.Repeat("]", 5000)} {
			p, err := Read([]byte(`[{"id":"m","` + name + `":` + odd + `,"supports_image_input":true,"supports_tools":true,"context_length":"4096"}]`))
			if err != nil || ids(p) != "m:yes:supports_image_input" {
				t.Errorf("%s %.20s: %s, %v", name, odd, ids(p), err)
				continue
			}
			if m := p.Models[0]; m.Tools == nil || !*m.Tools || m.Context != 4096 {
				t.Errorf("%s %.20s: %+v", name, odd, m)
			}
		}
	}
}

func TestTheFieldThatSpeaksOfPicturesAsInputWins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ entry, want string }{
		{`"capabilities":{"vision":false,"image_input":{"supported":true}}`, "m:yes:capabilities.image_input"},
		{`"supports_image_input":false,"architecture":{"input_modalities":["text","image"]}`, "m:no:supports_image_input"},
		{`"supports_vision":true,"architecture":{"input_modalities":["text"]}`, "m:no:architecture.input_modalities"},
		{`"supports_vision":false,"architecture":{"modality":"text+image->text"}`, "m:yes:architecture.modality"},
		{`"supports_vision":false,"tags":["vision"]`, "m:no:supports_vision"},
		{`"architecture":{"modality":"text->text+image"}`, "m:no:architecture.modality"},
		{`"capabilities.vision":true`, "m:unknown:"}, // a name with a dot is no path
		{`"capabilities":{"vision":null}`, "m:unknown:"},
		{`"capabilities":{"vision":"yes"}`, "m:unknown:"},
		{`"input_modalities":["text",7]`, "m:unknown:"},
		{`"features":["tools"]`, "m:unknown:"},
		{`"type":"llm"`, "m:unknown:"},
	} {
		p, err := Read([]byte(`[{"id":"m",` + c.entry + `}]`))
		if err != nil || ids(p) != c.want {
			t.Errorf("%s: %s, want %s, %v", c.entry, ids(p), c.want, err)
		}
	}
}

func TestAPlaceTooLongToAskForEndsTheList(t *testing.T) {
	t.Parallel()
	p, err := Read([]byte(`{"models":[],"nextPageToken":"` + strings.Repeat("x", maxNext+1) + `"}`))
	if err != nil || p.Next != "" || p.Param != "" || len(p.Notes) != 1 {
		t.Errorf("%d bytes, %q, %q, %v", len(p.Next), p.Param, p.Notes, err)
	}
}

func TestDeeperThanAnyListIsAnError(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	if p, err := Read([]byte(`[{"id":"m","x":` + deep + `}]`)); err == nil {
		t.Errorf("%s", ids(p))
	}
}

// BenchmarkHugeField reads one field of 8 MB, in an entry that is asked for some forty.
func BenchmarkHugeField(b *testing.B) {
	for _, c := range []struct{ name, field string }{
		{"list", `[` + strings.Repeat("0,", 4<<20) + `0]`},
		{"text", `"` + strings.Repeat("y", 8<<20) + `"`},
		{"object", `{"x":"` + strings.Repeat("y", 8<<20) + `"}`},
		{"object-of-many", `{"a":0` + strings.Repeat(`,"a":0`, 1<<20) + `}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			body := []byte(`[{"id":"m","capabilities":` + c.field + `}]`)
			for b.Loop() {
				if _, err := Read(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
