package prompt

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/relo-dev/relo/core/internal/provider"
)

// Plan is what the Primary submits. Whether its tasks fit together (cycles,
// unknown names, images that do not exist) is for the orchestrator to say.
type Plan struct {
	Summary string     `json:"summary"`
	Tasks   []PlanTask `json:"tasks"`
}

// PlanTask is one task of a plan.
type PlanTask struct {
	ID           string   `json:"id"`
	Title        string   `json:"title"`
	Instructions string   `json:"instructions"`
	Difficulty   string   `json:"difficulty"` // easy, normal, hard
	Vision       bool     `json:"vision"`
	Images       []string `json:"images"`
	DependsOn    []string `json:"depends_on"`
	Files        []string `json:"files"`
	Checks       []string `json:"checks"`
}

//go:embed submit_plan.md
var submitPlanWords string

const submitPlanSchema = `{"type":"object","additionalProperties":false,"required":["summary","tasks"],"properties":{
"summary":{"type":"string","description":"the plan in one or two sentences, for the person"},
"tasks":{"type":"array","minItems":1,"items":{"type":"object","additionalProperties":false,
"required":["id","title","instructions","difficulty"],"properties":{
"id":{"type":"string","minLength":1,"maxLength":64,"description":"a short name, unique in the plan, such as build-form"},
"title":{"type":"string","minLength":1,"maxLength":200,"description":"one line, for the person"},
"instructions":{"type":"string","minLength":1,"description":"everything that the worker needs to know"},
"difficulty":{"type":"string","enum":["easy","normal","hard"]},
"vision":{"type":"boolean","description":"the task is judged by what something looks like; false when absent"},
"images":{"type":"array","items":{"type":"string","minLength":1},"description":"paths of attachments or of pictures in the repository"},
"depends_on":{"type":"array","items":{"type":"string","minLength":1},"description":"ids of tasks that must be merged first"},
"files":{"type":"array","items":{"type":"string","minLength":1},"description":"what the task changes"},
"checks":{"type":"array","items":{"type":"string","minLength":1},"description":"commands that must exit with 0 afterwards"}}}}}}`

// SubmitPlan is the Primary's one tool.
func SubmitPlan() provider.ToolSpec { return spec("submit_plan", submitPlanWords, submitPlanSchema) }

// DecodePlan reads a plan. The faults, when there are any, are all of its form.
func DecodePlan(args json.RawMessage) (Plan, []string) {
	p, faults := decode[Plan](submitPlanSchema, args)
	for i, t := range p.Tasks {
		at := fmt.Sprintf("tasks[%d].", i)
		faults = blank(faults, [2]string{at + "id", t.ID}, [2]string{at + "title", t.Title}, [2]string{at + "instructions", t.Instructions})
	}
	return p, faults
}
