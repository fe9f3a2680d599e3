package loopback

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/relo-dev/relo/core/internal/secret"
)

const port = "4711"

// arrived is a request as a server on 127.0.0.1:4711 sees it.
func arrived(t *testing.T, host string, header map[string][]string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+host+"/", http.NoBody)
	addr := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, addr))
	for name, values := range header {
		for _, v := range values {
			r.Header.Add(name, v)
		}
	}
	return r
}

func keys(names ...string) map[string]Hash {
	all := map[string]Hash{}
	for _, name := range names {
		all[name] = HashOf(secret.New("key-of-" + name))
	}
	return all
}

func bearer(values ...string) map[string][]string {
	h := map[string][]string{"Authorization": nil}
	for _, v := range values {
		h["Authorization"] = append(h["Authorization"], "Bearer "+v)
	}
	return h
}

func with(h map[string][]string, name, value string) map[string][]string {
	h[name] = append(h[name], value)
	return h
}

func TestWhoIsAdmitted(t *testing.T) {
	here := "127.0.0.1:" + port
	for _, c := range []struct {
		why    string
		host   string
		header map[string][]string
		extra  string // the other header that keys may come in
		name   string
		err    error
	}{
		{"the first key", here, bearer("key-of-a"), "", "a", nil},
		{"the second key", "localhost:" + port, bearer("key-of-b"), "", "b", nil},
		{"by the IPv6 name", "[::1]:" + port, bearer("key-of-b"), "", "b", nil},
		{"the scheme in small letters", here, map[string][]string{"Authorization": {"bearer key-of-a"}}, "", "a", nil},
		{"its own Origin", here, with(bearer("key-of-a"), "Origin", "http://"+here), "", "a", nil},
		{"the other header", here, map[string][]string{"X-Api-Key": {"key-of-b"}}, "X-Api-Key", "b", nil},
		{"both: Authorization counts", here, with(bearer("key-of-a"), "X-Api-Key", "key-of-b"), "X-Api-Key", "a", nil},
		{"both, Authorization wrong", here, with(bearer("no"), "X-Api-Key", "key-of-b"), "X-Api-Key", "", ErrKey},
		{"the other header where it is none", here, map[string][]string{"X-Api-Key": {"key-of-b"}}, "", "", ErrKey},
		{"the other header twice", here, map[string][]string{"X-Api-Key": {"key-of-b", "key-of-b"}}, "X-Api-Key", "", ErrKey},
		{"no key", here, nil, "X-Api-Key", "", ErrKey},
		{"an empty key", here, bearer(""), "", "", ErrKey},
		{"an empty key in the other header", here, map[string][]string{"X-Api-Key": {""}}, "X-Api-Key", "", ErrKey},
		{"an unknown key", here, bearer("key-of-c"), "", "", ErrKey},
		{"two keys", here, bearer("key-of-a", "key-of-b"), "", "", ErrKey},
		{"no scheme", here, map[string][]string{"Authorization": {"key-of-a"}}, "", "", ErrKey},
		{"another scheme", here, map[string][]string{"Authorization": {"Basic key-of-a"}}, "", "", ErrKey},
		{"a name that was made to lead here", "evil.example:" + port, bearer("key-of-a"), "", "", ErrHost},
		{"another port", "127.0.0.1:1", bearer("key-of-a"), "", "", ErrHost},
		{"no port", "127.0.0.1", bearer("key-of-a"), "", "", ErrHost},
		{"a page elsewhere", here, with(bearer("key-of-a"), "Origin", "https://evil.example"), "", "", ErrPage},
		{"a page that a browser calls cross-site", here, with(bearer("key-of-a"), "Sec-Fetch-Site", "cross-site"), "", "", ErrPage},
		{"a request that nobody's page made", here, with(bearer("key-of-a"), "Sec-Fetch-Site", "none"), "", "a", nil},
	} {
		name, err := NewGuard(keys("a", "b"), c.extra).Admit(arrived(t, c.host, c.header))
		if name != c.name || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v; want %q, %v", c.why, name, err, c.name, c.err)
		}
	}
}

func TestARequestThatArrivedNowhereIsRefused(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:4711/", http.NoBody)
	r.Header.Set("Authorization", "Bearer key-of-a")
	if _, err := NewGuard(keys("a"), "").Admit(r); !errors.Is(err, ErrHost) {
		t.Errorf("%v", err)
	}
}

func TestAnEmptyKeyAndNoKeyLetNobodyIn(t *testing.T) {
	for why, g := range map[string]*Guard{
		"the zero value":        {},
		"no keys":               NewGuard(nil, "X-Api-Key"),
		"the hash of nothing":   NewGuard(map[string]Hash{"a": HashOf(secret.Value{}), "b": HashOf(secret.New(""))}, "X-Api-Key"),
		"a hash that is absent": NewGuard(map[string]Hash{"a": {}}, "X-Api-Key"),
	} {
		for _, header := range []map[string][]string{bearer(""), {"X-Api-Key": {""}}, nil} {
			if name, err := g.Admit(arrived(t, "127.0.0.1:"+port, header)); !errors.Is(err, ErrKey) {
				t.Errorf("%s: %q was let in, %v", why, name, err)
			}
		}
	}
}

func TestKeysAreReplacedWhileRequestsArrive(t *testing.T) {
	g := NewGuard(keys("a"), "")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if name, err := g.Admit(arrived(t, "127.0.0.1:"+port, bearer("key-of-a"))); name != "a" || err != nil {
					t.Errorf("%q, %v", name, err)
				}
				g.Replace(keys("a", "b"))
			}
		})
	}
	all.Wait()
	g.Replace(keys("b"))
	if _, err := g.Admit(arrived(t, "127.0.0.1:"+port, bearer("key-of-a"))); !errors.Is(err, ErrKey) {
		t.Errorf("a key that was taken away: %v", err)
	}
}
