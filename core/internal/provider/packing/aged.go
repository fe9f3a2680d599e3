package packing

import (
	"fmt"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
)

// Aged gives the ids of the views that have become words by age, from the transcript alone.
//
// Only what tools showed ages, since it is paid for on every later request and can be looked at
// again; a task's references, which its first message holds, and whatever a person gave, never do. A
// reference that a tool showed again is a tool's picture. What the model has not answered yet
// does not age. Whenever an answer finds twice keep of tools' pictures alive they age together, the
// oldest first, down to keep: between two such points the beginning of a request stays the same, byte
// for byte, so that a provider's prompt cache holds. More messages never bring a picture back. A
// picture without an id cannot be named and does not age.
func Aged(messages []provider.Message, keep int) map[string]bool {
	keep = max(1, keep)
	aged := map[string]bool{}
	var live []string // in the order of the transcript
	fresh := 0        // how many of the last are not answered yet
	point := func() {
		if len(live) < 2*keep {
			return
		}
		leave := min(len(live)-keep, len(live)-fresh)
		for _, id := range live[:leave] {
			aged[id] = true
		}
		live = live[leave:]
	}
	for _, m := range messages {
		if m.Role == provider.RoleAssistant {
			point()
			fresh = 0
			continue
		}
		for _, p := range m.Parts {
			if p.Result == nil {
				continue
			}
			for _, pic := range p.Result.Pictures {
				if pic.View.ID != "" && !aged[pic.View.ID] {
					live = append(live, pic.View.ID)
					fresh++
				}
			}
		}
	}
	point()
	return aged
}

// List gives the pictures of a transcript in its order, as Plan takes them, but those that
// gone names by the id of their view. Described tells by the SHA-256 whether there are words for one.
func List(messages []provider.Message, gone map[string]bool, described func(sha256 string) bool) []Picture {
	last := -1
	for i, m := range messages {
		if m.Role == provider.RoleAssistant {
			last = i
		}
	}
	var out []Picture
	add := func(at int, pic provider.Picture, tool bool) {
		if pic.View.ID != "" && gone[pic.View.ID] {
			return
		}
		out = append(out, Picture{
			Key: pic.SHA256, View: pic.View.ID, Width: pic.Width, Height: pic.Height, Bytes: len(pic.Bytes), MediaType: pic.MediaType,
			Tool: tool, Unanswered: at > last, Described: described != nil && described(pic.SHA256),
		})
	}
	for i, m := range messages {
		for _, p := range m.Parts {
			if p.Picture != nil {
				add(i, *p.Picture, false)
			}
			if p.Result != nil {
				for _, pic := range p.Result.Pictures {
					add(i, pic, true)
				}
			}
		}
	}
	return out
}

// PictureLine is what stands in the place of a picture that was shown and is no longer
// sent. Words are its description, empty when nobody described it; again says that the model has a tool
// to look at it once more.
func PictureLine(p provider.Picture, why Reason, words string, again bool) string {
	name := p.View.Path
	if name == "" {
		name = "without a name"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[The picture %q (%d×%d) ", name, p.Width, p.Height)
	switch why {
	case Count:
		b.WriteString("is not attached: one request takes no more pictures.")
	case Request, Bytes, Edge, Small, Kind:
		b.WriteString("is not attached: it does not fit into one request.")
	default:
		b.WriteString("was shown earlier and is no longer attached.")
	}
	if again {
		b.WriteString(" Look again with relo_image if you need it.")
	}
	if words = strings.TrimSpace(words); words != "" {
		// The words come from what a picture shows: they are framed as content, never as speech.
		fmt.Fprintf(&b, " It was described so: %q", clip(words, describedLine-plainLine))
	}
	b.WriteString("]")
	return b.String()
}
