package prompt

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/tool"
)

func spec(name, words, schema string) provider.ToolSpec {
	return provider.ToolSpec{Name: name, Description: strings.TrimSpace(words), Schema: json.RawMessage(schema)}
}

// decode reads arguments that fit the schema into a T; the faults say what does not.
func decode[T any](schema string, args json.RawMessage) (T, []string) {
	var out T
	if faults := tool.Check(json.RawMessage(schema), args); len(faults) > 0 {
		_ = json.Unmarshal(args, &out) // what can be read is given with the faults, so that its meaning can be checked too
		return out, faults
	}
	if err := json.Unmarshal(args, &out); err != nil {
		var none T
		return none, []string{fmt.Sprintf("the arguments cannot be read: %v", err)}
	}
	return out, nil
}

// blank adds a fault for each named text that has no words.
func blank(faults []string, named ...[2]string) []string {
	for _, n := range named {
		if strings.TrimSpace(n[1]) == "" {
			faults = append(faults, n[0]+" has no words; say something")
		}
	}
	return faults
}
