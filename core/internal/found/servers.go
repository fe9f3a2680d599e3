package found

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/relo-dev/relo/core/internal/httpwire"
)

// spot is one place where a server may listen.
type spot struct {
	api  string
	name string
	base string // scheme and host
	tail string // behind base in the config's url
	ask  func(context.Context, asker) ([]Model, []string, error)
}

// usual are the ports in the servers' own documentation.
var usual = []spot{
	{"ollama", "Ollama", "http://127.0.0.1:11434", "", askOllama},
	{"lmstudio", "LM Studio", "http://127.0.0.1:1234", "/v1", askLMStudio},
	{"llamacpp", "llama.cpp", "http://127.0.0.1:8080", "/v1", askLlama},
	{"vllm", "vLLM", "http://127.0.0.1:8000", "/v1", askVLLM},
}

// whereVariable names the servers to ask instead of the usual ones: "none", or
// names with an address where it is not the usual one: ollama,vllm=http://127.0.0.1:9000 .
// Only loopback is asked.
const whereVariable = "RELO_LOCAL_SERVERS"

// spots lists whom to ask, and says who is left out.
func (p Place) spots() (spots []spot, notes []string) {
	given := strings.TrimSpace(p.Getenv(whereVariable))
	if given == "none" {
		return nil, nil
	}
	wanted, notes := wantedServers(given)
	for _, s := range usual {
		base, named := wanted[s.api]
		host := strings.TrimSpace(p.Getenv("OLLAMA_HOST"))
		switch {
		case given != "" && !named:
			continue
		case base != "":
			s.base = base
		case s.api == "ollama" && host != "":
			s.base = ollamaHost(host)
		}
		if !loopback(s.base) {
			notes = append(notes, fmt.Sprintf("%s is said to run on another machine (%s): it was not asked; relo providers add NAME --api %s --url URL adds it", s.name, httpwire.Plain(s.base), s.api))
			continue
		}
		spots = append(spots, s)
	}
	return spots, notes
}

// wantedServers reads whereVariable: addresses by api, empty for the usual one.
func wantedServers(given string) (wanted map[string]string, notes []string) {
	wanted = map[string]string{}
	for pair := range strings.SplitSeq(given, ",") {
		api, base, _ := strings.Cut(strings.TrimSpace(pair), "=")
		known := slices.ContainsFunc(usual, func(s spot) bool { return s.api == api })
		if api != "" && !known {
			notes = append(notes, fmt.Sprintf("%s: %q is not a server that Relo knows; it knows ollama, lmstudio, llamacpp and vllm", whereVariable, httpwire.Plain(api)))
		}
		if known {
			wanted[api] = strings.TrimRight(base, "/")
		}
	}
	return wanted, notes
}

// ollamaHost reads OLLAMA_HOST as Ollama does: host, host:port, :port or a URL; an
// unspecified address, which is for serving, is this machine.
func ollamaHost(given string) string {
	scheme, rest, found := strings.Cut(given, "://")
	if !found {
		scheme, rest = "http", given
	}
	rest, _, _ = strings.Cut(rest, "/")
	host, port, err := net.SplitHostPort(rest)
	if err != nil {
		host, port = strings.Trim(rest, "[]"), map[string]string{"http": "11434", "https": "443"}[scheme]
		if found && scheme == "http" {
			port = "80" // a URL without a port means the scheme's (Ollama's envconfig)
		}
	}
	if addr, err := netip.ParseAddr(host); host == "" || err == nil && addr.IsUnspecified() {
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// loopback reports whether a URL leads to this machine by its literal address.
func loopback(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.User != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return false
	}
	if host := strings.ToLower(u.Hostname()); host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return err == nil && addr.Unmap().IsLoopback()
}

// asker asks one server.
type asker struct {
	base   string
	client *http.Client
	header http.Header
}

var errNotLoopback = errors.New("not an address of this machine")

// newAsker makes a client that reaches loopback and nothing else, whatever a name
// resolves to, and no proxy.
func newAsker(base, agent string) asker {
	dialer := &net.Dialer{Timeout: askTime, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !at.Addr().Unmap().IsLoopback() {
			return errNotLoopback
		}
		return nil
	}}
	header := http.Header{"Accept": {"application/json"}}
	if agent != "" {
		header.Set("User-Agent", agent)
	}
	return asker{base: base, header: header, client: &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}}
}

// statusError is an answer that is no 2xx.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("status %d", int(e)) }

// get reads one JSON document; with a body it is a POST.
func (a asker) get(ctx context.Context, path string, body, into any) (err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	send, r := httpwire.Get, httpwire.Request{URL: a.base + path, Header: a.header, Limits: httpwire.Limits{Idle: askTime, Stream: maxAnswer}}
	if body != nil {
		send = httpwire.Post
		if r.Body, err = json.Marshal(body); err != nil {
			return fmt.Errorf("ask %s: %w", path, err)
		}
	}
	answer, err := send(ctx, a.client, r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, answer.Close()) }()
	if !answer.OK() {
		return statusError(answer.Status)
	}
	text, err := answer.All()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("ask %s: %w", path, err)
	}
	return nil
}

// look asks one server. ok is false when nobody is there, or somebody else.
func (s spot) look(ctx context.Context, agent string) (server Server, notes []string, ok bool) {
	a := newAsker(s.base, agent)
	defer a.client.CloseIdleConnections()
	server = Server{API: s.api, Name: s.name, URL: s.base + s.tail, Models: []Model{}}
	models, notes, err := s.ask(ctx, a)
	if status, is := errors.AsType[statusError](err); is && (status == http.StatusUnauthorized || status == http.StatusForbidden) {
		server.NeedsKey = true
		return server, append(notes, fmt.Sprintf("%s answers at %s and asks for a key", s.name, s.base)), s.api == "vllm" || s.api == "lmstudio"
	}
	if err != nil {
		return server, nil, false
	}
	if len(models) > maxModels {
		notes = append(notes, fmt.Sprintf("%s has %d models; the first %d were looked at", s.name, len(models), maxModels))
		models = models[:maxModels]
	}
	server.Models = append(server.Models, models...)
	return server, notes, true
}
