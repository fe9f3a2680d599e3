package double

import "net/http"

// wires are what the double speaks, each at its own paths. A wire that is no stream of
// server-sent events is a framer too, one with its own header for the key a keyer, one
// whose key is signed with a prover, one with headers of its own a labeller, and one with its own words for a status that a player asks for a grumbler.
var wires = []struct {
	wire     wire
	patterns []string
}{
	{chatWire{}, []string{"/v1/chat/completions"}},
	{messagesWire{}, []string{"/v1/messages"}},
	{ollamaWire{}, []string{"/api/chat", "/v1/api/chat"}},
	{bedrockWire{}, bedrockPaths},
	{responsesWire{}, []string{"/v1/responses"}},
	{geminiWire{}, geminiPaths},
}

// framer says how a wire's events are written.
type framer interface {
	frame(e event) string
	contentType() string
}

// keyer finds the key in a request.
type keyer interface {
	key(r *http.Request) string
}

// prover checks a key that is not sent but signed with.
type prover interface {
	proves(r *http.Request, body []byte, key string) bool
}

// labeller adds headers to an answer, or to a refusal.
type labeller interface {
	label(h http.Header, rec *Record, no *refusal)
}

// grumbler gives the words for a status that a player asks for.
type grumbler interface {
	usual(status int) *refusal
}

// toolless refuses the tools of a request to a model that calls none.
type toolless interface {
	noTools(model string) *refusal
}

func frameOf(w wire, e event) string {
	if f, ok := w.(framer); ok {
		return f.frame(e)
	}
	frame := "data: " + e.data + "\n\n"
	if e.name != "" {
		frame = "event: " + e.name + "\n" + frame
	}
	return frame
}

func contentTypeOf(w wire) string {
	if f, ok := w.(framer); ok {
		return f.contentType()
	}
	return "text/event-stream"
}

func labelled(w wire, h http.Header, rec *Record, no *refusal) {
	if l, ok := w.(labeller); ok {
		l.label(h, rec, no)
	}
}

func usualOf(w wire, status int) *refusal {
	if g, ok := w.(grumbler); ok {
		return g.usual(status)
	}
	return usual(w.name(), status)
}
