package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/rs/zerolog"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/ledger"
	"github.com/relo-dev/relo/core/internal/orchestrator"
	"github.com/relo-dev/relo/core/internal/protocol"
	"github.com/relo-dev/relo/core/internal/traffic"
)

// settings are the configurations of a running process: the person's, read again
// whenever its file changed, and with it each project's, for the jobs of its folder.
type settings struct {
	env   Env
	log   zerolog.Logger
	shelf *shelf
	known knowledge

	mu   sync.Mutex
	seen map[string]reading // by folder; "" is the person's own
}

// reading is what a folder's files said, and the mark of these files.
type reading struct {
	mark string
	cfg  *config.Config
	book *book
	err  error
}

// foldersKept bounds how many folders' configurations are remembered; one that
// was forgotten is read again.
const foldersKept = 64

func newSettings(e Env, log zerolog.Logger) *settings {
	return &settings{env: e, log: log.With().Str("component", "settings").Logger(), shelf: newShelf(), known: e.knowledge(), seen: map[string]reading{}}
}

// of gives the configuration of a folder; empty: the person's own. A changed
// file is read again, a faulty one is an error (*config.Faults) until it is mended.
func (s *settings) of(dir string) (*config.Config, *book, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.mark(dir)
	last, known := s.seen[dir]
	if known && last.mark == now {
		return last.cfg, last.book, last.err
	}
	e := s.env
	e.Dir = dir
	next := reading{mark: now}
	if next.cfg, next.err = Load(e); next.err == nil {
		next.book = newBook(next.cfg, s.env.Getenv, s.known)
		s.shelf.put(next.book)
	}
	if known {
		s.log.Info().Str("folder", dir).Bool("faulty", next.err != nil).Msg("a changed config was read")
	}
	if len(s.seen) >= foldersKept {
		for other := range s.seen {
			if other != "" {
				delete(s.seen, other)
				break
			}
		}
	}
	s.seen[dir] = next
	return next.cfg, next.book, next.err
}

// renew reads the person's file again when it changed, so that a job under way
// finds a mended provider. A faulty file changes nothing.
func (s *settings) renew() { _, _, _ = s.of("") }

// markMost is more than a config file may have; the rest is not looked at.
const markMost = 2 << 20

// mark names the content of everything that a folder's configuration comes from.
func (s *settings) mark(dir string) string {
	sum := sha256.New()
	add := func(name string, open func() (io.ReadCloser, error)) {
		f, err := open()
		if err != nil {
			_, _ = fmt.Fprintf(sum, "%s: %v\n", name, err)
			return
		}
		n, err := io.Copy(sum, io.LimitReader(f, markMost))
		_, _ = fmt.Fprintf(sum, "\n%s: %d %v\n", name, n, errors.Join(err, f.Close()))
	}
	add("person", func() (io.ReadCloser, error) { return os.Open(s.env.places().File()) })
	if dir != "" {
		add("project", func() (io.ReadCloser, error) { return os.OpenInRoot(dir, projectFile) })
		_, _ = fmt.Fprintf(sum, "trusted %s\n", s.env.approved(dir))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// projectFile is where a project's settings are, below its root.
const projectFile = ".relo/relo.json"

// projectDir finds the root of the project that a folder belongs to: the nearest
// folder above with a .git, else the folder itself. Links are resolved, as git does.
func projectDir(dir string) string {
	if dir == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// rules reads the config for the jobs of a folder. A faulty one is told to who
// submits a job there.
func (s *settings) rules(_ context.Context, dir string) (orchestrator.Rules, error) {
	cfg, book, err := s.of(projectDir(dir))
	if err != nil {
		return orchestrator.Rules{}, configFault(err)
	}
	return orchestrator.Rules{
		Ladder: book.ladder(), Primary: cfg.Primary, Planning: cfg.Routes.Planning, Review: cfg.Routes.Review, Engine: cfg.Engine,
		AutoReview: cfg.Review.Auto, AskUnknown: cfg.Budget.UnknownPrice == "ask" && cfg.Budget.PerJob != nil,
		Budget:   ledger.Budget{PerJob: cfg.Budget.PerJob, PerDay: cfg.Budget.PerDay, DenyUnknown: cfg.Budget.UnknownPrice == "deny"},
		Attempts: cfg.Limits.Attempts, Rounds: cfg.Limits.Rounds, Minutes: cfg.Limits.TaskMinutes, MaxTasks: cfg.Limits.Tasks,
		MaxEdge: cfg.Pictures.MaxEdge, Never: cfg.Pictures.Never, Book: book,
		Pictures: traffic.PictureRules{Keep: cfg.Pictures.Keep, Settle: cfg.Pictures.SettleDoubt},
	}, nil
}

// configFault makes the faults of a config a document that crosses the bus.
func configFault(err error) error {
	faults, ok := config.AsFaults(err)
	if !ok {
		return err
	}
	words := fmt.Sprintf("the configuration has %d faults", len(faults))
	if len(faults) == 1 {
		words = "the configuration has a fault"
	}
	return &protocol.Error{Code: protocol.CodeConfig, Message: words + "; nothing was started\n" + err.Error(), Hint: "relo config schema prints what is allowed"}
}

// startConfig is the person's config for a process that serves all folders. A
// faulty one is an error with every fault: nothing is started with a guess.
func startConfig(e Env) (*config.Config, error) {
	e.Dir = ""
	return Load(e)
}
