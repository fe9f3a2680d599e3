package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/httpwire"
	"github.com/relo-dev/relo/core/internal/keyring"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/anthropic"
	"github.com/relo-dev/relo/core/internal/provider/bedrock"
	"github.com/relo-dev/relo/core/internal/provider/chat"
	"github.com/relo-dev/relo/core/internal/provider/discovery"
	"github.com/relo-dev/relo/core/internal/provider/exchange"
	"github.com/relo-dev/relo/core/internal/provider/gemini"
	"github.com/relo-dev/relo/core/internal/provider/ollama"
	"github.com/relo-dev/relo/core/internal/provider/responses"
)

// keysOf is where the references of a config lead on this machine.
func keysOf(getenv func(string) string) config.Keys {
	return config.Keys{Getenv: getenv, Ring: keyring.System(getenv).Get}
}

// endpointFor says how a provider is reached: address, key and headers, resolved. It
// opens no connection. A key that cannot be had is a *provider.Error of KindKey.
func endpointFor(ctx context.Context, keys config.Keys, name string, p config.Provider) (discovery.Endpoint, error) {
	e := discovery.Endpoint{Name: name, API: p.API, Wire: p.Wire, URL: p.URL, KeyRef: shownKey(p.Key), Headers: map[string]string{}}
	var err error
	if e.Key, err = keys.Resolve(ctx, p.Key); err != nil {
		return e, keyError(name, p.Key, err)
	}
	for h, v := range p.Headers {
		e.Headers[h] = v
		if _, ok := config.Reference(v); ok {
			secret, err := keys.Resolve(ctx, v)
			if err != nil {
				return e, keyError(name, v, fmt.Errorf("header %s: %w", h, err))
			}
			e.Headers[h] = secret.Reveal()
		}
	}
	e.HTTP, err = httpClient(p)
	return e, err
}

// dialProvider makes the wire to a provider; it opens no connection. A key that
// cannot be had is a *provider.Error of KindKey.
func dialProvider(ctx context.Context, keys config.Keys, name string, p config.Provider) (*exchange.Client, error) {
	e, err := endpointFor(ctx, keys, name, p)
	if err != nil {
		return nil, err
	}
	o := exchange.Options{Provider: name, BaseURL: p.URL, Key: e.Key, KeyRef: e.KeyRef, Headers: e.Headers, HTTP: e.HTTP}
	switch p.Wire {
	case "anthropic":
		return anthropic.New(o), nil
	case "openai-chat", "rehearsal":
		return chat.NewAs(o, p.API), nil
	case "ollama":
		return ollama.NewSized(o, func(model string) int { return p.Models[model].Context }), nil
	case "gemini":
		return gemini.New(o), nil
	case "openai-responses":
		return responses.New(o), nil
	case "bedrock":
		client, err := bedrock.New(o, bedrock.AWS{Region: p.Region, Profile: p.Profile, Getenv: keys.Getenv})
		if err != nil {
			return nil, fmt.Errorf("provider %s: %w", name, err)
		}
		return client, nil
	}
	return nil, fmt.Errorf("provider %s: the wire %q is not in this version; use anthropic or an OpenAI chat one", name, p.Wire)
}

func keyError(name, ref string, err error) *provider.Error {
	return &provider.Error{
		Kind: provider.KindKey, Provider: name, Words: err.Error(), Cause: err, Fault: provider.FaultNoKey, Hint: provider.KeyHint(shownKey(ref), name),
	}
}

// shownKey is a reference as it may be told: of a command only that it is one,
// since a person may have written a secret into it.
func shownKey(ref string) string {
	if kind, ok := config.Reference(ref); ok && kind == "cmd" {
		return "cmd:…"
	}
	return ref
}

// httpClient honours caFile and insecure; nil is the wire's own client.
func httpClient(p config.Provider) (*http.Client, error) {
	if p.CAFile == "" && !p.Insecure {
		return nil, nil
	}
	t := httpwire.Transport()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: p.Insecure} //nolint:gosec // only when the person set insecure
	if p.CAFile != "" {
		pem, err := os.ReadFile(p.CAFile)
		if err != nil {
			return nil, fmt.Errorf("caFile: %w", err)
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("caFile %s holds no certificate", p.CAFile)
		}
		t.TLSClientConfig.RootCAs = pool
	}
	return &http.Client{Transport: t}, nil
}

// asProvider takes a provider's error out of another.
func asProvider(err error) (*provider.Error, bool) { return errors.AsType[*provider.Error](err) }
