// Package logging makes the one logger of a process. A message is a fixed
// sentence; what varies is a field. Nothing here rotates or ships logs.
package logging

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rs/zerolog"
)

// Open makes a logger that appends to a file; level is a zerolog word, empty for
// info. An unknown level is an error that names the ones there are.
func Open(name, level string) (zerolog.Logger, io.Closer, error) {
	if level == "" {
		level = "info"
	}
	l, err := zerolog.ParseLevel(level)
	if err != nil {
		return zerolog.Nop(), nil, fmt.Errorf("RELO_LOG is %q; use trace, debug, info, warn or error", level)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return zerolog.Nop(), nil, fmt.Errorf("make the log's folder: %w", err)
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:gosec // Relo's own state folder
	if err != nil {
		return zerolog.Nop(), nil, fmt.Errorf("open the log: %w", err)
	}
	return zerolog.New(f).Level(l).With().Timestamp().Int("pid", os.Getpid()).Logger(), f, nil
}
