package double

import (
	"encoding/json"
	"net/http"
)

// refusal is a rule broken, in the words of the provider.
type refusal struct {
	status int
	kind   string // error.type
	code   string // error.code, on the chat wire
	param  string // error.param, on the chat wire
	words  string
	body   string // instead of the wire's own shape
}

func invalid(words string) *refusal {
	return &refusal{status: http.StatusBadRequest, kind: "invalid_request_error", words: words}
}

func invalidCode(code, param, words string) *refusal {
	r := invalid(words)
	r.code, r.param = code, param
	return r
}

// chatError is an error body as OpenAI's API reference shows it.
func chatError(r *refusal) string {
	if r.body != "" {
		return r.body
	}
	return toJSON(map[string]any{"error": map[string]any{
		"message": r.words, "type": r.kind, "param": orNull(r.param), "code": orNull(r.code),
	}})
}

// messagesError is an error body as Anthropic's documentation shows it ("Errors").
func messagesError(r *refusal) string {
	if r.body != "" {
		return r.body
	}
	return toJSON(map[string]any{"type": "error", "error": map[string]any{"type": r.kind, "message": r.words}})
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// toJSON marshals what the double itself has made.
func toJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil { // a player's Args that JSON cannot hold
		return "null"
	}
	return string(b)
}

// usual is what a provider says for a status that a player asks for.
func usual(wire string, status int) *refusal {
	row, ok := usualWords[status]
	if !ok {
		row = usualWords[http.StatusInternalServerError]
	}
	kind := row.chat
	if wire == WireAnthropic {
		kind = row.messages
	}
	return &refusal{status: status, kind: kind, code: row.code, words: row.words}
}

// usualWords: the types are those of the two references' pages on errors.
var usualWords = map[int]struct{ chat, messages, code, words string }{
	http.StatusBadRequest:            {"invalid_request_error", "invalid_request_error", "", "Bad request"},
	http.StatusUnauthorized:          {"invalid_request_error", "authentication_error", "invalid_api_key", "Incorrect API key provided"},
	http.StatusPaymentRequired:       {"insufficient_quota", "billing_error", "insufficient_quota", "Your credit balance is too low to access the API"},
	http.StatusForbidden:             {"invalid_request_error", "permission_error", "", "Your API key does not have permission to use the specified resource"},
	http.StatusNotFound:              {"invalid_request_error", "not_found_error", "", "Not found"},
	http.StatusRequestEntityTooLarge: {"invalid_request_error", "request_too_large", "", "Request exceeds the maximum size"},
	http.StatusTooManyRequests:       {"requests", "rate_limit_error", "rate_limit_exceeded", "Rate limit reached"},
	http.StatusInternalServerError:   {"server_error", "api_error", "", "The server had an error while processing your request"},
	http.StatusServiceUnavailable:    {"server_error", "api_error", "", "The engine is currently overloaded, please try again later"},
	529:                              {"server_error", "overloaded_error", "", "Overloaded"},
}
