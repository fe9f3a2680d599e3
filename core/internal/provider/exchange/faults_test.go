package exchange

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/secret"
)

const testKey = "sk-a-secret-for-tests"

// ask sends one request to a URL, with a key unless keyless, and gives the error.
func ask(t *testing.T, at, keyRef string, client *http.Client) *provider.Error {
	t.Helper()
	o := Options{Provider: "acme", KeyRef: keyRef, HTTP: client}
	if keyRef != "" {
		o.Key = secret.New(testKey)
	}
	c := New(o, Wire{
		URL: at, KeyHeader: "Authorization", KeyPrefix: "Bearer ",
		Encode:  func(provider.Request) ([]byte, []provider.Receipt, error) { return []byte("{}"), nil, nil },
		Decoder: func(provider.Request) Decoder { return nil }, // nothing here is ever decoded
	})
	_, err := c.Stream(t.Context(), provider.Request{Model: "m-1"}, nil)
	e, ok := err.(*provider.Error) //nolint:errorlint // it is given as it is
	if !ok {
		t.Fatalf("not a provider's error: %v", err)
	}
	if strings.Contains(fmt.Sprintf("%+v", *e), testKey) {
		t.Errorf("the key is in the error: %+v", *e)
	}
	return e
}

// holds compares an error with what a person should read; HOST stands for the address.
func holds(t *testing.T, e *provider.Error, host string, kind provider.Kind, fault provider.Fault, words, hint string) {
	t.Helper()
	words = strings.ReplaceAll(words, "HOST", host)
	if e.Kind != kind || e.Fault != fault || e.Words != words || e.Hint != hint {
		t.Errorf("got  %s, %s\n     %s\n     %s\nwant %s, %s\n     %s\n     %s", e.Kind, e.Fault, e.Words, e.Hint, kind, fault, words, hint)
	}
}

const (
	env     = "env:ACME_API_KEY"
	urlHint = "look at the provider's url, most end in /v1; a login page or a company's proxy answers like this too"
)

