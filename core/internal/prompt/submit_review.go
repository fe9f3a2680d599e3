package prompt

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/relo-dev/relo/core/internal/provider"
)

// Review is a reviewer's verdict.
type Review struct {
	Verdict  string    `json:"verdict"` // accept, rework, reject
	Summary  string    `json:"summary"`
	Findings []Finding `json:"findings"`
}

// Finding is one thing that a reviewer found.
type Finding struct {
	Severity string `json:"severity"` // high, medium, low
	File     string `json:"file"`     // empty: about the whole
	Line     int    `json:"line"`     // from 1; 0: about the whole file
	Text     string `json:"text"`
}

//go:embed submit_review.md
var submitReviewWords string

const submitReviewSchema = `{"type":"object","additionalProperties":false,"required":["verdict","summary"],"properties":{
"verdict":{"type":"string","enum":["accept","rework","reject"]},
"summary":{"type":"string","minLength":1,"description":"the reason for the verdict"},
"findings":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["text"],"properties":{
"severity":{"type":"string","description":"high, medium or low"},
"file":{"type":"string","description":"relative to the workspace; absent when it is about the whole"},
"line":{"type":"integer","minimum":0,"description":"in the file after the change, from 1; 0 or absent when it is about the whole file"},
"text":{"type":"string","minLength":1,"description":"what is wrong, and what would be right"}}}}}}`

// SubmitReview is the tool that ends a review.
func SubmitReview() provider.ToolSpec {
	return spec("submit_review", submitReviewWords, submitReviewSchema)
}

// DecodeReview reads a verdict. The faults, when there are any, are all of its form.
func DecodeReview(args json.RawMessage) (Review, []string) {
	r, faults := decode[Review](submitReviewSchema, args)
	if len(faults) > 0 {
		return r, faults
	}
	faults = blank(faults, [2]string{"summary", r.Summary})
	for i, f := range r.Findings {
		faults = blank(faults, [2]string{fmt.Sprintf("findings[%d].text", i), f.Text})
	}
	if r.Verdict != "accept" && len(r.Findings) == 0 {
		faults = append(faults, "findings is empty; a verdict of "+r.Verdict+" needs at least one that says what is wrong")
	}
	return r, faults
}
