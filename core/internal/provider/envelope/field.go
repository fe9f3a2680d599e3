package envelope

import "fmt"

// rule is what becomes of a field of a request that goes to another wire. A field without
// a rule is left out and named in Ignored.
type rule struct {
	read  bool             // it is said in Relo's nouns
	stops func(value) bool // it may not be left out when this holds
	do    string           // then: what the program's person can do
}

var (
	read = rule{read: true}
	// inert fields do nothing but for the sender's own bookkeeping, or are read in another place.
	inert = rule{read: true}
)

func said(v value) bool { return !v.empty() }

func over1(v value) bool { n, ok := v.whole(); return !ok || n > 1 }

// formed reports an output format other than plain text.
func formed(v value) bool {
	if v.at("format").kind() == kindObject {
		v = v.at("format")
	} else if v.at("verbosity").given() && !v.at("type").given() {
		return false // Responses: text.verbosity alone
	}
	return v.given() && v.at("type").text() != "text" && v.at("type").given()
}

func notOnlyText(v value) bool {
	for _, m := range v.items() {
		if m.text() != "text" {
			return true
		}
	}
	return false
}

const (
	oneAnswer = "only one answer is given: leave it out or set it to 1"
	noSchema  = "a fixed output format is not passed on: ask for it in words, or offer a tool whose parameters have that shape"
	wholeSelf = "nothing is kept between requests: send the whole dialogue each time"
)

// fieldRules are the fields of each wire that are read or that cannot be left out, from the API references
// of OpenAI ("Create chat completion", "Create a model response") and Anthropic ("Create a
// Message"), 2026-11.
var fieldRules = map[Wire]map[string]rule{
	Chat: {
		"model": read, "messages": read, "tools": read, "tool_choice": read, "stream": inert, "stream_options": inert,
		"max_tokens": read, "max_completion_tokens": read, "prompt_cache_key": read,
		"n":                  {stops: over1, do: oneAnswer},
		"logprobs":           {stops: value.truth, do: "probabilities of tokens are not passed on: leave it out"},
		"top_logprobs":       {stops: said, do: "probabilities of tokens are not passed on: leave it out"},
		"logit_bias":         {stops: said, do: "tokens differ from model to model: leave it out"},
		"modalities":         {stops: notOnlyText, do: `only text comes back: leave it out or say ["text"]`},
		"audio":              {stops: said, do: "only text comes back: leave it out"},
		"stop":               {stops: said, do: "words that end an answer are not passed on: leave it out"},
		"response_format":    {stops: formed, do: noSchema},
		"web_search_options": {stops: value.given, do: "no search runs at this model's provider: offer a tool of your own"},
		"functions":          {stops: said, do: "send them as tools"},
		"function_call":      {stops: said, do: "send it as tool_choice"},
	},
	Responses: {
		"model": read, "input": read, "instructions": read, "tools": read, "tool_choice": read, "stream": inert, "stream_options": inert,
		"max_output_tokens": read, "prompt_cache_key": read,
		"previous_response_id": {stops: said, do: wholeSelf},
		"conversation":         {stops: said, do: wholeSelf},
		"background":           {stops: value.truth, do: "answers are not made in the background: leave it out"},
		"prompt":               {stops: said, do: "a prompt that is kept at the provider is not known here: send its text"},
		"top_logprobs":         {stops: said, do: "probabilities of tokens are not passed on: leave it out"},
		"text":                 {stops: formed, do: noSchema},
	},
	Messages: {
		"model": read, "messages": read, "system": read, "tools": read, "tool_choice": read, "stream": inert,
		"max_tokens":     read,
		"stop_sequences": {stops: said, do: "words that end an answer are not passed on: leave it out"},
		"mcp_servers":    {stops: said, do: "no tool server is reached from the model's provider: offer its tools as tools"},
		"container":      {stops: said, do: "no container runs at this model's provider: leave it out"},
		"output_format":  {stops: formed, do: noSchema},
		"output_config":  {stops: func(v value) bool { return v.at("format").given() }, do: noSchema},
	},
}

// fields goes over the request's own fields in their order.
func (t *reading) fields() error {
	root := t.e.doc.root()
	for name, v := range root.members() {
		r := fieldRules[t.e.Wire][name]
		switch {
		case !v.given() || r.read:
		case r.stops != nil && r.stops(v):
			return bad(name, "%s cannot be passed on to this model: %s", name, r.do)
		case r.stops == nil || v.kind() == kindObject: // an object may say more than what it may not
			t.ignore(name)
		}
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens"} {
		v := root.at(name)
		if !v.given() || !fieldRules[t.e.Wire][name].read {
			continue
		}
		n, ok := v.whole()
		if !ok || n == 0 {
			return bad(name, "%s must be a whole number over 0", name)
		}
		t.r.MaxTokens = n
	}
	t.r.CacheKey = root.at("prompt_cache_key").text()
	return nil
}

// place writes the path of a list's element.
func place(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }
