package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/screen"
	"github.com/relo-dev/relo/core/internal/secret"
)

func (s *shell) providersCmd() *cobra.Command {
	list := func(*cobra.Command, []string) error { return s.providersList() }
	c := &cobra.Command{
		Use: "providers", Short: "The places that serve models: list, add, try and find them", Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return group(c, args)
			}
			return list(c, args)
		},
	}
	c.AddCommand(
		&cobra.Command{Use: "list", Short: "List the providers of the configuration, and where their keys are kept", Args: none, RunE: list},
		s.providersAddCmd(), s.providersTestCmd(),
		&cobra.Command{
			Use: "remove NAME", Short: "Take a provider out of your relo.json, and its key out of the keyring", Args: exactly("NAME"),
			RunE: func(c *cobra.Command, args []string) error { return s.providersRemove(c.Context(), args[0]) },
		},
		&cobra.Command{
			Use: "discover [NAME]...", Short: "Look for keys, local servers and other agents' settings, or ask providers for their models",
			Long: "Look for keys in the environment, model servers on this machine and the settings of other agents.\n" +
				"Only loopback is asked, nothing is used, nothing is changed, no key is copied.\n\n" +
				"With names, ask these providers of your configuration for their lists of models, whatever their discover says, and\n" +
				"keep what they say. relo models refresh asks all of them.",
			RunE: func(c *cobra.Command, args []string) error { return s.providersDiscover(c.Context(), args) },
		},
	)
	return c
}

// providersHere is what the commands work with.
func (s *shell) providersHere() (app.Providers, *config.Config, error) {
	env, err := s.env("")
	if err != nil {
		return app.Providers{}, nil, err
	}
	cfg, err := s.load(env)
	return app.Providers{Env: env}, cfg, err
}

