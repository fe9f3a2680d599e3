package provider

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/httpwire"
)

// Fault names what is wrong in a way that a person can mend. It is finer than
// Kind: a key without credit and a refused key are one Kind, since Relo does the
// same about both, and two Faults, since the person does not. Empty: no more is
// known than the provider's words.
type Fault string

// The faults. Those of a connection are httpwire's troubles under the same names.
const (
	FaultNoKey  Fault = "key-missing"
	FaultKey    Fault = "key-refused"
	FaultAccess Fault = "key-not-allowed" // good, but not for this
	FaultCredit Fault = "no-credit"       // good, but nothing left to pay with
	FaultModel  Fault = "model-not-found"
	FaultPath   Fault = "path-not-found" // nothing at this address of the host
	FaultPage   Fault = "web-page"       // HTML where an answer was due
	FaultBusy   Fault = "busy"           // too many requests for now
	FaultTools  Fault = "no-tools"       // the model calls no tools
)

// Place is what the words of an error need to know of the request.
type Place struct {
	KeyRef string // where the key is kept, as env:NAME; never the key; empty: none is sent
	URL    string // of the endpoint
}

func (p Place) host() string {
	u, err := url.Parse(p.URL)
	if err != nil || u.Host == "" {
		return "the provider"
	}
	return httpwire.Plain(u.Host)
}

// Tell finds the fault, and puts our reading of it before the provider's own
// words. It is called once, when Provider and Model are set.
func (e *Error) Tell(p Place) {
	if e.Fault != "" && e.Hint != "" {
		return // who made it knew
	}
	e.Fault = e.fault()
	if e.Fault == FaultKey && p.KeyRef == "" {
		e.Fault = FaultNoKey
	}
	if e.Fault == FaultPage {
		e.Kind = KindMalformed
		e.Words = strings.TrimPrefix(e.Words, httpwire.PageWords)
	}
	if e.Fault != "" {
		e.Words = e.reading(p) + ": " + e.Words
	} else if trouble, words := httpwire.Diagnose(e.Cause, p.host()); trouble != "" {
		e.Fault, e.Words = Fault(trouble), words // the transport's own words say nothing more
	}
	e.Hint = e.hint(p)
}

func (e *Error) reading(p Place) string {
	switch e.Fault {
	case FaultNoKey:
		return "a key is asked for and none is set"
	case FaultKey:
		return fmt.Sprintf("the key (%s) was refused", p.KeyRef)
	case FaultCredit:
		return fmt.Sprintf("the key (%s) is good, but its account has no credit", p.KeyRef)
	case FaultAccess:
		return fmt.Sprintf("the key (%s) is good, but may not do this", p.KeyRef)
	case FaultModel:
		return fmt.Sprintf("there is no model %q at %s", e.Model, e.Provider)
	case FaultPath:
		return fmt.Sprintf("there is nothing at this address of %s", p.host())
	case FaultPage:
		return fmt.Sprintf("%s sent a web page (HTML) instead of an answer", p.host())
	case FaultTools:
		return fmt.Sprintf("%s cannot call tools, and Relo's agents work with tools", e.Model)
	case FaultBusy:
		if e.RetryAfter > 0 {
			return "too many requests for now, it asks to wait " + e.RetryAfter.Round(time.Second).String()
		}
		return "too many requests for now"
	}
	return "the proxy wants a name and a password"
}

// wholePage in bytes: a server that says no more than "404 page not found" knows
// nothing of models; who has a reason says more.
const wholePage = 24

// fault reads the status, the code and the words.
func (e *Error) fault() Fault {
	words, code := strings.ToLower(e.Words), strings.ToLower(e.Code)
	page := strings.HasPrefix(e.Words, httpwire.PageWords)
	switch {
	case e.Status == http.StatusProxyAuthRequired:
		return Fault(httpwire.TroubleProxy)
	case page && (e.Kind == KindMalformed || e.Kind == KindRefused || e.Status == http.StatusForbidden):
		return FaultPage
	case e.Kind == KindKey && noCredit(e.Status, code, words):
		return FaultCredit
	case e.Kind == KindKey && e.Status == http.StatusForbidden && !badKey(code, words):
		return FaultAccess
	case e.Kind == KindKey:
		return FaultKey
	case e.Kind == KindBusy && e.Status == http.StatusTooManyRequests:
		return FaultBusy
	case e.Kind != KindRefused:
		return ""
	case anyOf(toolWords, words):
		return FaultTools
	case strings.Contains(code, "model_not_found"), anyOf(modelWords, words):
		return FaultModel
	case e.Status == http.StatusNotFound && e.Model != "" && (strings.Contains(words, "model") || strings.Contains(words, strings.ToLower(e.Model))):
		return FaultModel
	case e.Status == http.StatusNotFound && len(words) < wholePage && (strings.Contains(words, "not found") || words == "(no words)"):
		return FaultPath
	}
	return ""
}

