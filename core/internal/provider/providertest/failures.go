package providertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/secret"
)

// failing plays one reply and gives the error that came of it.
func failing(t *testing.T, w Wire, reply double.Reply, kind provider.Kind) *provider.Error {
	t.Helper()
	s := open(t, w, double.Options{Play: always(reply)}, patient)
	resp, err := s.client.Stream(t.Context(), ask(sees), nil)
	if len(resp.Message.Parts) != 0 || len(resp.Receipts) != 0 {
		t.Errorf("a response came with the error: %+v", resp)
	}
	return fails(t, err, kind)
}

func falseTranscript(t *testing.T, w Wire) {
	s := open(t, w, double.Options{}, patient)
	for _, m := range []provider.Message{
		user(call("x", "read", `{}`)),
		assistant(provider.Show(draw(t, "a.png", 1))),
		{Role: provider.RoleTool, Parts: []provider.Part{provider.Text("no result")}},
		{Role: "robot", Parts: []provider.Part{provider.Text("x")}},
	} {
		_, err := s.client.Stream(t.Context(), ask(sees, m), nil)
		fails(t, err, provider.KindRefused)
	}
	if n := len(s.double.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func busy(t *testing.T, w Wire) {
	e := failing(t, w, double.Reply{Status: 429, Header: map[string]string{"Retry-After": "17"}}, provider.KindBusy)
	_, said, _ := strings.Cut(e.Words, ": ") // behind our reading
	if e.RetryAfter != 17*time.Second || e.Status != 429 || (e.Code == "") != w.lacks(t, LackCode) || said == "" || !strings.Contains(e.Body, said) {
		t.Errorf("%#v", e)
	}
	date := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	e = failing(t, w, double.Reply{Status: 529, Header: map[string]string{"Retry-After": date}}, provider.KindBusy)
	if e.RetryAfter < 58*time.Minute || e.RetryAfter > time.Hour {
		t.Errorf("a date an hour away is %v", e.RetryAfter)
	}
	for status, kind := range map[int]provider.Kind{
		500: provider.KindBusy, 503: provider.KindBusy, 408: provider.KindBusy, 413: provider.KindLarge,
		404: provider.KindRefused, 422: provider.KindRefused, 403: provider.KindKey, 402: provider.KindKey,
	} {
		failing(t, w, double.Reply{Status: status}, kind)
	}
}

func wrongKey(t *testing.T, w Wire) {
	s := open(t, w, double.Options{}, patient)
	_, err := w.New(s.url, secret.New("sk-another-key-00000"), patient).Stream(t.Context(), ask(sees), nil)
	if e := fails(t, err, provider.KindKey); (e.Status != 401 && e.Status != 403 && e.Status != 400) || e.Fault != provider.FaultKey {
		t.Errorf("status %d, fault %q", e.Status, e.Fault)
	}
	_, err = s.client.Stream(t.Context(), ask("nobody-knows-it"), nil)
	if e := fails(t, err, provider.KindRefused); e.Status != 404 && e.Status != 400 {
		t.Errorf("status %d", e.Status)
	}
}

// faultsAreNamed: whichever wire it comes over, a person reads the same.
func faultsAreNamed(t *testing.T, w Wire) {
	for _, row := range []struct {
		reply double.Reply
		kind  provider.Kind
		fault provider.Fault
	}{
		{double.Reply{Status: 401}, provider.KindKey, provider.FaultKey},
		{double.Reply{Status: 402}, provider.KindKey, provider.FaultCredit},
		{double.Reply{Status: 403}, provider.KindKey, provider.FaultAccess},
		{double.Reply{Status: 429}, provider.KindBusy, provider.FaultBusy},
		{double.Reply{Raw: "<html>Sign in</html>", RawType: "text/html"}, provider.KindMalformed, provider.FaultPage},
		{double.Reply{Status: 400, ErrorBody: `{"error":{"message":"m does not support tools"}}`}, provider.KindRefused, provider.FaultTools},
	} {
		if e := failing(t, w, row.reply, row.kind); e.Fault != row.fault || e.Hint == "" || !strings.Contains(e.Error(), e.Hint) {
			t.Errorf("%d is %q: %v", row.reply.Status, e.Fault, e)
		}
	}
	s := open(t, w, double.Options{}, patient)
	_, err := s.client.Stream(t.Context(), ask("nobody-knows-it"), nil)
	if e := fails(t, err, provider.KindRefused); e.Fault != provider.FaultModel {
		t.Errorf("an unknown model is %q: %v", e.Fault, e)
	}
}

func keyNowhere(t *testing.T, w Wire) {
	echo := `{"error":{"message":"the key ` + key + ` is bad","type":"invalid_request_error","code":"` + key + `"}}`
	for name, reply := range map[string]double.Reply{
		"body":             {Status: 400, ErrorBody: echo},
		"words":            {Status: 403, ErrorBody: "no entry for Bearer " + key},
		"the end of caps":  {Status: 400, ErrorBody: strings.Repeat("x", provider.MaxErrorBody-10) + key},
		"the end of words": {Status: 400, ErrorBody: `{"error":"` + strings.Repeat("x", 390) + key + `"}`},
		"stream":           {ErrorEvent: echo},
		"page":             {Raw: "<html>" + key + "</html>", RawType: "text/html"},
		"garbage":          {Raw: "data: {\"" + key + "\n\n"},
		"header":           {Raw: `{"x":"` + key + `"}`, RawType: "application/json", Header: map[string]string{"X-Request-Id": key, "Request-Id": key}},
		"location":         {Status: 307, ErrorBody: "-", Header: map[string]string{"Location": "https://" + key + ".example/x"}},
	} {
		s := open(t, w, double.Options{Play: always(reply)}, patient)
		_, err := s.client.Stream(t.Context(), ask(sees), nil)
		e := asError(err)
		if e == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		whole := strings.ToLower(fmt.Sprintf("%v %+v %#v %v", err, *e, *e, e.Cause))
		if strings.Contains(whole, key[:8]) { // its beginning is enough: a cut may have taken the rest
			t.Errorf("%s: the key is in the error: %s", name, whole)
		}
		if len(e.Body) > provider.MaxErrorBody {
			t.Errorf("%s: the body has %d bytes", name, len(e.Body))
		}
	}
}

func errorEvent(t *testing.T, w Wire) {
	const body = `{"type":"error","error":{"type":"invalid_request_error","message":"Unexpected item type in content."}}`
	for _, said := range []string{"", "some words came first"} {
		e := failing(t, w, double.Reply{Text: said, ErrorEvent: body}, provider.KindRefused)
		if e.Status != 200 || e.Words != "Unexpected item type in content." || e.Code == "" || e.Body != body || !e.Sent {
			t.Errorf("%#v", e)
		}
	}
}

func overloadedEvent(t *testing.T, w Wire) {
	failing(t, w, double.Reply{ErrorEvent: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, provider.KindBusy)
	failing(t, w, double.Reply{ErrorEvent: `{"error":{"code":502,"message":"Upstream is gone"}}`}, provider.KindBusy)
	failing(t, w, double.Reply{ErrorEvent: `{"error":{"code":401,"message":"No auth"}}`}, provider.KindKey)
}

func cutStream(t *testing.T, w Wire) {
	if e := failing(t, w, double.Reply{Text: poem, Cut: true}, provider.KindCut); !e.Sent {
		t.Error("the request was sent")
	}
	// A proxy that closes the stream properly does not make half an event whole.
	half := strings.TrimSpace(w.frame(`{"choices":[{"ind`))
	if w.Framing != nil {
		half = w.Framing.Beat[:len(w.Framing.Beat)/2]
	}
	failing(t, w, double.Reply{Raw: half}, provider.KindCut)
}

func halfCall(t *testing.T, w Wire) {
	failing(t, w, double.Reply{Text: "I look.", Calls: []double.Call{{Name: "read", Args: map[string]any{"path": "a/b/c.go"}}}, Cut: true}, provider.KindCut)
}

func badArguments(t *testing.T, w Wire) {
	for _, args := range []string{`[1,2]`, `"text"`, `{"path":`, `{"a":1}{"b":2}`, `{"a":1,"a":2}`, `nonsense`} {
		failing(t, w, double.Reply{Calls: []double.Call{{Name: "read", Args: args}}}, provider.KindMalformed)
	}
	two := []double.Call{{ID: "same", Name: "read"}, {ID: "same", Name: "read"}}
	failing(t, w, double.Reply{Calls: two}, provider.KindMalformed) // their results could not be told apart
}

func stalled(t *testing.T, w Wire) {
	s := open(t, w, double.Options{Play: always(double.Reply{Text: poem, Stall: true})}, impatient)
	begun := time.Now()
	_, err := s.client.Stream(t.Context(), ask(sees), nil)
	if e := fails(t, err, provider.KindStalled); !e.Sent {
		t.Error("the request was sent")
	}
	if took := time.Since(begun); took > patient/2 {
		t.Errorf("it took %v", took)
	}
}

func silent(t *testing.T, w Wire) {
	s := open(t, w, double.Options{Play: always(double.Reply{Delay: time.Hour})}, impatient)
	_, err := s.client.Stream(t.Context(), ask(sees), nil)
	if e := fails(t, err, provider.KindStalled); !e.Sent || e.Status != 0 {
		t.Errorf("sent %v, status %d", e.Sent, e.Status)
	}
}

func slowStream(t *testing.T, w Wire) {
	// Every event comes well within the idle timeout, the whole well after it.
	const idle = time.Second
	s := open(t, w, double.Options{
		Play: always(double.Reply{Text: strings.Repeat(poem, 3)}), Pace: idle / 20, KeepAlive: true,
	}, idle)
	begun := time.Now()
	resp, err := s.client.Stream(t.Context(), ask(sees), nil)
	if err != nil || text(resp.Message) != strings.Repeat(poem, 3) {
		t.Errorf("%q, %v", text(resp.Message), err)
	}
	if took := time.Since(begun); took <= idle {
		t.Errorf("the stream was not slow: %v", took)
	}
}

func keepAlivesOnly(t *testing.T, w Wire) {
	beat := map[string]string{
		double.WireChat: ": keep-alive\n\n", double.WireAnthropic: "event: ping\ndata: {\"type\":\"ping\"}\n\n",
	}[w.Name]
	if w.lacks(t, LackBeats) {
		beat = "\n" // a proxy's
	}
	kind := "text/event-stream"
	if w.Framing != nil {
		beat, kind = w.Framing.Beat, w.Framing.Type
	}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // so that the server sees the client leave
		out.Header().Set("Content-Type", kind)
		tick := time.NewTicker(impatient / 5)
		defer tick.Stop()
		for {
			_, _ = io.WriteString(out, beat)
			_ = http.NewResponseController(out).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-tick.C:
			}
		}
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	_, err := w.New(server.URL, secret.New(key), impatient).Stream(ctx, ask(sees), nil)
	fails(t, err, provider.KindStalled)
}

func cancelled(t *testing.T, w Wire) {
	s := open(t, w, double.Options{Play: always(double.Reply{Text: poem, Stall: true})}, patient)
	ctx, cancel := context.WithCancel(t.Context())
	begun := time.Now()
	_, err := s.client.Stream(ctx, ask(sees), func(provider.Delta) { cancel() })
	cancel()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("want context.Canceled in %v", err)
	}
	if took := time.Since(begun); took > patient/2 {
		t.Errorf("it took %v", took)
	}
}

func redirect(t *testing.T, w Wire) {
	reached := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		reached <- fmt.Sprint(r.Header)
	}))
	t.Cleanup(other.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		e := failing(t, w, double.Reply{
			Status: status, ErrorBody: "moved", Header: map[string]string{"Location": other.URL + "/v1/x"},
		}, provider.KindRefused)
		if !strings.Contains(e.Words, "redirect") {
			t.Errorf("words %q", e.Words)
		}
	}
	select {
	case header := <-reached:
		t.Errorf("the other host was reached with %s", header)
	default:
	}
}

