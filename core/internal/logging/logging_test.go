package logging

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "state", "relo.log")
	for range 2 { // appends
		log, file, err := Open(name, "")
		if err != nil {
			t.Fatal(err)
		}
		log.Info().Str("job", "j").Msg("started")
		log.Debug().Msg("a detail")
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), `"job":"j"`); n != 2 || strings.Contains(string(text), "detail") || !strings.Contains(string(text), `"pid":`) {
		t.Errorf("%s", text)
	}
	for path, want := range map[string]os.FileMode{name: 0o600, filepath.Dir(name): 0o700} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
	if _, _, err := Open(name, "loud"); err == nil || !strings.Contains(err.Error(), "debug") {
		t.Errorf("%v does not name the levels", err)
	}
	if log, file, err := Open(name, "debug"); err != nil || log.GetLevel().String() != "debug" || file.Close() != nil {
		t.Errorf("%v", err)
	}
}
