package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/keyring"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/secret"
)

// Ring keeps keys: keyring.Ring.
type Ring interface {
	Get(ctx context.Context, name string) (string, error)
	Put(ctx context.Context, name string, key secret.Value) error
	Drop(ctx context.Context, name string) error
}

var _ Ring = (*keyring.Ring)(nil)

// Providers shows and changes the person's providers.
type Providers struct {
	Env  Env
	Ring Ring // nil: the system's keyring
}

func (p Providers) ring() Ring {
	if p.Ring != nil {
		return p.Ring
	}
	return keyring.System(p.Env.Getenv)
}

func (p Providers) keys() config.Keys { return config.Keys{Getenv: p.Env.Getenv, Ring: p.ring().Get} }

// ProviderDoc is one provider of the configuration, without its key.
type ProviderDoc struct {
	Name    string   `json:"name"`
	API     string   `json:"api"`
	Wire    string   `json:"wire"`
	URL     string   `json:"url"`
	Key     KeyDoc   `json:"key"`
	Private bool     `json:"private"`
	Models  []string `json:"models"` // refs that the config names
}

// KeyDoc says where a key is kept, never what it is.
type KeyDoc struct {
	Kind string `json:"kind"`          // env, file, keyring, cmd or none
	Ref  string `json:"ref,omitempty"` // of a command only cmd:…
}

// keyDoc words a reference.
func keyDoc(ref string) KeyDoc {
	kind, ok := config.Reference(ref)
	if !ok {
		return KeyDoc{Kind: "none"}
	}
	return KeyDoc{Kind: kind, Ref: shownKey(ref)}
}

// List gives the providers of a configuration by name.
func (p Providers) List(cfg *config.Config) []ProviderDoc {
	out := []ProviderDoc{}
	refs := allRefs(cfg)
	for _, name := range providerNames(cfg) {
		row := cfg.Providers[name]
		d := ProviderDoc{Name: name, API: row.API, Wire: row.Wire, URL: row.URL, Key: keyDoc(row.Key), Private: row.IsPrivate(), Models: []string{}}
		for _, r := range refs {
			if of, _ := r.Split(); of == name {
				d.Models = append(d.Models, string(r))
			}
		}
		out = append(out, d)
	}
	return out
}

func providerNames(cfg *config.Config) []string {
	names := make([]string, 0, len(cfg.Providers))
	for name := range cfg.Providers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Addition is a provider to add, or what to change about one that is there: empty
// fields stay as they are.
type Addition struct {
	Name    string
	API     string // empty: the name, when it is one
	URL     string
	KeyRef  string       // a reference
	Key     secret.Value // a key itself: it goes into the keyring
	Private *bool
}

// Added says what was written.
type Added struct {
	File    string `json:"file"`
	Name    string `json:"name"`
	Key     KeyDoc `json:"key"`
	Changed bool   `json:"changed"` // it was there before
}

// Add writes a provider into the person's file; comments stay. A key itself is
// stored in the keyring first and read back.
func (p Providers) Add(ctx context.Context, a Addition) (Added, error) {
	places := p.Env.places()
	cfg, err := config.Load(config.Input{Places: places, Getenv: p.Env.Getenv})
	if err != nil {
		return Added{}, err
	}
	row, there := cfg.Providers[a.Name]
	if _, preset := config.PresetOf(a.Name); a.API == "" && !there && preset {
		a.API = a.Name
	}
	switch {
	case a.Name == "":
		return Added{}, usage("a provider needs a name", "relo providers add NAME --api API")
	case a.API == "" && !there:
		return Added{}, usage(fmt.Sprintf("%s is no api by itself: say which it speaks", a.Name), "--api is one of "+strings.Join(config.APIs(), ", "))
	case a.KeyRef != "" && !a.Key.Empty():
		return Added{}, usage("a key and a place of a key were given: choose one", "")
	}
	done := Added{File: places.File(), Name: a.Name, Changed: there}
	undo := func() error { return nil }
	if !a.Key.Empty() {
		if undo, err = p.store(ctx, a.Name, a.Key); err != nil {
			return Added{}, err
		}
		a.KeyRef = "keyring:" + a.Name
	}
	if err := p.write(a, there); err != nil {
		return Added{}, errors.Join(err, undo())
	}
	if cfg, err = config.Load(config.Input{Places: places, Getenv: p.Env.Getenv}); err != nil {
		return Added{}, err
	}
	row = cfg.Providers[a.Name]
	done.Key = keyDoc(row.Key)
	return done, nil
}

func usage(words, hint string) error {
	return &protocol.Error{Code: protocol.CodeUsage, Message: words, Hint: hint}
}

// TidyKey trims a key as it was typed or pasted, and refuses what cannot be one.
func TidyKey(text string) (secret.Value, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return secret.Value{}, usage("no key was given", "")
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r > unicode.MaxASCII }):
		return secret.Value{}, usage("this is not a key: it holds spaces, line ends or letters that no key has", "give the key alone, on one line")
	}
	return secret.New(text), nil
}

