package provider

import (
	"net/http"
	"strconv"
	"strings"
)

// statusOverloaded is Anthropic's own status for an overloaded service (its API
// reference, "Errors": 529 overloaded_error).
const statusOverloaded = 529

// KindOf reads a refusal's status, code and words. Status 200 is for an error
// inside a stream, where the code has to say it all: what it does not name is
// KindBusy, since a request that is wrong is refused before a stream begins.
func KindOf(status int, code, words string) Kind {
	code, words = strings.ToLower(code), strings.ToLower(words)
	// No money is no matter of waiting, whatever the status: OpenAI sends it with
	// 429, Anthropic with 400.
	if noCredit(status, code, words) {
		return KindKey
	}
	if status/100 == 2 {
		return kindOfCode(code)
	}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired, status == http.StatusForbidden:
		return KindKey
	case status == http.StatusRequestEntityTooLarge:
		return KindLarge
	case status == http.StatusNotImplemented:
		return KindRefused
	// Bedrock: 424 is "an error while processing the model", to be tried again.
	case status == http.StatusFailedDependency, status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status >= http.StatusInternalServerError:
		return KindBusy
	case status == http.StatusBadRequest && badKey(code, words):
		return KindKey
	default:
		return KindRefused
	}
}

func kindOfCode(code string) Kind {
	for word := range strings.FieldsSeq(code) { // OpenRouter's code is the status that it would have sent
		if n, err := strconv.Atoi(word); err == nil && n >= http.StatusBadRequest && n <= statusOverloaded {
			return KindOf(n, "", "")
		}
	}
	for _, row := range codeKinds {
		if strings.Contains(code, row.part) {
			return row.kind
		}
	}
	return KindBusy
}

// codeKinds are parts of the codes and types that OpenAI's and Anthropic's
// references list for errors, first match first.
var codeKinds = []struct {
	part string
	kind Kind
}{
	{"authentication", KindKey},
	{"permission", KindKey},
	{"billing", KindKey},
	{"api_key", KindKey},
	{"too_large", KindLarge},
	{"invalid", KindRefused},
	{"unsupported", KindRefused},
	{"not_supported", KindRefused},
	{"not_found", KindRefused},
	{"bad_request", KindRefused},
	{"validation", KindRefused},
	{"content_filter", KindRefused},
}
