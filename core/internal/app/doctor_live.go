package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/relo-dev/relo/core/internal/api"
	"github.com/relo-dev/relo/core/internal/catalog"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/store"
)

const (
	// dialEach bounds how long one provider is waited for.
	dialEach = 3 * time.Second
	// answerEach bounds one word of one model: a local server may load it first.
	answerEach = 60 * time.Second
	// answerTokens lets a model that thinks first come to its word.
	answerTokens = 64
)

// checkProviders looks for each provider's key and opens a connection to it; with
// online one of its models is asked for a word.
func checkProviders(ctx context.Context, e Env, cfg *config.Config, online bool) []Check {
	var names []string
	for name := range cfg.Providers {
		names = append(names, name)
	}
	slices.Sort(names)
	var out []Check
	for _, name := range names {
		c := checkProvider(ctx, e, name, cfg.Providers[name])
		if online && c.State == stateOK {
			c = checkAnswer(ctx, e, cfg, name)
		}
		out = append(out, c)
	}
	return out
}

func checkProvider(ctx context.Context, e Env, name string, p config.Provider) Check {
	c := Check{Name: "provider " + name, State: stateOK, Words: "reachable"}
	if _, err := keysOf(e.Getenv).Resolve(ctx, p.Key); err != nil {
		c.State, c.Words = stateFail, err.Error()
		if errors.Is(err, config.ErrNoKey) {
			c.Fix = "set what the config's key names (" + shownKey(p.Key) + ")"
		}
		return c
	}
	if p.Key != "" {
		c.Words += ", key found (" + shownKey(p.Key) + ")"
	}
	if p.URL == "" {
		c.Words = "runs inside Relo"
		return c
	}
	u, err := url.Parse(p.URL)
	if err != nil {
		return Check{Name: c.Name, State: stateFail, Words: "its url cannot be read", Fix: "relo config set providers." + name + ".url ADDRESS"}
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	d := net.Dialer{Timeout: dialEach}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return Check{Name: c.Name, State: stateFail, Words: "not reachable: " + err.Error(), Fix: "look at the url, the network or the proxy"}
	}
	if err := conn.Close(); err != nil {
		c.Words += " (closing: " + err.Error() + ")"
	}
	return c
}

// checkAnswer asks one model of a provider for one word.
func checkAnswer(ctx context.Context, e Env, cfg *config.Config, name string) Check {
	c := Check{Name: "provider " + name, State: stateOK}
	refs := allRefs(cfg)
	i := slices.IndexFunc(refs, func(r catalog.Ref) bool { p, _ := r.Split(); return p == name })
	if i < 0 {
		c.Words = "reachable; it has no model in the config, so none was asked"
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, answerEach)
	defer cancel()
	shelf := newShelf()
	shelf.put(newBook(cfg, e.Getenv, e.knowledge()))
	client, err := shelf.Client(ctx, refs[i])
	if err == nil {
		_, id := refs[i].Split()
		begin := time.Now()
		_, err = client.Stream(ctx, provider.Request{
			Model: id, MaxTokens: answerTokens,
			Messages: []provider.Message{{Role: provider.RoleUser, Parts: []provider.Part{provider.Text("Answer with the one word: ready")}}},
		}, nil)
		c.Words = fmt.Sprintf("%s answered in %.1f s", refs[i], time.Since(begin).Seconds())
	}
	if err != nil {
		c.State, c.Words, c.Fix = stateFail, fmt.Sprintf("%s did not answer: %v", refs[i], err), "relo providers test "+name+" goes step by step"
	}
	return c
}

