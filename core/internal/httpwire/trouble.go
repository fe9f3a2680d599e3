package httpwire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
)

// Trouble is why no connection came about, as far as a person can do something
// about it. Empty: something else.
type Trouble string

// The troubles.
const (
	TroubleHost      Trouble = "host-unknown"        // no such name
	TroubleRefused   Trouble = "connection-refused"  // the machine is there, nobody listens
	TroubleAway      Trouble = "unreachable"         // no way to the machine, or no answer to the first knock
	TroubleAuthority Trouble = "certificate-unknown" // signed by somebody who is not trusted here
	TroubleName      Trouble = "certificate-name"    // of another host
	TroubleDate      Trouble = "certificate-date"    // over, or not begun
	TroubleTLS       Trouble = "tls"                 // plain http where https was asked, or no common ground
	TroubleProxy     Trouble = "proxy"               // the way through a proxy failed
)

// ProxyError is a proxy that refused to pass a request on.
type ProxyError struct{ Status int }

// Error names the status.
func (e *ProxyError) Error() string {
	return fmt.Sprintf("the proxy answered %d %s", e.Status, http.StatusText(e.Status))
}

// Transport gives a transport of its own for a client: the system's proxies are
// honoured, and a proxy's refusal is a *ProxyError.
func Transport() *http.Transport {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		t = &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	t = t.Clone()
	t.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
		if resp.StatusCode != http.StatusOK {
			return &ProxyError{Status: resp.StatusCode}
		}
		return nil
	}
	return t
}

// Diagnose reads an error of Post or Get: the trouble and a sentence for a person.
// host is whom the request was for, as host or host:port. Both are empty when the
// error is none of the troubles.
func Diagnose(err error, host string) (Trouble, string) {
	if err == nil {
		return "", ""
	}
	if t, words := proxyTrouble(err); t != "" {
		return t, words
	}
	if t, words := certificateTrouble(err, host); t != "" {
		return t, words
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return TroubleHost, fmt.Sprintf("there is no host %q", Plain(dns.Name))
		}
		return TroubleHost, fmt.Sprintf("the name %q could not be looked up: the name server does not answer", Plain(dns.Name))
	}
	op, ok := errors.AsType[*net.OpError](err)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return TroubleRefused, fmt.Sprintf("nothing listens at %s (connection refused)", where(op, host))
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return TroubleAway, fmt.Sprintf("there is no way to %s from here", where(op, host))
	case ok && op.Op == "dial" && (op.Timeout() || errors.Is(err, os.ErrDeadlineExceeded)):
		return TroubleAway, fmt.Sprintf("%s does not answer: the connection timed out", where(op, host))
	}
	return "", ""
}

func where(op *net.OpError, host string) string {
	if op != nil && op.Addr != nil && !strings.Contains(host, ":") {
		return fmt.Sprintf("%s (%s)", host, op.Addr)
	}
	return host
}

func proxyTrouble(err error) (Trouble, string) {
	if p, ok := errors.AsType[*ProxyError](err); ok {
		if p.Status == http.StatusProxyAuthRequired {
			return TroubleProxy, "the proxy wants a name and a password (407)"
		}
		return TroubleProxy, fmt.Sprintf("the proxy does not pass the request on (%d %s)", p.Status, http.StatusText(p.Status))
	}
	op, ok := errors.AsType[*net.OpError](err)
	if !ok || op.Op != "proxyconnect" {
		return "", ""
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return TroubleProxy, "the proxy cannot be reached (connection refused)"
	}
	return TroubleProxy, "the proxy cannot be reached: " + Plain(op.Err.Error())
}

func certificateTrouble(err error, host string) (Trouble, string) {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return TroubleAuthority, fmt.Sprintf("the certificate of %s is signed by an authority that this machine does not trust", host)
	}
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		return TroubleName, fmt.Sprintf("the certificate is not for %s%s", e.Host, names(e.Certificate))
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok && e.Reason == x509.Expired {
		return TroubleDate, fmt.Sprintf("the certificate of %s is valid from %s to %s, and now is not between",
			host, e.Cert.NotBefore.UTC().Format(day), e.Cert.NotAfter.UTC().Format(day))
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return TroubleAuthority, fmt.Sprintf("the certificate of %s cannot be trusted", host)
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") {
		return TroubleTLS, fmt.Sprintf("%s speaks plain http where https was asked", host)
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return TroubleTLS, fmt.Sprintf("%s and this machine found no way to speak https", host)
	}
	return "", ""
}

const day = "2006-01-02"

// names says whom a certificate is for, the first few.
func names(c *x509.Certificate) string {
	if c == nil {
		return ""
	}
	all := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	if len(all) == 0 {
		return ""
	}
	return " but for " + Plain(strings.Join(all[:min(len(all), namesShown)], ", "))
}
