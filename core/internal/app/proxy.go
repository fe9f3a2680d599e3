package app

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/loopback"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/proxy"
	"github.com/relo-dev/relo/core/internal/secret"
	"github.com/relo-dev/relo/core/internal/traffic"
)

// ProxyToken is a program that may call models through the proxy. The token itself is
// told once, when it is made; its hash is what is kept.
type ProxyToken struct {
	Name string    `json:"name"`
	Hash string    `json:"hash"` // SHA-256, hex
	Time time.Time `json:"time"`
}

// proxyState is state/proxy.json: who may, and at which port they were told to ask.
type proxyState struct {
	Listen string       `json:"listen,omitempty"` // host:port that was served last, tried first the next time
	Tokens []ProxyToken `json:"tokens"`
}

// tokenBytes: 256 bits, as design and hub have them.
const tokenBytes = 32

// tokenName is what a program may be called.
var tokenName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$`)

func (e Env) proxyFile() string { return filepath.Join(e.places().State, "proxy.json") }

func (e Env) proxyState() (proxyState, error) {
	var s proxyState
	text, err := os.ReadFile(e.proxyFile())
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return proxyState{}, fmt.Errorf("read the proxy's tokens (%s): %w", e.proxyFile(), err)
	}
	return s, nil
}

func (e Env) keepProxy(s proxyState) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write the proxy's tokens: %w", err)
	}
	return e.writeState(e.proxyFile(), text)
}

// ErrTokenThere and ErrNoToken are of names that are taken, or unknown.
var (
	ErrTokenThere = errors.New("a token of that name is there already")
	ErrNoToken    = errors.New("there is no token of that name")
)

// AddProxyToken makes a token for a program; it counts at once, also in a running daemon.
func AddProxyToken(e Env, name string) (secret.Value, error) {
	if !tokenName.MatchString(name) {
		return secret.Value{}, fmt.Errorf("%q is no name: letters, digits, . _ and -, at most 64", name)
	}
	s, err := e.proxyState()
	if err != nil {
		return secret.Value{}, err
	}
	if slices.ContainsFunc(s.Tokens, func(t ProxyToken) bool { return t.Name == name }) {
		return secret.Value{}, fmt.Errorf("%w: %s", ErrTokenThere, name)
	}
	var raw [tokenBytes]byte
	if _, err := rand.Read(raw[:]); err != nil {
		return secret.Value{}, fmt.Errorf("make a token: %w", err)
	}
	token := secret.New("relo-" + base64.RawURLEncoding.EncodeToString(raw[:]))
	hash := loopback.HashOf(token)
	s.Tokens = append(s.Tokens, ProxyToken{Name: name, Hash: hex.EncodeToString(hash[:]), Time: time.Now().UTC()})
	return token, e.keepProxy(s)
}

// RevokeProxyToken ends a program's right, also in a running daemon.
func RevokeProxyToken(e Env, name string) error {
	s, err := e.proxyState()
	if err != nil {
		return err
	}
	kept := slices.DeleteFunc(slices.Clone(s.Tokens), func(t ProxyToken) bool { return t.Name == name })
	if len(kept) == len(s.Tokens) {
		return fmt.Errorf("%w: %s", ErrNoToken, name)
	}
	s.Tokens = kept
	return e.keepProxy(s)
}

// ProxyTokens lists them by name.
func ProxyTokens(e Env) ([]ProxyToken, error) {
	s, err := e.proxyState()
	slices.SortFunc(s.Tokens, func(a, b ProxyToken) int { return compareNames(a.Name, b.Name) })
	return s.Tokens, err
}

func compareNames(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// ProxyAddress is where the proxy of a running daemon answers; empty: none runs.
func ProxyAddress(e Env) string {
	doc, ok := liveEndpoints(e)
	if !ok {
		return ""
	}
	return doc.Proxy
}

// keyring of the proxy: the tokens as the file has them now.
type proxyKeys struct {
	env   Env
	guard *loopback.Guard

	mu   sync.Mutex
	seen time.Time
	size int64
}

// renew reads the file anew when it changed.
func (k *proxyKeys) renew() {
	k.mu.Lock()
	defer k.mu.Unlock()
	info, err := os.Stat(k.env.proxyFile())
	if err != nil {
		k.guard.Replace(nil) // nothing is known, so nobody may
		k.seen, k.size = time.Time{}, 0
		return
	}
	if info.ModTime().Equal(k.seen) && info.Size() == k.size {
		return
	}
	keys := map[string]loopback.Hash{}
	if s, err := k.env.proxyState(); err == nil {
		for _, t := range s.Tokens {
			var h loopback.Hash
			if raw, err := hex.DecodeString(t.Hash); err == nil && len(raw) == len(h) {
				copy(h[:], raw)
				keys[t.Name] = h
			}
		}
	}
	k.guard.Replace(keys)
	k.seen, k.size = info.ModTime(), info.Size()
}

// proxyBook shows the proxy the person's models.
type proxyBook struct {
	c *core
}

var _ proxy.Book = proxyBook{}

// Models are those that answer in words, as the config stands now.
func (b proxyBook) Models() []catalog.Model {
	cfg, book, err := b.c.settings.of("")
	if err != nil {
		return nil
	}
	var out []catalog.Model
	refs := cfg.Models()
	for _, ref := range allRefs(cfg) {
		if !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	for _, ref := range refs {
		if m, ok := book.Model(ref); ok && m.Chat {
			out = append(out, m)
		}
	}
	return out
}

// Speaks reports whether a model's provider takes a body of that wire.
func (b proxyBook) Speaks(ctx context.Context, ref catalog.Ref, wire string) bool {
	client, err := b.c.settings.shelf.Client(ctx, ref)
	if err != nil {
		return false // the call says what is wrong
	}
	f, ok := client.(provider.Forwarder)
	return ok && f.Speaks(wire)
}

// Rules are the person's: the day's budget bounds programs too.
func (b proxyBook) Rules() (ledger.Budget, traffic.PictureRules) {
	cfg, _, err := b.c.settings.of("")
	if err != nil {
		cfg = b.c.cfg
	}
	return ledger.Budget{PerDay: cfg.Budget.PerDay, DenyUnknown: cfg.Budget.UnknownPrice == "deny"},
		traffic.PictureRules{Keep: cfg.Pictures.Keep, Settle: cfg.Pictures.SettleDoubt}
}

// headerTime bounds how long a program may take to say what it wants.
const headerTime = 10 * time.Second

// serveProxy listens on loopback, at the port of the last time when that is free.
func (c *core) serveProxy(models proxy.Models) error {
	s, err := c.env.proxyState()
	if err != nil {
		c.log.Error().Err(err).Msg("nobody may use the proxy until its tokens can be read")
	}
	l, err := listenProxy(s.Listen)
	if err != nil {
		return err
	}
	if now := l.Addr().String(); now != s.Listen && err == nil {
		s.Listen = now
		if err := c.env.keepProxy(s); err != nil {
			c.log.Warn().Err(err).Msg("the proxy's port was not kept: it may be another one next time")
		}
	}
	keys := &proxyKeys{env: c.env, guard: loopback.NewGuard(nil, "X-Api-Key")}
	handler := proxy.New(proxy.Options{Guard: keys.guard, Models: models, Book: proxyBook{c}, Log: c.log, Now: time.Now})
	server := &http.Server{ReadHeaderTimeout: headerTime, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys.renew()
		handler.ServeHTTP(w, r)
	})}
	c.proxy = "http://" + l.Addr().String()
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	c.later(func() error {
		err := server.Close() // streams under way end: their programs ask again
		return errors.Join(err, ignoreClosed(<-ended))
	})
	return nil
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func listenProxy(last string) (net.Listener, error) {
	if host, _, err := net.SplitHostPort(last); err == nil && net.ParseIP(host).IsLoopback() {
		if l, err := net.Listen("tcp", last); err == nil { //nolint:noctx // it ends with the daemon
			return l, nil
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it ends with the daemon
	if err != nil {
		return nil, fmt.Errorf("listen for the proxy: %w", err)
	}
	return l, nil
}

// writeOffJobless settles rows of no job that were open when the last process ended.
func (c *core) writeOffJobless(ctx context.Context) error {
	rows, err := c.store.Rows(ctx, "", time.Time{})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Job == "" && row.Outcome == ledger.OutcomeOpen {
			row.Outcome = ledger.OutcomeLost
			if err := c.store.SettleRow(ctx, row); err != nil {
				return err
			}
		}
	}
	return nil
}
