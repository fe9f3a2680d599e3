package envelope

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relo-dev/relo/core/internal/provider"
)

// told is a request as lines, one a part.
func told(r provider.Request) []string {
	lines := []string{fmt.Sprintf("%s max %d key %q", r.Model, r.MaxTokens, r.CacheKey), fmt.Sprintf("system %q", r.System)}
	for _, t := range r.Tools {
		lines = append(lines, fmt.Sprintf("offers %s %q %s", t.Name, t.Description, t.Schema))
	}
	for _, m := range r.Messages {
		for i, p := range m.Parts {
			role := string(m.Role)
			if i > 0 {
				role = "and"
			}
			switch p.Kind {
			case provider.PartPicture:
				lines = append(lines, fmt.Sprintf("%s shows %s", role, shown(*p.Picture)))
			case provider.PartCall:
				lines = append(lines, fmt.Sprintf("%s calls %s %s %s", role, p.Call.ID, p.Call.Name, p.Call.Args))
			case provider.PartResult:
				lines = append(lines, fmt.Sprintf("%s answers %s %s %q %t", role, p.Result.ID, p.Result.Name, p.Result.Text, p.Result.IsError))
				for _, pic := range p.Result.Pictures {
					lines = append(lines, "with "+shown(pic))
				}
			case provider.PartReasoning:
				lines = append(lines, fmt.Sprintf("%s thinks %q %q", role, p.Text, p.Signature))
			case provider.PartText:
				lines = append(lines, fmt.Sprintf("%s says %q", role, p.Text))
			}
		}
	}
	return lines
}

func shown(p provider.Picture) string {
	return fmt.Sprintf("%s %dx%d %s %q", p.MediaType, p.Width, p.Height, p.View.ID, p.View.Path)
}

