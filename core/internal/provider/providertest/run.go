// Package providertest is the one suite of dialogues that every wire must pass: a
// provider.Client against a provider that is played with its rules. It asserts
// what Relo promises of a call, never how a wire writes it. Only tests import it.
package providertest

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/secret"
)

// Wire is a client under test.
type Wire struct {
	Name string // the double's
	New  func(baseURL string, key secret.Value, idle time.Duration) provider.Client
	// Inside says that a tool's pictures go inside its result, not after the results.
	Inside bool
	// Lines says that the stream is JSON lines instead of server-sent events.
	Lines bool
	// BlindStatus is that of a blind model's refusal; 0: 400.
	BlindStatus int
	// Lacks says what the provider itself has not, and how that is known.
	Lacks map[Lack]string
	// Framing is for a wire whose stream is neither; nil: it is one of them.
	Framing *Framing
}

// Framing is what a stream in a framing of its own can hold that is no answer.
type Framing struct {
	Type    string   // its Content-Type
	Garbage []string // bodies that cannot be read
	Short   []string // bodies that end, properly, before an answer was whole
	Beat    string   // what keeps a connection open and says nothing
}

// Lack is something that most providers tell and some do not.
type Lack string

// What a provider may lack.
const (
	LackRequestID Lack = "an id of the request"
	LackCode      Lack = "a code in its refusals"
	LackBeats     Lack = "keep-alives"
	LackCached    Lack = "tokens from the cache"
)

// lacks reports whether the wire's test says so; without a reason it has not said it.
func (w Wire) lacks(t *testing.T, l Lack) bool {
	t.Helper()
	why, ok := w.Lacks[l]
	if ok && why == "" {
		t.Errorf("%s is said to lack %s without a reason", w.Name, l)
	}
	return ok
}

// frame is data as one event of the wire's stream.
func (w Wire) frame(data string) string {
	if w.Lines {
		return data + "\n"
	}
	return "data: " + data + "\n\n"
}

// The parts of every dialogue. The key is marked, so that it is found wherever it leaks.
const (
	key   = "sk-relo-test-0123456789-MARKED"
	sees  = "sees-1"
	blind = "blind-1"
	drops = "drops-1"

	patient   = 20 * time.Second       // an idle timeout that no test reaches
	impatient = 150 * time.Millisecond // one that is meant to be reached
)

// Run plays every dialogue on the wire.
func Run(t *testing.T, w Wire) {
	t.Helper()
	for _, d := range dialogues {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			d.play(t, w)
		})
	}
}

var dialogues = []struct {
	name string
	play func(t *testing.T, w Wire)
}{
	{"an answer of words arrives whole and in pieces", words},
	{"what was sent arrives as it was", arrives},
	{"a tool call and its result go round", toolRound},
	{"parallel calls keep their order and their pictures", parallelPictures},
	{"a person's picture is where the wire wants it", personPicture},
	{"thinking goes back with its signature", thinking},
	{"pictures of several turns have a receipt each", manyTurns},
	{"whatever is well formed is taken, with a receipt for each picture", wellFormed},
	{"ids of another provider's calls are taken", foreignIDs},
	{"a blind model's refusal keeps its words and gives no receipt", blindRefusal},
	{"a model that drops pictures still answers", silentDrop},
	{"a picture that is not what its hash says is never sent", falsePicture},
	{"a transcript with a part out of place is never sent", falseTranscript},
	{"tokens that are not reported are unknown", noUsage},
	{"tokens from the cache are part of the input", cachedTokens},
	{"an answer cut by the token limit has no half call", tokenLimit},
	{"busy says how long to wait", busy},
	{"a wrong key is the person's business", wrongKey},
	{"the key is in no error", keyNowhere},
	{"what is wrong is said with what to do", faultsAreNamed},
	{"an error inside a 200 stream is the provider's", errorEvent},
	{"an overloaded stream can be asked again", overloadedEvent},
	{"a cut stream is no answer", cutStream},
	{"a half tool call is never returned", halfCall},
	{"arguments that are no object are malformed", badArguments},
	{"a stalled stream ends", stalled},
	{"a provider that never begins ends", silent},
	{"keep-alives keep a slow stream open", slowStream},
	{"keep-alives alone do not keep a stream open", keepAlivesOnly},
	{"a cancelled call ends at once", cancelled},
	{"a redirect is not followed", redirect},
	{"a web page is no answer", webPage},
	{"one document instead of a stream is read", oneDocument},
	{"garbage is malformed", garbage},
	{"a provider that is not there is cut", notThere},
}

// stage is a provider that is played, and a client of it.
type stage struct {
	double *double.Server
	url    string
	client provider.Client
}

func open(t *testing.T, w Wire, o double.Options, idle time.Duration) stage {
	t.Helper()
	o.Key = key
	o.Models = map[string]double.Model{sees: {Sees: true}, blind: {}, drops: {Drops: true}}
	d := double.New(o)
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	return stage{double: d, url: server.URL + "/v1", client: w.New(server.URL+"/v1", secret.New(key), idle)}
}

// always plays the same reply.
func always(r double.Reply) double.Player {
	return func(context.Context, double.Turn) double.Reply { return r }
}

// fails expects an error of the wire, of the given kind.
func fails(t *testing.T, err error, kind provider.Kind) *provider.Error {
	t.Helper()
	e := asError(err)
	if e == nil {
		t.Fatalf("want a *provider.Error, got %v", err)
	}
	if e.Kind != kind {
		t.Fatalf("want kind %s, got %s: %v (body %q)", kind, e.Kind, e, e.Body)
	}
	if e.Provider == "" || e.Model == "" || e.Words == "" {
		t.Errorf("the error names not all of provider, model and words: %#v", e)
	}
	return e
}
