package screen

import (
	"errors"
	"strings"
	"testing"
)

func TestASecretIsReadAsItWasMeant(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"sk-key\r": "sk-key", "sk-key\n": "sk-key", "skx\x7f-key\r": "sk-key", "wrong\x15sk-key\r": "sk-key", "\b\bsk\r": "sk", "\r": "",
		"\x1b[200~sk-key\r": "[200~sk-key", // a paste that is marked is not asked for here
	} {
		if got, err := readSecret(strings.NewReader(typed)); err != nil || got != want {
			t.Errorf("%q is %q, %v", typed, got, err)
		}
	}
	for _, typed := range []string{"sk\x03", "\x04", "sk-without-an-end"} {
		if got, err := readSecret(strings.NewReader(typed)); !errors.Is(err, ErrGivenUp) || got != "" {
			t.Errorf("%q is %q, %v", typed, got, err)
		}
	}
}
