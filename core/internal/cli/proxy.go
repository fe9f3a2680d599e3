package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
)

func (s *shell) proxyCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "proxy", Short: "Let other programs call models through Relo: where, and who may",
		Long: "Let other programs call models through Relo. A running daemon serves, on loopback, OpenAI's chat completions and Responses\n" +
			"and Anthropic's messages, each for every model of the configuration (provider/id). Refusals of pictures are healed there,\n" +
			"pictures are described for models that cannot see, and what it costs is in relo costs. docs/proxy.md says how programs are told of it.",
		Args: none,
		RunE: func(*cobra.Command, []string) error { return s.proxyAt() },
	}
	token := &cobra.Command{Use: "token", Short: "Make, list and revoke the tokens of programs"}
	token.AddCommand(
		&cobra.Command{
			Use: "add NAME", Short: "Make a token for a program and print it, once", Args: exactly("NAME"),
			RunE: func(_ *cobra.Command, args []string) error { return s.addToken(args[0]) },
		},
		&cobra.Command{
			Use: "list", Short: "List the programs that have a token", Args: none,
			RunE: func(*cobra.Command, []string) error { return s.listTokens() },
		},
		&cobra.Command{
			Use: "revoke NAME", Short: "End a program's right at once", Args: exactly("NAME"),
			RunE: func(_ *cobra.Command, args []string) error { return s.revokeToken(args[0]) },
		},
	)
	c.AddCommand(token)
	return c
}

// proxyDoc is the document of proxy.
type proxyDoc struct {
	URL string `json:"url"` // base of the API, empty when no daemon runs
}

func (s *shell) proxyAt() error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	at := app.ProxyAddress(env)
	switch {
	case s.json && at == "":
		s.out.doc(proxyDoc{})
	case s.json:
		s.out.doc(proxyDoc{at + "/v1"})
	case at == "":
		s.note.line("no daemon is running, so no proxy is; relo daemon start starts both")
	default:
		s.out.line("%s/v1", at)
		s.note.line("programs name a model as provider/id (relo models) and bring a token: relo proxy token add NAME")
	}
	return nil
}

// tokenDoc is a token as it is told, once.
type tokenDoc struct {
	Name  string `json:"name"`
	Token string `json:"token"`
	URL   string `json:"url,omitempty"`
}

func (s *shell) addToken(name string) error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	token, err := app.AddProxyToken(env, name)
	if errors.Is(err, app.ErrTokenThere) {
		return &usageError{words: err.Error(), hint: "relo proxy token revoke " + name + " ends it; then make another"}
	}
	if err != nil {
		return &usageError{words: err.Error()}
	}
	at := app.ProxyAddress(env)
	if s.json {
		d := tokenDoc{Name: name, Token: token.Reveal()}
		if at != "" {
			d.URL = at + "/v1"
		}
		s.out.doc(d)
		return nil
	}
	s.out.line("%s", token.Reveal())
	s.note.line("this is the only time that it is shown; it counts at once")
	if at != "" {
		s.note.line("give it to the program as its API key, with the base URL %s/v1 (Anthropic's programs: %s)", at, at)
	} else {
		s.note.line("relo daemon start starts the proxy; relo proxy says its address")
	}
	return nil
}

// tokensDoc is the document of the list.
type tokensDoc struct {
	Tokens []namedToken `json:"tokens"`
}

type namedToken struct {
	Name string `json:"name"`
	Time string `json:"created"`
}

func (s *shell) listTokens() error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	tokens, err := app.ProxyTokens(env)
	if err != nil {
		return err
	}
	doc := tokensDoc{Tokens: []namedToken{}}
	rows := [][]string{{"NAME", "CREATED"}}
	for _, t := range tokens {
		at := t.Time.UTC().Format("2006-01-02T15:04:05Z")
		doc.Tokens = append(doc.Tokens, namedToken{t.Name, at})
		rows = append(rows, []string{t.Name, at})
	}
	switch {
	case s.json:
		s.out.doc(doc)
	case len(tokens) == 0:
		s.note.line("no program has a token; relo proxy token add NAME makes one")
	default:
		s.out.table(rows)
	}
	return nil
}

func (s *shell) revokeToken(name string) error {
	env, err := s.env("")
	if err != nil {
		return err
	}
	err = app.RevokeProxyToken(env, name)
	if errors.Is(err, app.ErrNoToken) {
		return &usageError{words: fmt.Sprintf("%v", err), hint: "relo proxy token list"}
	}
	if err == nil && !s.json {
		s.note.line("%s may call no model any more", name)
	}
	if err == nil && s.json {
		s.out.doc(struct{}{})
	}
	return err
}
