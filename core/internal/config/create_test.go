package config

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

func TestCreateNeverLosesAConfiguration(t *testing.T) {
	t.Parallel()
	places := Places{Config: t.TempDir()}
	const one, two = "// one\n{\"engine\": \"native\"}\n", "{\"keepDays\": 3}\n"
	if backup, err := Create(places, []byte(one), false); err != nil || backup != "" {
		t.Fatalf("%q, %v", backup, err)
	}
	if _, err := Create(places, []byte(two), false); !errors.Is(err, ErrExists) {
		t.Fatalf("written over: %v", err)
	}
	if _, err := Create(places, []byte(`{"keepDays": "many"}`), true); err == nil || errors.Is(err, ErrExists) {
		t.Fatalf("a fault was written: %v", err)
	}
	read := func(name string) string {
		b, err := os.ReadFile(name)
		must(t, err)
		return string(b)
	}
	if read(places.File()) != one {
		t.Fatal("a refused text changed the file")
	}
	first, err := Create(places, []byte(two), true)
	if err != nil || read(first) != one || read(places.File()) != two {
		t.Fatalf("backup %q: %v", first, err)
	}
	second, err := Create(places, []byte(one), true)
	if err != nil || second == first || read(second) != two || read(first) != one {
		t.Fatalf("second backup %q: %v", second, err)
	}
	info, err := os.Stat(second)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestAKeyringIsAskedOnlyThroughItsDoor(t *testing.T) {
	t.Parallel()
	ring := func(_ context.Context, name string) (string, error) {
		if name != "acme" {
			return "", errors.New("it holds nothing under that name")
		}
		return " sk-from-the-ring\n", nil
	}
	k := Keys{Getenv: func(string) string { return "" }, Ring: ring}
	if v, err := k.Resolve(t.Context(), "keyring:acme"); err != nil || v.Reveal() != "sk-from-the-ring" {
		t.Errorf("%v", err)
	}
	for _, c := range []struct {
		keys Keys
		ref  string
		want string
	}{
		{k, "keyring:other", "it holds nothing under that name"},
		{Keys{}, "keyring:acme", "use env:NAME, file:PATH or cmd:COMMAND"},
	} {
		_, err := c.keys.Resolve(t.Context(), c.ref)
		if !errors.Is(err, ErrNoKey) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.ref, err)
		}
	}
}

func TestPathIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"here", "my.proxy", "a-b", `q"uote`, "1st"} {
		parts, err := split(Path("providers", name, "url"))
		if err != nil || len(parts) != 3 || parts[1] != name {
			t.Errorf("%q: %v, %v", name, parts, err)
		}
	}
}