func webPage(t *testing.T, w Wire) {
	e := failing(t, w, double.Reply{Raw: "<!doctype html><title>Log in</title>", RawType: "text/html; charset=utf-8"}, provider.KindMalformed)
	if !strings.Contains(e.Words, "HTML") || !strings.Contains(e.Words, "Log in") {
		t.Errorf("words %q", e.Words)
	}
}

func oneDocument(t *testing.T, w Wire) {
	bodies := map[string]string{
		double.WireChat: `{"id":"x1","choices":[{"index":0,"message":{"role":"assistant","content":"hi","tool_calls":[` +
			`{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},"finish_reason":"tool_calls"}],` +
			`"usage":{"prompt_tokens":5,"completion_tokens":2}}`,
		double.WireAnthropic: `{"id":"x1","type":"message","role":"assistant","content":[{"type":"text","text":"hi"},` +
			`{"type":"tool_use","id":"c1","name":"read","input":{"path":"a"}}],"stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":2}}`,
		double.WireOllama: `{"model":"x","message":{"role":"assistant","content":"hi","tool_calls":[{"function":{"name":"read","arguments":{"path":"a"}}}]},` +
			`"done_reason":"stop","done":true,"prompt_eval_count":5,"eval_count":2}`,
		double.WireGemini: `{"responseId":"x1","candidates":[{"content":{"role":"model","parts":[{"text":"hi"},{"functionCall":{"name":"read","args":{"path":"a"}}}]},` +
			`"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":2}}`,
		double.WireResponses: `{"id":"x1","object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]},` +
			`{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\":\"a\"}","status":"completed"}],"usage":{"input_tokens":5,"output_tokens":2}}`,
		double.WireBedrock: `{"output":{"message":{"role":"assistant","content":[{"text":"hi"},` +
			`{"toolUse":{"toolUseId":"c1","name":"read","input":{"path":"a"}}}]}},"stopReason":"tool_use","usage":{"inputTokens":5,"outputTokens":2}}`,
	}
	for _, kind := range []string{"application/json", "text/event-stream"} {
		s := open(t, w, double.Options{Play: always(double.Reply{Raw: bodies[w.Name], RawType: kind})}, patient)
		resp, err := s.client.Stream(t.Context(), ask(sees), nil)
		if err != nil {
			t.Fatal(err)
		}
		made := calls(resp.Message)
		if text(resp.Message) != "hi" || len(made) != 1 || string(made[0].Args) != `{"path":"a"}` || resp.Usage.TokensIn == nil {
			t.Errorf("%s: %+v", kind, resp)
		}
	}
}