func anyOf(parts []string, words string) bool {
	for _, p := range parts {
		if strings.Contains(words, p) {
			return true
		}
	}
	return false
}

// toolWords are parts of refusals of tools, in the words of Ollama ("… does not
// support tools"), OpenRouter ("No endpoints found that support tool use"), vLLM
// ("\"auto\" tool choice requires --enable-auto-tool-choice") and Groq.
var toolWords = []string{
	"does not support tools", "support tool use", "tool choice requires", "tools are not supported", "tool calling is not supported",
	"does not support tool", "does not support function calling", "`tool calling` is not supported",
}

// modelWords are parts of what is said of a model that is not there, beside a 404:
// OpenRouter, Mistral, DeepSeek, Z.ai, Bedrock (with 400).
var modelWords = []string{"is not a valid model", "invalid model", "model not exist", "unknown model", "model identifier is invalid"}

// noCredit reports whether there is nothing left to pay with.
func noCredit(status int, code, words string) bool {
	return status == http.StatusPaymentRequired || anyOf(creditCodes, code) || anyOf(creditWords, words)
}

// The codes of OpenAI and Moonshot, and the words of Anthropic, DeepSeek, Z.ai,
// OpenRouter, xAI and Alibaba; each in its own documentation of errors.
var (
	creditCodes = []string{"insufficient_quota", "exceeded_current_quota", "billing_hard_limit", "arrearage"}
	creditWords = []string{
		"credit balance is too low", "insufficient balance", "insufficient credits", "requires more credits", "have any credits", "available credits",
		"check your plan and billing details",
	}
)

func badKey(code, words string) bool { return anyOf(keyCodes, code) || anyOf(keyWords, words) }

// Google and xAI refuse a key with 400 and these; AWS with 403 (its "Common errors",
// opencode#47073, OpenKB#204), which of others means that a good key may not do this.
var (
	keyCodes = []string{
		"invalid_api_key", "api_key_invalid", "authentication_error",
		"unrecognizedclient", "invalidsignature", "incompletesignature", "expiredtoken", "invalidclienttokenid", "missingauthenticationtoken",
	}
	keyWords = []string{
		"api key not valid", "incorrect api key", "invalid api key", "invalid x-api-key", "no auth credentials",
		"make sure your api key is valid", "security token included in the request is",
	}
)

// hint says what to do about the fault.
func (e *Error) hint(p Place) string {
	if e.Fault == FaultKey || e.Fault == FaultNoKey {
		return KeyHint(p.KeyRef, e.Provider)
	}
	if e.Fault == FaultModel {
		return fmt.Sprintf("relo providers test %s lists what it has", e.Provider)
	}
	return hints[e.Fault]
}

var hints = map[Fault]string{ //nolint:gosec // words, no credentials
	FaultCredit: "add credit at the provider, or name another model",
	FaultAccess: "ask for access at the provider, or name another model",
	FaultPath:   "look at the provider's url; most end in /v1",
	FaultPage:   "look at the provider's url, most end in /v1; a login page or a company's proxy answers like this too",
	FaultBusy:   "Relo waits and asks again; fewer workers.local ask less at once",
	FaultTools:  `name another model, or set "tools": false on this one so that no task is given to it`,

	Fault(httpwire.TroubleHost):      "look at the provider's url, and whether this machine is online",
	Fault(httpwire.TroubleRefused):   "start the server, or look at the port in the provider's url",
	Fault(httpwire.TroubleAway):      "look at the network, a VPN or a firewall",
	Fault(httpwire.TroubleAuthority): `if a company's proxy reads the traffic, put its certificate into a file and name that as the provider's "caFile"`,
	Fault(httpwire.TroubleName):      "look at the host in the provider's url",
	Fault(httpwire.TroubleDate):      "look at this machine's clock; if it is right, the host must renew its certificate",
	Fault(httpwire.TroubleTLS):       "look whether the provider's url should begin with http://, which is allowed to loopback and private addresses",
	Fault(httpwire.TroubleProxy):     "look at HTTPS_PROXY and HTTP_PROXY; NO_PROXY names the hosts that are asked directly",
}

// KeyHint says where the right key is to be put.
func KeyHint(ref, name string) string {
	place, rest, _ := strings.Cut(ref, ":")
	switch place {
	case "env":
		return fmt.Sprintf("put a key that %s accepts into the variable %s", name, rest)
	case "file":
		return fmt.Sprintf("put a key that %s accepts into the file %s", name, rest)
	case "keyring":
		return fmt.Sprintf("relo providers add %s --key-stdin stores another", name)
	case "cmd":
		return "look at what the command of its key prints"
	case "aws":
		return fmt.Sprintf("look whether AWS's credentials (profile %s) are good and may use Bedrock: aws sts get-caller-identity", rest)
	}
	return fmt.Sprintf("relo providers add %s --key-stdin stores one", name)
}
