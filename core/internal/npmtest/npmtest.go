// Package npmtest gives tests real programs of other people from npm, each of an exact
// version, installed once for all clones of a machine. Nothing is asked of a network
// unless RELO_E2E_CLIENTS is set: a test that needs such a program is skipped then, and
// says so. No script of a package is run.
package npmtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Switch is the variable that lets these tests run.
const Switch = "RELO_E2E_CLIENTS"

// installTime bounds an installation: the largest programs are 200 MB.
const installTime = 10 * time.Minute

// Install gives the node_modules folder that holds the packages, named as
// package@version. It skips the test when nobody asked for it or npm is not there.
func Install(t testing.TB, packages ...string) (modules string) {
	t.Helper()
	names := strings.Join(packages, " ")
	if os.Getenv(Switch) == "" {
		t.Skip("not run: needs programs from npm (" + names + "): make e2e-clients")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("not run: npm is not on the PATH, which " + names + " is got with: install Node, then make e2e-clients")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(names))
	dir := filepath.Join(cache, "relo", "npm", hex.EncodeToString(sum[:6]))
	whole := filepath.Join(dir, "whole") // made when everything is there
	modules = filepath.Join(dir, "node_modules")
	if _, err := os.Stat(whole); err == nil {
		return modules
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a cache of what everybody can have
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), installTime)
	defer cancel()
	args := append([]string{"install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", "--no-save"}, packages...)
	t.Logf("npm installs %s into %s", names, dir)
	if out, err := exec.CommandContext(ctx, npm, args...).CombinedOutput(); err != nil { //nolint:gosec // packages are constants of tests
		t.Fatalf("npm cannot install %s: %v\n%s", names, err, out)
	}
	if err := os.WriteFile(whole, []byte(names+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return modules
}
