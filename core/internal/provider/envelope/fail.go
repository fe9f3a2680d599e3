package envelope

import (
	"net/http"

	"github.com/relo-dev/relo/core/internal/provider"
)

// obj is a JSON object that is written.
type obj = map[string]any

const (
	statusOverloaded = 529 // Anthropic's own (its API reference, "Errors")
	// invalid is the type of an error that the program makes, on every wire.
	invalid = "invalid_request_error"
)

// anthropicTypes are the types of Anthropic's reference, "Errors".
var anthropicTypes = map[int]string{
	http.StatusUnauthorized: "authentication_error", http.StatusPaymentRequired: "billing_error",
	http.StatusForbidden: "permission_error", http.StatusNotFound: "not_found_error",
	http.StatusRequestEntityTooLarge: "request_too_large", http.StatusTooManyRequests: "rate_limit_error",
	http.StatusGatewayTimeout: "timeout_error", http.StatusServiceUnavailable: "overloaded_error", statusOverloaded: "overloaded_error",
}

// openAITypes are those of OpenAI's guide, "Error codes", as its API sends them.
var openAITypes = map[int]string{
	http.StatusUnauthorized: "authentication_error", http.StatusForbidden: "permission_error", http.StatusTooManyRequests: "rate_limit_error",
}

// kindOfStatus gives an error's type in a wire's words.
func kindOfStatus(w Wire, status int) string {
	types, server := openAITypes, "server_error"
	if w == Messages {
		types, server = anthropicTypes, "api_error"
	}
	switch word, ok := types[status]; {
	case ok:
		return word
	case status >= http.StatusInternalServerError:
		return server
	}
	return invalid
}

// codes are what OpenAI's clients look at: Codex takes every code that it does not know for
// one that may be tried again (openai/codex, codex-api/src/sse/responses.rs).
var codes = map[provider.Kind]string{
	provider.KindRefused: "invalid_prompt", provider.KindKey: "insufficient_quota", provider.KindBusy: "rate_limit_exceeded",
	provider.KindLarge: "context_length_exceeded",
}

// statuses are for failures that came without a status of their own. A key that is wrong
// is not the program's: its own was accepted.
var statuses = map[provider.Kind]int{
	provider.KindRefused: http.StatusBadRequest, provider.KindKey: http.StatusForbidden, provider.KindBusy: http.StatusServiceUnavailable,
	provider.KindCut: http.StatusBadGateway, provider.KindStalled: http.StatusGatewayTimeout, provider.KindMalformed: http.StatusBadGateway,
	provider.KindLarge: http.StatusRequestEntityTooLarge,
}

// statusOf gives the status to answer with.
func statusOf(status int, kind provider.Kind) int {
	if status >= http.StatusBadRequest && status <= 599 {
		return status
	}
	if s, ok := statuses[kind]; ok {
		return s
	}
	return http.StatusInternalServerError
}

// failure writes an error document.
func failure(w Wire, kind, words, field string) []byte {
	return encoded(complaint(w, kind, words, field, ""))
}

func complaint(w Wire, kind, words, field, code string) obj {
	if w == Messages {
		return obj{"type": "error", "error": obj{"type": kind, "message": words}}
	}
	return obj{"error": obj{"type": kind, "message": words, "param": orNull(field), "code": orNull(code)}}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// encoded writes JSON, < and & as they are. Nothing is written here that cannot be.
func encoded(v any) []byte {
	data, err := marshal(v)
	if err != nil {
		return []byte("{}")
	}
	return data
}

// Fail gives status and body of an answer that failed before its stream began, or that is
// no stream. A status below 400 is replaced by what the kind calls for. Words go to another
// program: whoever gives them keeps keys out.
func (a *Answer) Fail(status int, kind provider.Kind, words string) (int, []byte) {
	status = statusOf(status, kind)
	return status, encoded(complaint(a.e.Wire, kindOfStatus(a.e.Wire, status), words, "", codes[kind]))
}

// FailEvent gives the last bytes of a stream that failed after it had begun.
func (a *Answer) FailEvent(kind provider.Kind, words string) []byte {
	if a.done {
		return nil
	}
	a.done = true
	word, code := kindOfStatus(a.e.Wire, statusOf(0, kind)), codes[kind]
	switch a.e.Wire {
	case Messages:
		a.event("error", complaint(a.e.Wire, word, words, "", ""))
	case Responses:
		if code == "" {
			code = "server_error"
		}
		a.begin()
		// OpenAI's reference has the fields flat, its API nests them (vercel/ai#16021): both are
		// written, since clients look for either.
		a.say("error", obj{"code": code, "message": words, "param": nil, "error": obj{"type": word, "code": code, "message": words, "param": nil}})
		failed := a.response("failed")
		failed["error"] = obj{"code": code, "message": words}
		a.say("response.failed", obj{"response": failed})
	default:
		a.event("", complaint(a.e.Wire, word, words, "", code))
	}
	return a.take()
}
