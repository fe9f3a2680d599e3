package prompt

import (
	_ "embed"
	"encoding/json"

	"github.com/relo-dev/relo/core/internal/provider"
)

// Question is what an agent asks the person.
type Question struct {
	Question string `json:"question"`
	Picture  string `json:"picture"` // a path in the workspace, or empty
}

//go:embed ask_person.md
var askPersonWords string

const askPersonSchema = `{"type":"object","additionalProperties":false,"required":["question"],"properties":{
"question":{"type":"string","minLength":1,"maxLength":4000,"description":"one question that can be answered without knowing the code"},
"picture":{"type":"string","description":"the path of a picture in the workspace that the question is about"}}}`

// AskPerson is the tool that hands a question to the person.
func AskPerson() provider.ToolSpec { return spec("ask_person", askPersonWords, askPersonSchema) }

// DecodeQuestion reads a question. The faults, when there are any, are all of its form.
func DecodeQuestion(args json.RawMessage) (Question, []string) {
	q, faults := decode[Question](askPersonSchema, args)
	if len(faults) == 0 {
		faults = blank(faults, [2]string{"question", q.Question})
	}
	return q, faults
}
