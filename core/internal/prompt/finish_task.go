package prompt

import (
	_ "embed"
	"encoding/json"

	"github.com/relo-dev/relo/core/internal/provider"
)

// Finish is a worker's or debugger's report.
type Finish struct {
	Outcome string `json:"outcome"` // done, blocked
	Summary string `json:"summary"`
	Visual  []Seen `json:"visual"`
	Notes   string `json:"notes"`
}

// Seen is what an agent says of one picture. What it was shown is in the record.
type Seen struct {
	Path    string `json:"path"`
	Verdict string `json:"verdict"`
}

//go:embed finish_task.md
var finishTaskWords string

const finishTaskSchema = `{"type":"object","additionalProperties":false,"required":["outcome","summary"],"properties":{
"outcome":{"type":"string","enum":["done","blocked"]},
"summary":{"type":"string","minLength":1,"description":"what was done, and how it was proved; when blocked, what is in the way"},
"visual":{"type":"array","description":"one entry a picture that was compared","items":{"type":"object","additionalProperties":false,
"required":["path","verdict"],"properties":{
"path":{"type":"string","minLength":1,"description":"the picture, relative to the workspace"},
"verdict":{"type":"string","minLength":1,"description":"what was seen and whether it matches, or that visual verification was unavailable"}}}},
"notes":{"type":"string","description":"what the reviewer or the person should know"}}}`

// FinishTask is the tool that ends a worker's or debugger's task.
func FinishTask() provider.ToolSpec { return spec("finish_task", finishTaskWords, finishTaskSchema) }

// DecodeFinish reads a report. The faults, when there are any, are all of its form.
func DecodeFinish(args json.RawMessage) (Finish, []string) {
	f, faults := decode[Finish](finishTaskSchema, args)
	if len(faults) == 0 {
		faults = blank(faults, [2]string{"summary", f.Summary})
	}
	return f, faults
}