// checkDaemon looks at the running daemon and at what a killed one left.
func checkDaemon(ctx context.Context, e Env) []Check {
	doc, err := LookDaemon(ctx, e)
	c := Check{Name: "daemon", State: stateOK}
	switch at, there := readEndpoints(e); {
	case err != nil:
		c.State, c.Words, c.Fix = stateFail, err.Error(), restart
		if pe, ok := errors.AsType[*protocol.Error](err); ok {
			c.Fix = pe.Hint
		}
		if there && at.Standalone {
			c.State = stateWarn
		}
	case doc.Running:
		c.Words = fmt.Sprintf("process %d, Relo %s, %d active jobs, %d workers", doc.PID, doc.Version, doc.Jobs, len(doc.Workers))
		if doc.Version != Version {
			c.State, c.Words, c.Fix = stateWarn, c.Words+", this is Relo "+Version, restart
		}
	case there:
		c.Words = fmt.Sprintf("none is running; process %d left %s when it was killed, which is seen through", at.PID, e.places().Endpoints())
	default:
		c.Words = "none is running; relo run starts one"
	}
	out := []Check{c}
	for _, r := range doc.Restart {
		out = append(out, Check{Name: "daemon", State: stateWarn, Words: r + " with the next start", Fix: restart})
	}
	return out
}

// checkRecord looks into the record, and names what is not there in this version.
func checkRecord(ctx context.Context, e Env) []Check {
	return []Check{
		checkIntegrity(ctx, e), checkBrowser(),
		{Name: "sandbox", State: stateWarn, Words: "level none: agents' commands are not confined in this version, they run with your rights", Fix: "give Relo only repositories that you trust"},
	}
}

// checkIntegrity verifies the record: in the daemon that has it, else here.
func checkIntegrity(ctx context.Context, e Env) Check {
	c := Check{Name: "record", State: stateOK}
	if _, err := os.Stat(e.recordDir()); os.IsNotExist(err) {
		c.Words = "there is none yet"
		return c
	}
	if at, live := liveEndpoints(e); live {
		answer, err := askVerify(ctx, e, at)
		if err != nil {
			c.State, c.Words = stateWarn, fmt.Sprintf("in use by process %d, which did not check it: %v", at.PID, err)
			return c
		}
		return answer
	}
	s, err := store.Open(ctx, e.recordDir())
	if err == nil {
		c = recordCheck(ctx, s)
		err = s.Close()
	}
	if locked, ok := errors.AsType[*store.LockedError](err); ok {
		c.Words = fmt.Sprintf("in use by process %d just now", locked.PID)
	} else if err != nil {
		c.State, c.Words = stateFail, err.Error()
	}
	return c
}

// verifyName checks the whole record in the process that has it.
const verifyName = "daemon.verify"

// verifyEndpoint is the API's row for it.
func (c *core) verifyEndpoint() api.Endpoint {
	return api.Endpoint{Name: verifyName, Description: "check the whole record", Handle: func(ctx context.Context, _ []byte) ([]byte, error) {
		return json.Marshal(recordCheck(ctx, c.store))
	}}
}

func askVerify(ctx context.Context, e Env, at endpointsDoc) (c Check, err error) {
	e.Stderr = nil
	l, err := dial(ctx, e, at)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	answer, err := l.line.Request(ctx, verifyName, nil)
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(answer, &c)
}

func recordCheck(ctx context.Context, s *store.Store) Check {
	c := Check{Name: "record", State: stateOK}
	jobs, err := s.Jobs(ctx)
	if err != nil {
		return Check{Name: c.Name, State: stateFail, Words: err.Error()}
	}
	damage, err := s.VerifyAll(ctx)
	if err != nil {
		return Check{Name: c.Name, State: stateFail, Words: err.Error()}
	}
	size, err := s.Size(ctx)
	if err != nil {
		return Check{Name: c.Name, State: stateFail, Words: err.Error()}
	}
	c.Words = fmt.Sprintf("%d jobs, whole; %.1f MB and %.1f MB of pictures and transcripts", len(jobs), float64(size.DB)/1e6, float64(size.Blobs)/1e6)
	if len(damage) > 0 {
		var words []string
		for _, d := range damage {
			words = append(words, d.Error())
		}
		c.State, c.Words, c.Fix = stateFail, strings.Join(words, "; "), "what is whole goes on; branches relo/… in your repositories are as they were"
	}
	return c
}

// checkBrowser says whether pages can be captured later on; nothing in this
// version needs it.
func checkBrowser() Check {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome", "microsoft-edge"} {
		if file, err := exec.LookPath(name); err == nil {
			return Check{Name: "browser", State: stateOK, Words: "found " + file}
		}
	}
	return Check{Name: "browser", State: stateOK, Words: "no Chromium, Chrome or Edge was found; this version captures no pages"}
}
