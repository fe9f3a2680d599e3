package envelope

import (
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
)

// foreignMark begins a signature that a model behind another wire gave. It is in front of
// those that are empty too.
const foreignMark = "relo."

// signature gives the signature of a thought as the program is told it.
func (a *Answer) signature(p provider.Part) string {
	if a.foreign {
		return foreignMark + p.Signature
	}
	return p.Signature
}

// unmarked gives a signature as its model gave it.
func unmarked(signature string) string { return strings.TrimPrefix(signature, foreignMark) }

// foreign takes thoughts out that the wire's own provider cannot read. Anthropic refuses a
// thinking block whose signature is empty or of another model with 400, for the rest of the
// dialogue ("Invalid `signature` in `thinking` block", router-for-me/CLIProxyAPI#2172,
// james-6-23/codex2api#613), and lets thoughts of earlier turns be left out.
func (e *Envelope) foreign() []splice {
	root := e.doc.root()
	if e.Wire == Responses {
		return without(root.at("input"), func(item value) bool {
			return item.at("type").text() == "reasoning" && strings.HasPrefix(item.at("encrypted_content").text(), foreignMark)
		}, "")
	}
	if e.Wire != Messages {
		return nil
	}
	var all []splice
	for _, m := range root.at("messages").items() {
		all = append(all, without(m.at("content"), func(block value) bool {
			switch block.at("type").text() {
			case "thinking":
				signature := block.at("signature").text()
				return signature == "" || strings.HasPrefix(signature, foreignMark)
			case "redacted_thinking":
				return strings.HasPrefix(block.at("data").text(), foreignMark)
			}
			return false
		}, `{"type":"text","text":"(thinking)"}`)...)
	}
	return all
}

// without takes elements out of a list with their commas. A list of which nothing would be left keeps
// instead, or stays as it is when that is empty: no wire takes an empty message.
func without(list value, out func(value) bool, instead string) []splice {
	var all []splice
	var gone []bool
	var nodes []node
	kept := 0
	for _, v := range list.items() {
		g := out(v)
		if nodes, gone = append(nodes, v.node()), append(gone, g); !g {
			kept++
		}
	}
	if kept == len(nodes) || (kept == 0 && instead == "") {
		return nil
	}
	first := kept == 0 // whether an element that stays stands before
	for i, n := range nodes {
		switch {
		case !gone[i]:
			first = true
		case i == 0 && kept == 0:
			all = append(all, splice{n.start, n.end, []byte(instead)})
		case first:
			all = append(all, splice{nodes[i-1].end, n.end, nil})
		default:
			all = append(all, splice{n.start, nodes[i+1].start, nil})
		}
	}
	return all
}