func garbage(t *testing.T, w Wire) {
	bodies := []string{}
	for _, data := range []string{
		"not json", `{"choices":7,"index":"x","message":7}`, `{"id":"a","id":"b"}`, "\x00\x01", "[1,2]",
	} {
		bodies = append(bodies, w.frame(data))
	}
	if w.Framing != nil {
		bodies = w.Framing.Garbage
	}
	for _, raw := range bodies {
		failing(t, w, double.Reply{Raw: raw}, provider.KindMalformed)
	}
	failing(t, w, double.Reply{Raw: "[]"}, provider.KindMalformed)
	// Half a document is malformed where it should have been whole, and cut where more could have come.
	half := provider.KindMalformed
	if w.Lines {
		half = provider.KindCut
	}
	failing(t, w, double.Reply{Raw: `{"id":"x"`}, half)
	// Nothing, or nothing that matters, is a stream that ended too soon.
	nothing := []string{"\n", w.frame(`{"type":"new_thing"}`)}
	if !w.Lines {
		nothing = append(nothing, "event: ping\ndata: {\"type\":\"ping\"}\n\n", ": comment\n\n")
	}
	if w.Framing != nil {
		nothing = append(slices.Clone(w.Framing.Short), w.Framing.Beat, "\n")
	}
	for _, raw := range nothing {
		failing(t, w, double.Reply{Raw: raw}, provider.KindCut)
	}
}

func notThere(t *testing.T, w Wire) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	_, err := w.New(gone.URL, secret.New(key), patient).Stream(t.Context(), ask(sees), nil)
	if e := fails(t, err, provider.KindCut); e.Sent || e.Status != 0 {
		t.Errorf("sent %v, status %d", e.Sent, e.Status)
	}
	_, err = w.New("http://[::1", secret.New(key), patient).Stream(t.Context(), ask(sees), nil)
	fails(t, err, provider.KindCut)
}
