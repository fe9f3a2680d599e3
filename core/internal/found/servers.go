package found

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/discovery"
)

// spot is one place where a server may listen.
type spot struct {
	api  string
	name string
	base string                      // scheme and host
	tail string                      // behind base in the config's url
	wire string                      // as the config's preset of the api has it
	is   func(discovery.Report) bool // whether it is this server that answered
}

// usual are the ports in the servers' own documentation.
var usual = []spot{
	{"ollama", "Ollama", "http://127.0.0.1:11434", "", "ollama", anybody},
	{"lmstudio", "LM Studio", "http://127.0.0.1:1234", "/v1", "openai-chat", lmStudio},
	{"llamacpp", "llama.cpp", "http://127.0.0.1:8080", "/v1", "openai-chat", owner("llamacpp")},
	{"vllm", "vLLM", "http://127.0.0.1:8000", "/v1", "openai-chat", owner("vllm")},
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

var errNotLoopback = errors.New("not an address of this machine")

// loopbackClient reaches loopback and nothing else, whatever a name resolves to, and no
// proxy.
func loopbackClient() *http.Client {
	dialer := &net.Dialer{Timeout: dialTime, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !at.Addr().Unmap().IsLoopback() {
			return errNotLoopback
		}
		return nil
	}}
	return &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}
}

// look asks one server. ok is false when nobody is there, or somebody else.
func (s spot) look(ctx context.Context, agent string) (server Server, notes []string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	client := loopbackClient()
	defer client.CloseIdleConnections()
	server = Server{API: s.api, Name: s.name, URL: s.base + s.tail, Models: []Model{}}
	e := discovery.Endpoint{Name: s.name, API: s.api, Wire: s.wire, URL: server.URL, HTTP: client}
	if agent != "" {
		e.Headers = map[string]string{"User-Agent": agent}
	}
	r, err := discovery.Ask(ctx, e, discovery.Report{}, time.Now())
	if provider.Is(err, provider.KindKey) {
		server.NeedsKey = true
		return server, []string{fmt.Sprintf("%s answers at %s and asks for a key", s.name, s.base)}, s.api == "vllm" || s.api == "lmstudio"
	}
	if err != nil || !s.is(r) {
		return server, nil, false
	}
	for _, n := range r.Notes {
		notes = append(notes, s.name+": "+n)
	}
	models, left := here(s.name, r.Models)
	notes = append(notes, left...)
	if len(models) > maxModels {
		notes = append(notes, fmt.Sprintf("%s has %d models; the first %d are told", s.name, len(models), maxModels))
		models = models[:maxModels]
	}
	server.Models = append(server.Models, models...)
	return server, notes, true
}
