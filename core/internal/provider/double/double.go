// Package double plays model providers over real HTTP: OpenAI's chat completions
// and Anthropic's messages, with what they refuse and in their words, so that a
// rehearsal and a test meet the rules of the real ones. What a model answers is
// the Player's; the double adds no intelligence, and it never calls out.
package double

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// The wires that the double speaks.
const (
	WireChat      = "chat"      // POST /v1/chat/completions
	WireAnthropic = "anthropic" // POST /v1/messages
	WireBedrock   = "bedrock"   // POST /model/{id}/converse-stream, and /converse
)

// Model is what the double knows of a model that it serves.
type Model struct {
	Sees bool // takes pictures; when false a picture is refused with 400 in the wire's words
	// Drops makes a blind model answer as if no picture had been there, as some
	// proxies do: nothing is refused and the Player gets no pictures.
	Drops bool
	// NoTools makes the wires that have words for it (Ollama) refuse tools.
	NoTools bool
	// Lies makes a model that drops pictures count their tokens all the same.
	Lies bool
	// Refusal replaces the wire's own refusal of a picture, to play another provider.
	Refusal Refusal
}

// Refusal is a status and a body as a provider sends them. The zero value means "the wire's own".
type Refusal struct {
	Status int
	Body   string
}

// Turn is one request, as a player reads it: the same on both wires.
type Turn struct {
	N        int    // counts the requests from 1, over all wires
	Wire     string // WireChat or WireAnthropic
	Model    string // the id that was asked for
	System   string
	Role     string // from the first line of System, "Role: worker"; empty when it has none
	Entries  []Entry
	Tools    []string  // the names of the tools offered, in order
	Pictures []Picture // every picture of the request, in the order of the body
	Body     []byte    // as received
	Header   http.Header
}

// Entry is one message, or one tool's result.
//
// The wires put a tool's picture in different places: on the messages wire it is
// in the entry of its result, on the chat wire it is in a user entry after the
// results. Turn.Pictures has all of them on both.
type Entry struct {
	Role     string // user, assistant, tool
	Text     string
	Pictures []Picture
	Calls    []MadeCall // of an assistant
	ResultOf string     // of a tool: the name of the tool
	ResultID string     // of a tool: the id of the call
	IsError  bool       // of a tool; on the chat wire: the text begins with "Error"
}

// Picture is a picture that arrived, decoded.
type Picture struct {
	Place     string // JSON path of its part in the body, such as messages[3].content[1]
	MediaType string
	Bytes     []byte
	SHA256    string // of Bytes, hex
	Width     int    // 0: not known
	Height    int
}

// MadeCall is a tool call that an assistant made earlier.
type MadeCall struct {
	ID   string
	Name string
	Args string // JSON
}

// Call is a tool call that a Reply makes. Args is marshalled to JSON; a
// json.RawMessage or a string of JSON goes out as it is; nil is {}.
type Call struct {
	ID   string // empty: the double makes one up
	Name string
	Args any
}

// Usage is what the answer says of its tokens. A nil field is worked out:
// four characters a token, and width × height / 750 for a picture.
type Usage struct {
	In, Out, Cached *int64
}

// Reply is what the provider does about a Turn. With nothing set it is an empty answer.
type Reply struct {
	Text      string
	Reasoning string // comes before Text
	Calls     []Call
	Delay     time.Duration     // before the first byte; ends early when the client is gone
	Header    map[string]string // extra response headers, such as Retry-After

	Status    int    // other than 0 and 200: refuse with it
	ErrorBody string // the body of a refusal; empty: the wire's usual words for Status

	ErrorEvent string // JSON of an error event inside the 200 stream, after Text
	Cut        bool   // the connection breaks in the middle of the last thing said
	Stall      bool   // like Cut, but the connection stays open and silent
	Length     bool   // the model ran out of tokens
	Raw        string // the body, instead of an answer, with status 200
	RawType    string // the Content-Type of Raw; empty: text/event-stream

	Usage   Usage
	NoUsage bool // the provider does not say what it cost
}

// Player answers a turn. It is called from many goroutines at once; ctx ends
// when the client is gone.
type Player func(ctx context.Context, t Turn) Reply

// Options make a Server.
type Options struct {
	Models map[string]Model // by id
	// Key is asked for; empty: none is. On the Bedrock wire one of the form ID:SECRET is an
	// access key, and the request must bear AWS's signature made with it.
	Key  string
	Play Player        // nil: every answer is the text "ok"
	Pace time.Duration // pause between the events of a stream
	// KeepAlive puts what a provider sends to keep a connection open between the
	// events: comments on the chat wire, pings on the messages wire.
	KeepAlive bool
	// Keep is how many of the newest records keep their body; 0: all.
	Keep int
}

// Record is one request that arrived and what became of it.
type Record struct {
	N        int
	Wire     string // empty: not a model call
	Method   string
	Path     string
	Model    string
	Header   http.Header
	Body     []byte
	Pictures []Picture
	At, Done time.Time // Done is zero while it is under way
	Status   int       // 0: none was sent
	Words    string    // of a refusal by the double's own rules
	Answered bool      // the whole answer was written
}

// Server is the provider. It is an http.Handler, safe for concurrent use.
type Server struct {
	opts Options
	mux  *http.ServeMux

	mu      sync.Mutex
	count   int
	records []*Record
}

// New makes a provider.
func New(o Options) *Server {
	if o.Play == nil {
		o.Play = func(context.Context, Turn) Reply { return Reply{Text: "ok"} }
	}
	s := &Server{opts: o, mux: http.NewServeMux()}
	for _, w := range wires {
		for _, pattern := range w.patterns {
			s.mux.HandleFunc("POST "+pattern, s.handle(w.wire))
		}
	}
	s.mux.HandleFunc("GET /v1/models", s.models)
	s.mux.HandleFunc("/", s.elsewhere)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Requests gives a copy of everything that arrived so far, oldest first.
func (s *Server) Requests() []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Record, len(s.records))
	for i, r := range s.records {
		all[i] = *r
	}
	return all
}
