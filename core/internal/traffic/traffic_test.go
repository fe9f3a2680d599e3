package traffic

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/vision"
)

func TestAnAnswerTravelsAndComesBack(t *testing.T) {
	n := int64(5)
	want := Answer{By: "p/m", Blind: []string{"v1"}, Response: provider.Response{
		Message: provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{
			provider.Text("hi"),
			{Kind: provider.PartReasoning, Text: "hm", Signature: "sig"},
			{Kind: provider.PartCall, Call: &provider.Call{ID: "c", Name: "read", Args: json.RawMessage(`{"path":"a"}`)}},
		}},
		Stop: provider.StopCalls, Usage: provider.Usage{TokensIn: &n}, RequestID: "r",
		Receipts: []provider.Receipt{{SHA256: "s", Place: "messages[0]", Bytes: 3, MediaType: "image/png", View: vision.View{ID: "v2", Role: vision.Result}}},
	}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Answer
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-sent +got):\n%s", diff)
	}
}

func TestWhyThereIsNoAnswerIsAWordThatWrappingKeeps(t *testing.T) {
	if e, ok := errors.AsType[*BudgetError](fmt.Errorf("call: %w", &BudgetError{Words: "spent"})); !ok || e.Error() != "spent" {
		t.Errorf("%v", e)
	}
	if e, ok := errors.AsType[*MissingError](fmt.Errorf("call: %w", &MissingError{SHA256: []string{"a", "b"}})); !ok || e.Error() != "2 pictures of the request are not at hand" {
		t.Errorf("%v", e)
	}
}