func (s *shell) providersList() error {
	p, cfg, err := s.providersHere()
	if err != nil {
		return err
	}
	docs := p.List(cfg)
	if s.json {
		s.out.doc(map[string]any{"providers": docs})
		return nil
	}
	if len(docs) == 0 {
		s.note.line("no providers are configured; relo config init proposes some, relo providers add NAME adds one")
		return nil
	}
	rows := [][]string{{"NAME", "API", "ADDRESS", "KEY", "MODELS", ""}}
	for _, d := range docs {
		private := ""
		if d.Private {
			private = "private"
		}
		rows = append(rows, []string{flat(d.Name, 0), d.API, flat(dash(d.URL), 0), flat(keyWords(d.Key), 0), fmt.Sprint(len(d.Models)), private})
	}
	s.out.table(rows)
	return nil
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// keyWords says where a key is kept.
func keyWords(k app.KeyDoc) string {
	switch _, place, _ := strings.Cut(k.Ref, ":"); k.Kind {
	case "env":
		return "variable " + place
	case "file":
		return "file " + place
	case "keyring":
		return "keyring, as " + place
	case "cmd":
		return "a command"
	}
	return "none"
}

// addFlags are the flags of providers add.
type addFlags struct {
	api, url, key, keyEnv, keyFile, keyCmd string
	keyStdin, keyring, private             bool
}

func (s *shell) providersAddCmd() *cobra.Command {
	var f addFlags
	c := &cobra.Command{
		Use: "add NAME", Short: "Add a provider, or change what is given of one that is there", Args: exactly("NAME"),
		Long: "Add a provider to your relo.json, or change of one that is there what the flags name.\n" +
			"A key itself is never a flag: it is asked for without showing it, or read from stdin, and goes into the\n" +
			"system's keyring. The other ways name the place where the key is kept, and it is fetched from there each time.",
		Example: "  relo providers add anthropic\n  relo providers add my-proxy --api openai-chat --url https://proxy.example/v1 --key-env PROXY_KEY\n" +
			"  pass show openrouter | relo providers add openrouter --key-stdin\n  relo providers add ollama",
		RunE: func(c *cobra.Command, args []string) error {
			a := app.Addition{Name: args[0], API: f.api, URL: f.url}
			if c.Flags().Changed("private") {
				a.Private = &f.private
			}
			return s.providersAdd(c.Context(), a, f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.api, "api", "", "what it speaks (default: NAME, when it is one): "+strings.Join(config.APIs(), " "))
	fl.StringVar(&f.url, "url", "", "its base address (default: the vendor's own)")
	fl.StringVar(&f.key, "key", "", "where the key is kept: env:NAME, file:PATH, keyring:NAME or cmd:COMMAND; never the key")
	fl.StringVar(&f.keyEnv, "key-env", "", "the key is in this variable")
	fl.StringVar(&f.keyFile, "key-file", "", "the key is in this file, which only you can read")
	fl.StringVar(&f.keyCmd, "key-cmd", "", "this command prints the key")
	fl.BoolVar(&f.keyStdin, "key-stdin", false, "read the key from stdin and store it in the keyring")
	fl.BoolVar(&f.keyring, "keyring", false, "ask for the key and store it in the keyring")
	fl.BoolVar(&f.private, "private", false, "its models are on your own machines: private jobs may use them")
	return c
}

func (s *shell) providersAdd(ctx context.Context, a app.Addition, f addFlags) error {
	p, cfg, err := s.providersHere()
	if err != nil {
		return err
	}
	if a.KeyRef, err = f.reference(); err != nil {
		return err
	}
	ways := keyWays{addFlags: f, canStore: p.CanStore}
	if a.Key, err = s.keyOf(ctx, a, ways, cfg); err != nil {
		return err
	}
	done, err := p.Add(ctx, a)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(done)
		return nil
	}
	verb := "added"
	if done.Changed {
		verb = "changed"
	}
	s.out.line("%s %s in %s", verb, done.Name, done.File)
	switch {
	case !a.Key.Empty():
		s.out.line("its key is in the system's keyring as %s, and was read back", a.Name)
	case done.Key.Kind != "none":
		s.out.line("its key is fetched from: %s", keyWords(done.Key))
	}
	s.note.line("%s tries it", s.typed("providers", "test", done.Name))
	return nil
}

// reference is the place of the key that the flags name; empty: none.
func (f addFlags) reference() (string, error) {
	if _, ok := config.Reference(f.key); f.key != "" && !ok {
		return "", &usageError{
			words: "--key names where the key is kept; the key itself on a command line can be read by everybody on this machine",
			hint:  "--key-stdin, --keyring, --key-env NAME, --key-file PATH or --key-cmd COMMAND; and if this was a real key, replace it",
		}
	}
	ref, given := f.key, 0
	for _, way := range []struct{ kind, value string }{{"env", f.keyEnv}, {"file", f.keyFile}, {"cmd", f.keyCmd}} {
		if way.value == "" {
			continue
		}
		if way.kind == "file" && !strings.HasPrefix(way.value, "~/") {
			abs, err := filepath.Abs(way.value)
			if err != nil {
				return "", fmt.Errorf("find the key's file: %w", err)
			}
			way.value = abs
		}
		ref, given = way.kind+":"+way.value, given+1
	}
	for _, set := range []bool{f.key != "", f.keyStdin, f.keyring} {
		if set {
			given++
		}
	}
	if given > 1 {
		return "", &usageError{words: "the key is given in more than one way", hint: "choose one of --key, --key-env, --key-file, --key-cmd, --key-stdin and --keyring"}
	}
	return ref, nil
}

// keyWays are the flags and whether there is a keyring.
type keyWays struct {
	addFlags
	canStore func(ctx context.Context, name string) error
}

// keyOf gets the key itself when it is to be stored: from stdin, or by asking. A
// new provider that usually needs one is asked for when nothing else was said.
func (s *shell) keyOf(ctx context.Context, a app.Addition, f keyWays, cfg *config.Config) (secret.Value, error) {
	if f.keyStdin {
		return s.stdinKey()
	}
	if !f.keyring && (a.KeyRef != "" || !s.needsKey(a, cfg)) {
		return secret.Value{}, nil
	}
	if !s.asks() {
		return secret.Value{}, &usageError{
			words: fmt.Sprintf("%s needs a key, and nobody can be asked for it here", a.Name), hint: "pass --key-stdin, --key-env NAME, --key-file PATH or --key-cmd COMMAND",
		}
	}
	if err := f.canStore(ctx, a.Name); err != nil { // nobody should type a key for nothing
		return secret.Value{}, err
	}
	return s.askKey(ctx, a.Name)
}

// needsKey reports whether a new provider's service wants a key and its usual
// variable has none.
func (s *shell) needsKey(a app.Addition, cfg *config.Config) bool {
	if _, there := cfg.Providers[a.Name]; there {
		return false
	}
	api := a.API
	if api == "" {
		api = a.Name
	}
	preset, ok := config.PresetOf(api)
	return ok && preset.KeyEnv != "" && (s.getenv(preset.KeyEnv) == "" || a.URL != "" && a.URL != preset.URL)
}

// maxKey bounds what is read as a key.
const maxKey = 16 << 10

func (s *shell) stdinKey() (secret.Value, error) {
	text, err := io.ReadAll(io.LimitReader(s.in, maxKey))
	if err != nil {
		return secret.Value{}, fmt.Errorf("read the key from stdin: %w", err)
	}
	return app.TidyKey(string(text))
}

func (s *shell) askKey(ctx context.Context, name string) (secret.Value, error) {
	in, ok := s.in.(*os.File)
	if !ok {
		return secret.Value{}, errors.New("stdin is no terminal")
	}
	s.note.raw(fmt.Sprintf("Key for %s (it is not shown): ", calm(name)))
	text, err := screen.ReadSecret(ctx, in)
	s.note.raw("\n")
	if errors.Is(err, screen.ErrGivenUp) {
		return secret.Value{}, &usageError{words: "no key was typed; nothing was changed"}
	}
	if err != nil {
		return secret.Value{}, fmt.Errorf("read the key: %w", err)
	}
	return app.TidyKey(text)
}

func (s *shell) providersRemove(ctx context.Context, name string) error {
	p, _, err := s.providersHere()
	if err != nil {
		return err
	}
	keyGone, err := p.Remove(ctx, name)
	if err != nil {
		return err
	}
	if s.json {
		s.out.doc(map[string]any{"removed": name, "keyRemoved": keyGone})
		return nil
	}
	words := "removed " + name
	if keyGone {
		words += ", and its key from the keyring"
	}
	s.out.line("%s", words)
	return nil
}