// refusals are real ones, as the providers' own documentation and threads have them,
// and what a person reads.
var refusals = []struct {
	why          string
	keyRef       string
	status       int
	body, header string
	kind         provider.Kind
	fault        provider.Fault
	words, hint  string
}{
	{
		"OpenAI: a wrong key", env, 401, `{"error":{"message":"Incorrect API key provided: sk-a-s***ests.","type":"invalid_request_error","code":"invalid_api_key"}}`, "",
		provider.KindKey, provider.FaultKey, "the key (env:ACME_API_KEY) was refused: Incorrect API key provided: sk-a-s***ests.",
		"put a key that acme accepts into the variable ACME_API_KEY",
	},
	{
		"Google: a wrong key, with 400", "file:/k", 400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}`, "",
		provider.KindKey, provider.FaultKey, "the key (file:/k) was refused: API key not valid. Please pass a valid API key.", "put a key that acme accepts into the file /k",
	},
	{
		"Anthropic: a wrong key", "keyring:acme", 401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, "",
		provider.KindKey, provider.FaultKey, "the key (keyring:acme) was refused: invalid x-api-key", "relo providers add acme --key-stdin stores another",
	},
	{
		"a key from a command", "cmd:pass acme", 401, `{"error":"no"}`, "",
		provider.KindKey, provider.FaultKey, "the key (cmd:pass acme) was refused: no", "look at what the command of its key prints",
	},
	{
		"no key", "", 401, `{"error":{"message":"You didn't provide an API key."}}`, "",
		provider.KindKey, provider.FaultNoKey, "a key is asked for and none is set: You didn't provide an API key.", "relo providers add acme --key-stdin stores one",
	},
	{
		"a key that may not", env, 403, `{"type":"error","error":{"type":"permission_error","message":"Your API key does not have permission to use the specified resource."}}`, "",
		provider.KindKey, provider.FaultAccess, "the key (env:ACME_API_KEY) is good, but may not do this: Your API key does not have permission to use the specified resource.",
		"ask for access at the provider, or name another model",
	},
	{
		"Anthropic: no credit, with 400", env, 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, "",
		provider.KindKey, provider.FaultCredit, "the key (env:ACME_API_KEY) is good, but its account has no credit: Your credit balance is too low to access the Anthropic API.",
		"add credit at the provider, or name another model",
	},
	{
		"OpenAI: no credit, with 429", env, 429, `{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"insufficient_quota"}}`, "",
		provider.KindKey, provider.FaultCredit, "the key (env:ACME_API_KEY) is good, but its account has no credit: You exceeded your current quota.",
		"add credit at the provider, or name another model",
	},
	{
		"DeepSeek: no credit", env, 402, `{"error":{"message":"Insufficient Balance"}}`, "",
		provider.KindKey, provider.FaultCredit, "the key (env:ACME_API_KEY) is good, but its account has no credit: Insufficient Balance",
		"add credit at the provider, or name another model",
	},
	{
		"OpenAI: no such model", env, 404, "{\"error\":{\"message\":\"The model `m-1` does not exist or you do not have access to it.\",\"code\":\"model_not_found\"}}", "",
		provider.KindRefused, provider.FaultModel, "there is no model \"m-1\" at acme: The model `m-1` does not exist or you do not have access to it.",
		"relo providers test acme lists what it has",
	},
	{
		"Ollama: no such model", env, 404, `{"error":"model \"m-1\" not found, try pulling it first"}`, "",
		provider.KindRefused, provider.FaultModel, "there is no model \"m-1\" at acme: model \"m-1\" not found, try pulling it first",
		"relo providers test acme lists what it has",
	},
	{
		"OpenRouter: no such model, with 400", env, 400, `{"error":{"message":"m-1 is not a valid model ID","code":400}}`, "",
		provider.KindRefused, provider.FaultModel, "there is no model \"m-1\" at acme: m-1 is not a valid model ID", "relo providers test acme lists what it has",
	},
	{
		"a wrong path", env, 404, "404 page not found\n", "",
		provider.KindRefused, provider.FaultPath, "there is nothing at this address of HOST: 404 page not found", "look at the provider's url; most end in /v1",
	},
	{
		"a web page", env, 200, "<html><title>Sign in</title><body>Welcome</body></html>", "",
		provider.KindMalformed, provider.FaultPage, "HOST sent a web page (HTML) instead of an answer: Sign in Welcome", urlHint,
	},
	{
		"a web page with 404", env, 404, "<!doctype html><h1>Not Found</h1>", "",
		provider.KindMalformed, provider.FaultPage, "HOST sent a web page (HTML) instead of an answer: Not Found", urlHint,
	},
	{
		"a company's filter", env, 403, "<html>Blocked by policy</html>", "",
		provider.KindMalformed, provider.FaultPage, "HOST sent a web page (HTML) instead of an answer: Blocked by policy", urlHint,
	},
	{
		"too many requests, with a time", env, 429, `{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}`, "17",
		provider.KindBusy, provider.FaultBusy, "too many requests for now, it asks to wait 17s: Rate limit reached", "Relo waits and asks again; fewer workers.local ask less at once",
	},
	{
		"too many requests", env, 429, `{"error":{"message":"Slow down"}}`, "",
		provider.KindBusy, provider.FaultBusy, "too many requests for now: Slow down", "Relo waits and asks again; fewer workers.local ask less at once",
	},
	{
		"Ollama: no tools", env, 400, `{"error":"registry.ollama.ai/library/m-1:latest does not support tools"}`, "",
		provider.KindRefused, provider.FaultTools, "m-1 cannot call tools, and Relo's agents work with tools: registry.ollama.ai/library/m-1:latest does not support tools",
		`name another model, or set "tools": false on this one so that no task is given to it`,
	},
	{
		"OpenRouter: no tools, with 404", env, 404, `{"error":{"message":"No endpoints found that support tool use. Try disabling \"bash\".","code":404}}`, "",
		provider.KindRefused, provider.FaultTools, "m-1 cannot call tools, and Relo's agents work with tools: No endpoints found that support tool use. Try disabling \"bash\".",
		`name another model, or set "tools": false on this one so that no task is given to it`,
	},
	{
		"OpenRouter: no eyes, which is for the gateway", env, 404, `{"error":{"message":"No endpoints found that support image input","code":404}}`, "",
		provider.KindRefused, "", "No endpoints found that support image input", "",
	},
	{
		"a proxy that wants a name", env, 407, "", "",
		provider.KindRefused, provider.Fault(httpwire.TroubleProxy), "the proxy wants a name and a password: (no words)",
		"look at HTTPS_PROXY and HTTP_PROXY; NO_PROXY names the hosts that are asked directly",
	},
}

func TestARefusalIsReadForAPerson(t *testing.T) {
	t.Parallel()
	for _, c := range refusals {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if c.header != "" {
					w.Header().Set("Retry-After", c.header)
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			defer s.Close()
			e := ask(t, s.URL, c.keyRef, nil)
			holds(t, e, strings.TrimPrefix(s.URL, "http://"), c.kind, c.fault, c.words, c.hint)
			if c.hint != "" && !strings.HasSuffix(e.Error(), " ("+c.hint+")") {
				t.Errorf("the hint is not told: %v", e)
			}
		})
	}
}

// closedPort is an address of this machine at which nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

func via(proxy string) *http.Client {
	t := httpwire.Transport()
	t.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(proxy) }
	return &http.Client{Transport: t}
}

const proxyHint = "look at HTTPS_PROXY and HTTP_PROXY; NO_PROXY names the hosts that are asked directly"

func TestAConnectionThatFailsIsReadForAPerson(t *testing.T) {
	t.Parallel()
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	secure, plain := httptest.NewTLSServer(ok), httptest.NewServer(ok)
	gate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(map[bool]int{true: 407, false: 502}[strings.HasPrefix(r.Host, "acme.example")])
	}))
	t.Cleanup(func() { secure.Close(); plain.Close(); gate.Close() })
	secureAt, plainAt, closed := secure.Listener.Addr().String(), plain.Listener.Addr().String(), closedPort(t)
	_, port, _ := net.SplitHostPort(secureAt)
	old := expired(t)
	tests := []struct {
		why, at     string
		client      *http.Client
		fault       httpwire.Trouble
		words, hint string
	}{
		{"nobody listens", "http://" + closed, nil, httpwire.TroubleRefused, "nothing listens at " + closed + " (connection refused)", "start the server, or look at the port in the provider's url"},
		{"no way there", "http://acme.example/v1", dials(syscall.EHOSTUNREACH), httpwire.TroubleAway, "there is no way to acme.example from here", "look at the network, a VPN or a firewall"},
		{"no answer to the knock", "http://acme.example/v1", dials(os.ErrDeadlineExceeded), httpwire.TroubleAway, "acme.example does not answer: the connection timed out", "look at the network, a VPN or a firewall"},
		{"no such host", "http://acme.invalid/v1", noNames(), httpwire.TroubleHost, `there is no host "acme.invalid"`, "look at the provider's url, and whether this machine is online"},
		{
			"an authority that nobody knows", "https://" + secureAt, nil, httpwire.TroubleAuthority,
			"the certificate of " + secureAt + " is signed by an authority that this machine does not trust",
			`if a company's proxy reads the traffic, put its certificate into a file and name that as the provider's "caFile"`,
		},
		{
			"another host's certificate", "https://localhost:" + port, secure.Client(), httpwire.TroubleName,
			"the certificate is not for localhost but for example.com, *.example.com, 127.0.0.1", "look at the host in the provider's url",
		},
		{
			"an old certificate", old.URL, old.Client(), httpwire.TroubleDate,
			"the certificate of " + old.Listener.Addr().String() + " is valid from 2019-01-01 to 2020-01-01, and now is not between",
			"look at this machine's clock; if it is right, the host must renew its certificate",
		},
		{
			"http at an https address", "https://" + plainAt, nil, httpwire.TroubleTLS, plainAt + " speaks plain http where https was asked",
			"look whether the provider's url should begin with http://, which is allowed to loopback and private addresses",
		},
		{"a proxy that is not there", "https://acme.example/v1", via("http://" + closed), httpwire.TroubleProxy, "the proxy cannot be reached (connection refused)", proxyHint},
		{"a proxy that wants a name", "https://acme.example/v1", via(gate.URL), httpwire.TroubleProxy, "the proxy wants a name and a password (407)", proxyHint},
		{"a proxy that does not pass it on", "https://other.example/v1", via(gate.URL), httpwire.TroubleProxy, "the proxy does not pass the request on (502 Bad Gateway)", proxyHint},
	}
	for _, c := range tests {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			e := ask(t, c.at, "env:K", c.client)
			holds(t, e, "", provider.KindCut, provider.Fault(c.fault), c.words, c.hint)
			if e.Sent {
				t.Error("nothing was sent")
			}
		})
	}
}

// dials is a client whose connections fail like this.
func dials(err error) *http.Client {
	t := httpwire.Transport()
	t.Proxy = nil
	t.DialContext = func(_ context.Context, network, _ string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	return &http.Client{Transport: t}
}

// noNames is a client for which no name exists, without asking the network's name server.
func noNames() *http.Client {
	t := httpwire.Transport()
	t.Proxy = nil
	t.DialContext = func(_ context.Context, network, addr string) (net.Conn, error) {
		host, _, _ := net.SplitHostPort(addr)
		return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}}
	}
	return &http.Client{Transport: t}
}

// expired is a server whose certificate ended in 2020; its client trusts the signer.
func expired(t *testing.T) *httptest.Server {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC)
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "old"}, NotBefore: from, NotAfter: from.AddDate(1, 0, 0),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}