// What Claude Code 2.1.332, OpenCode 1.18.33 and Codex 0.171.0 send, in shape.
func TestRequestsOfTheEnginesAreRead(t *testing.T) {
	for _, c := range []struct {
		file    string
		wire    Wire
		want    []string
		ignored []string
	}{
		{"claude-code.json", Messages, []string{
			`claude-sonnet-4-5 max 32000 key ""`,
			`system "x-header: version=2.1.332\n\nYou are a coding agent.\n\n# Environment\nlinux"`,
			`offers Read "Reads a file." {"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"file_path":{"type":"string"}},"required":["file_path"],"additionalProperties":false}`,
			`offers mcp__relo__relo_image "Shows pictures." {"type":"object","properties":{"paths":{"type":"array","items":{"type":"string"}}}}`,
			`user says "<system-reminder>\nbe brief\n</system-reminder>"`, `and says "Does it look right?"`,
			`and shows image/png 3x2 messages[0].content[2] "picture 1 of the request"`,
			`assistant thinks "I should look." "EqQB"`, `and thinks "" "redacted:Zm9v"`, `and says "I look."`,
			`and calls toolu_01A mcp__relo__relo_image {"paths":["a.png"]}`, `and calls toolu_01B Read {"file_path":"/b"}`,
			`tool answers toolu_01A mcp__relo__relo_image "{\"index\":0}\n<system-reminder>\ntrust no file\n</system-reminder>" false`,
			`with image/png 3x2 messages[2].content[0].content[1] "picture 2 of the request"`,
			`and answers toolu_01B Read "no such file" true`,
			`user says "[Request interrupted by user]"`,
		}, []string{"context_management", "metadata", "output_config", "temperature", "thinking"}},
		{"opencode.json", Chat, []string{
			`see max 8000 key ""`, `system "You are a Relo worker."`,
			`offers relo_relo_image "Shows pictures." {"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"paths":{"type":"array","items":{"type":"string"}}},"additionalProperties":false}`,
			`user says "Does it look right?"`, `assistant thinks "I should look." ""`, `and calls call_1 relo_relo_image {"paths":["a.png"]}`,
			`tool answers call_1 relo_relo_image "RELO-TEXT" false`,
			`user says "Attached media from tool result:"`, `and shows image/png 3x2 messages[4].content[1] "picture 1 of the request"`,
		}, []string{"reasoning_effort", "temperature", "top_p"}},
		{"codex.json", Responses, []string{
			`see max 0 key "0199-abcd"`, `system "You are a coding agent.\n\n<permissions>read only</permissions>"`,
			`offers exec_command "Runs a command." {"type":"object","properties":{"cmd":{"type":"string"}},"required":["cmd"],"additionalProperties":false}`,
			`offers apply_patch "Edits files.\n\nThe input must follow this grammar:\nstart: begin_patch" {"type":"object","properties":{"input":{"type":"string","description":"the whole input of the tool, as plain text"}},"required":["input"]}`,
			`offers mcp__relo__relo_image "Shows pictures." {"type":"object","properties":{}}`,
			`user says "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"`,
			`user says "Does it look right?"`, `and shows image/png 3x2 input[2].content[1] "picture 1 of the request"`,
			`assistant thinks "I should look." "gAAA"`, `and says "I look."`,
			`and calls call_1 mcp__relo__relo_image {"paths":["a.png"]}`, `and calls call_2 apply_patch {"input":"*** Begin Patch\n*** End Patch"}`,
			`tool answers call_1 mcp__relo__relo_image "Wall time: 0.1 seconds\nOutput:\nRELO-TEXT" false`,
			`with image/png 3x2 input[7].output[2] "picture 2 of the request"`,
			`and answers call_2 apply_patch "{\"output\":\"done\"}" false`,
			`user says "<system>\nbe brief\n</system>"`,
		}, []string{"client_metadata", "include", "parallel_tool_calls", "reasoning", "store", "text"}},
	} {
		body, err := os.ReadFile(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		text := filled(t, string(body))
		e := opened(t, c.wire, text)
		if !e.Stream || !e.IncludeUsage {
			t.Errorf("%s: %+v", c.file, e)
		}
		if sealed, receipts, err := e.Seal(Changes{}); err != nil || string(sealed) != text || len(receipts) != len(e.Pictures()) {
			t.Errorf("%s: %v, %d receipts, or the body changed", c.file, err, len(receipts))
		}
		r, err := e.Request()
		if err != nil {
			t.Fatalf("%s: %v", c.file, err)
		}
		same(t, c.file, told(r), c.want)
		same(t, c.file+" ignored", e.Ignored(), c.ignored)
	}
}

func TestWhatAnotherWireCannotSayIsAFaultThatSaysWhatToDo(t *testing.T) {
	const user = `{"role":"user","content":"hi"}`
	chat := func(more string) string { return `{"model":"m","messages":[` + user + `],` + more + `}` }
	turn := func(more string) string { return `{"model":"m","messages":[` + user + `,` + more + `]}` }
	item := func(more string) string { return `{"model":"m","input":[` + user + `,` + more + `]}` }
	for _, c := range []struct {
		wire         Wire
		body         string
		field, words string
	}{
		{Chat, chat(`"n":2`), "n", "set it to 1"},
		{Chat, chat(`"logprobs":true`), "logprobs", "leave it out"},
		{Chat, chat(`"top_logprobs":3`), "top_logprobs", "leave it out"},
		{Chat, chat(`"logit_bias":{"1":2}`), "logit_bias", "leave it out"},
		{Chat, chat(`"modalities":["text","audio"]`), "modalities", "only text"},
		{Chat, chat(`"audio":{"voice":"x"}`), "audio", "only text"},
		{Chat, chat(`"stop":["x"]`), "stop", "leave it out"},
		{Chat, chat(`"response_format":{"type":"json_schema","json_schema":{}}`), "response_format", "in words"},
		{Chat, chat(`"web_search_options":{}`), "web_search_options", "tool of your own"},
		{Chat, chat(`"functions":[{}]`), "functions", "as tools"},
		{Chat, chat(`"tool_choice":"required"`), "tool_choice", `use "auto"`},
		{Chat, chat(`"tool_choice":{"type":"function","function":{"name":"f"}}`), "tool_choice", `use "auto"`},
		{Chat, chat(`"max_tokens":-1`), "max_tokens", "whole number"},
		{Chat, chat(`"tools":[{"type":"custom","custom":{"name":"c"}}]`), "tools[0]", "offer a function"},
		{Chat, chat(`"tools":[{"type":"function","function":{}}]`), "tools[0]", "needs a name"},
		{Chat, chat(`"tools":[{"type":"function","function":{"name":"f","parameters":"x"}}]`), "tools[0]", "JSON Schema"},
		{Chat, turn(`{"role":"user","content":[{"type":"input_audio","input_audio":{}}]}`), "messages[1].content[0]", `"input_audio"`},
		{Chat, turn(`{"role":"user","content":7}`), "messages[1].content", "a text or a list"},
		{Chat, turn(`{"role":"user","content":["x"]}`), "messages[1].content[0]", "object"},
		{Chat, turn(`{"role":"robot","content":"x"}`), "messages[1].role", `"robot"`},
		{Chat, turn(`{"role":"tool","tool_call_id":"c","content":"x"}`), "messages[1].tool_call_id", `no call before it has the id "c"`},
		{Chat, turn(`{"role":"assistant","audio":{"id":"a"}}`), "messages[1].audio", "send text"},
		{Chat, turn(`{"role":"assistant","tool_calls":[{"function":{"name":"f"}}]}`), "messages[1].tool_calls[0]", "an id and a name"},
		{Chat, turn(`{"role":"assistant","tool_calls":[{"id":"c","type":"custom","custom":{}}]}`), "messages[1].tool_calls[0]", "offer functions"},
		{Chat, `{"model":"m","messages":[]}`, "messages", "at least one message"},
		{Responses, item(`{"type":"item_reference","id":"x"}`), "input[1]", "whole dialogue"},
		{Responses, item(`{"type":"web_search_call","id":"x"}`), "input[1]", "run at the provider"},
		{Responses, item(`{"type":"computer_call_output","call_id":"x","output":{"type":"computer_screenshot"}}`), "input[1]", "run at the provider"},
		{Responses, item(`{"type":"function_call_output","call_id":"x","output":"y"}`), "input[1].call_id", "no call before it"},
		{Responses, item(`{"role":"user","content":[{"type":"input_file","file_id":"f"}]}`), "input[1].content[0]", `"input_file"`},
		{Responses, item(`{"role":"critic","content":"x"}`), "input[1].role", `"critic"`},
		{Responses, `{"model":"m","input":"hi","previous_response_id":"r"}`, "previous_response_id", "whole dialogue"},
		{Responses, `{"model":"m","input":"hi","conversation":"c"}`, "conversation", "whole dialogue"},
		{Responses, `{"model":"m","input":"hi","background":true}`, "background", "leave it out"},
		{Responses, `{"model":"m","input":"hi","prompt":{"id":"p"}}`, "prompt", "send its text"},
		{Responses, `{"model":"m","input":"hi","text":{"format":{"type":"json_object"}}}`, "text", "in words"},
		{Responses, `{"model":"m","input":"hi","tools":[{"type":"web_search"}]}`, "tools[0]", "run at the provider"},
		{Responses, `{"model":"m","input":"hi","tools":[{"type":"namespace","name":"n","tools":[{"type":"web_search"}]}]}`, "tools[0].tools[0]", "run at the provider"},
		{Responses, `{"model":"m"}`, "messages", "says nothing"},
		{Messages, chat(`"stop_sequences":["x"]`), "stop_sequences", "leave it out"},
		{Messages, chat(`"mcp_servers":[{"url":"u"}]`), "mcp_servers", "offer its tools"},
		{Messages, chat(`"container":"c"`), "container", "leave it out"},
		{Messages, chat(`"output_config":{"effort":"low","format":{"type":"json_schema"}}`), "output_config", "in words"},
		{Messages, chat(`"tools":[{"type":"web_search_20250305","name":"web_search"}]`), "tools[0]", "input_schema"},
		{Messages, chat(`"tool_choice":{"type":"any"}`), "tool_choice", `"any"`},
		{Messages, turn(`{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"x"}}]}`), "messages[1].content[0]", `"document"`},
		{Messages, turn(`{"role":"assistant","content":[{"type":"server_tool_use","id":"x"}]}`), "messages[1].content[0]", `"server_tool_use"`},
		{Messages, turn(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]}`), "messages[1].content[0].tool_use_id", "no call before it"},
		{Messages, turn(`{"role":"user","content":[{"type":"tool_use","id":"x","name":"y","input":{}}]}`), "messages[1]", "tool_result blocks"},
		{Messages, turn(`{"role":"assistant","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"P"}}]}`), "messages[1]", "block 0 is another"},
		{Messages, turn(`{"role":"tool","content":"x"}`), "messages[1].role", `"tool"`},
	} {
		_, err := opened(t, c.wire, filled(t, c.body)).Request()
		f, ok := errors.AsType[*Fault](err)
		if !ok || f.Status != 400 || f.Field != c.field || !strings.Contains(f.Words, c.words) {
			t.Errorf("%s: %+v, want %s: %s", c.body, err, c.field, c.words)
		}
	}
}

func TestWhatIsHarmlessIsLeftOut(t *testing.T) {
	for _, c := range []struct {
		wire Wire
		more string
		want []string
	}{
		{Chat, `"n":1,"stop":[],"stop_sequences":null,"logprobs":false,"modalities":["text"],"response_format":{"type":"text"},"tool_choice":"auto","web_search_options":null`, []string{"response_format"}},
		{Chat, `"temperature":0.2,"top_p":1,"seed":7,"metadata":{"a":"b"},"user":"u","store":true,"something_new":{"a":1}`, []string{"metadata", "seed", "something_new", "store", "temperature", "top_p", "user"}},
		{Messages, `"stop_sequences":[],"top_k":5,"service_tier":"auto"`, []string{"service_tier", "top_k"}},
	} {
		e := opened(t, c.wire, `{"model":"m","messages":[{"role":"user","content":"hi"}],`+c.more+`}`)
		if _, err := e.Request(); err != nil {
			t.Errorf("%s: %v", c.more, err)
		}
		same(t, c.more, e.Ignored(), c.want)
	}
}

func TestNoToolMayBeCalledWhenNoneIsToBe(t *testing.T) {
	const tools = `"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"none"`
	r, err := opened(t, Chat, `{"model":"m","messages":[{"role":"user","content":"hi"}],`+tools+`}`).Request()
	if err != nil || len(r.Tools) != 0 {
		t.Errorf("%v %v", err, r.Tools)
	}
	// Wires refuse a transcript with calls when no tools are offered.
	e := opened(t, Chat, `{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":""}}]},{"role":"tool","tool_call_id":"c","content":"x"}],`+tools+`}`)
	if r, err = e.Request(); err != nil || len(r.Tools) != 1 || string(r.Messages[1].Parts[0].Call.Args) != "{}" {
		t.Errorf("%v %+v", err, r)
	}
	same(t, "ignored", e.Ignored(), []string{"tool_choice"})
}

func TestAPictureWithoutBytesBecomesWords(t *testing.T) {
	e := opened(t, Chat, filled(t, `{"model":"m","messages":[
		{"role":"system","content":[{"type":"text","text":"s"},{"type":"image_url","image_url":"U"}]},
		{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a.example/p.png"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,?"}},{"type":"image_url","image_url":{"url":"data:application/pdf;base64,JVBERg=="}}]},
		{"role":"assistant","content":"a"},{"role":"system","content":"later"}]}`))
	r, err := e.Request()
	if err != nil {
		t.Fatal(err)
	}
	same(t, "transcript", told(r)[1:], []string{
		`system "s"`, `user says "Pictures that belong to the instructions:"`, `and shows image/png 3x2 messages[0].content[1] "picture 1 of the request"`,
		`user says "[A picture is not shown here: it is at https://a.example/p.png and was not fetched.]"`,
		`and says "[A picture is not shown here: its base64 does not decode.]"`, `and says "[A picture is not shown here: its bytes are no picture.]"`,
		`assistant says "a"`, `user says "<system>\nlater\n</system>"`,
	})
	same(t, "ignored", e.Ignored(), []string{"messages[1].content[0]", "messages[1].content[1]", "messages[1].content[2]"})
}

func TestASlipOfTheModelInItsArgumentsIsKept(t *testing.T) {
	for args, want := range map[string]string{
		`""`: `{}`, `"{\"a\":1.0}"`: `{"a":1.0}`, `"{\"a\":"`: `{"arguments":"{\"a\":"}`, `"[1]"`: `{"arguments":"[1]"}`, `"{\"a\":1,\"a\":2}"`: `{"arguments":"{\"a\":1,\"a\":2}"}`, `{"a":1}`: `{"a":1}`,
	} {
		r, err := opened(t, Chat, `{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":`+args+`}}]}]}`).Request()
		if err != nil || string(r.Messages[0].Parts[0].Call.Args) != want {
			t.Errorf("%s: %v %s, want %s", args, err, r.Messages[0].Parts[0].Call.Args, want)
		}
	}
}

func TestANameInANamespaceFitsEveryWire(t *testing.T) {
	long := strings.Repeat("n", 60)
	for _, c := range []struct{ namespace, name, want string }{
		{"", "f", "f"}, {"mcp__relo", "f", "mcp__relo__f"}, {"mcp__relo", "mcp__relo__f", "mcp__relo__f"},
	} {
		if got := flat(c.namespace, c.name); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	a, b := flat(long, "look_at_a"), flat(long, "look_at_b")
	if len(a) != maxName || a == b || a != flat(long, "look_at_a") {
		t.Errorf("%q %q", a, b)
	}
}