// CanStore says whether a key of this name could be stored, before anybody is
// asked for one. The error says what to use instead.
func (p Providers) CanStore(ctx context.Context, name string) error {
	if _, err := p.ring().Get(ctx, name); err != nil && !errors.Is(err, keyring.ErrAbsent) {
		return keyringFault("no key can be stored", err)
	}
	return nil
}

// store puts a key into the keyring. undo puts back what was there.
func (p Providers) store(ctx context.Context, name string, key secret.Value) (undo func() error, err error) {
	ring := p.ring()
	before, err := ring.Get(ctx, name)
	if err != nil && !errors.Is(err, keyring.ErrAbsent) {
		return nil, keyringFault("the key was not stored", err)
	}
	if err := ring.Put(ctx, name, key); err != nil {
		return nil, keyringFault("the key was not stored", err)
	}
	return func() error {
		if before != "" {
			return ring.Put(ctx, name, secret.New(before))
		}
		return ring.Drop(ctx, name)
	}, nil
}

// keyringFault words an error of the keyring, with what to use instead as the hint.
func keyringFault(words string, err error) error {
	e := &protocol.Error{Code: protocol.CodeKey, Message: words + ": " + strings.TrimSuffix(err.Error(), "; "+keyring.Instead)}
	if errors.Is(err, keyring.ErrNone) {
		e.Hint = keyring.Instead
	}
	return e
}

// write sets what the addition names.
func (p Providers) write(a Addition, there bool) error {
	places := p.Env.places()
	fields := map[string]any{}
	for name, value := range map[string]string{"api": a.API, "url": a.URL, "key": a.KeyRef} {
		if value != "" {
			fields[name] = value
		}
	}
	if a.Private != nil {
		fields["private"] = *a.Private
	}
	if !there {
		return config.Set(places, config.Path("providers", a.Name), jsonOf(fields))
	}
	for _, name := range []string{"api", "url", "key", "private"} {
		if value, given := fields[name]; given {
			if err := config.Set(places, config.Path("providers", a.Name, name), jsonOf(value)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Remove takes a provider out of the person's file, and its key out of the keyring.
// One that the ladder or a route names stays, with words that say so.
func (p Providers) Remove(ctx context.Context, name string) (keyGone bool, err error) {
	places := p.Env.places()
	cfg, err := config.Load(config.Input{Places: places, Getenv: p.Env.Getenv})
	if err != nil {
		return false, err
	}
	row, there := cfg.Providers[name]
	if !there {
		return false, noProvider(cfg, name)
	}
	var named []string
	for _, ref := range cfg.Models() {
		if of, _ := ref.Split(); of == name {
			named = append(named, string(ref))
		}
	}
	if len(named) > 0 {
		return false, usage(fmt.Sprintf("%s is in use: the ladder, primary or a route names %s", name, strings.Join(named, ", ")), "relo config set ladder … names others first")
	}
	if err := config.Unset(places, config.Path("providers", name)); err != nil {
		return false, err
	}
	if row.Key != "keyring:"+name {
		return false, nil
	}
	if err := p.ring().Drop(ctx, name); err != nil && !errors.Is(err, keyring.ErrAbsent) {
		return false, fmt.Errorf("%s is out of the configuration, but its key is still in the keyring: %w", name, err)
	}
	return true, nil
}

func noProvider(cfg *config.Config, name string) error {
	names := providerNames(cfg)
	hint := "relo providers discover looks for some on this machine"
	if len(names) > 0 {
		hint = "there are: " + strings.Join(names, ", ")
	}
	return usage(fmt.Sprintf("there is no provider %q", name), hint)
}
