package provider

import (
	"errors"
	"fmt"
)

// ErrCalls says that the tool calls of an answer cannot be told apart or named.
var ErrCalls = errors.New("the tool calls cannot be read")

// NameCalls readies the ids of an answer's calls. An id that is missing, or was
// used before in the transcript (some servers count from 0 in every answer), is
// replaced by a fresh one, since a result and a picture's view are known by it.
// Two calls of one answer with the same id, and a call without a name, are ErrCalls.
func NameCalls(calls []*Call, before []Message) error {
	used := map[string]bool{}
	for _, m := range before {
		for _, p := range m.Parts {
			if p.Kind == PartCall && p.Call != nil {
				used[p.Call.ID] = true
			}
		}
	}
	now := map[string]bool{}
	for _, c := range calls {
		if c.Name == "" {
			return fmt.Errorf("%w: one has no name", ErrCalls)
		}
		if c.ID != "" && now[c.ID] {
			return fmt.Errorf("%w: two have the id %.40q", ErrCalls, c.ID)
		}
		now[c.ID] = true
	}
	next := len(used)
	for _, c := range calls {
		for c.ID == "" || used[c.ID] {
			next++
			if fresh := fmt.Sprintf("call_relo_%d", next); !now[fresh] {
				c.ID = fresh
			}
		}
		used[c.ID] = true
	}
	return nil
}
