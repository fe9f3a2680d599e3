package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrExists says that the person has a configuration already.
var ErrExists = errors.New("there is a configuration already")

// Check looks at a text as the person's file and writes nothing. The error of a
// bad one is *Faults.
func Check(places Places, text []byte) error {
	if list := faultsOf(places, text); len(list) > 0 {
		return &Faults{List: list}
	}
	return nil
}

// Create writes the person's whole file, which must hold no fault. One that is
// there is ErrExists, unless replace is set: then it is kept beside the new one
// and backup is its path. What is there may be empty space: that is replaced.
func Create(places Places, text []byte, over bool) (backup string, err error) {
	if err := Check(places, text); err != nil {
		return "", err
	}
	file := places.File()
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real // a link into a folder of dotfiles stays a link
	}
	old, err := os.ReadFile(file) //nolint:gosec // the person's own file
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", replace(file, text)
	case err != nil:
		return "", fmt.Errorf("read %s: %w", file, err)
	case !over:
		return "", fmt.Errorf("%w: %s", ErrExists, file)
	}
	if backup, err = keepOld(file, old); err != nil {
		return "", err
	}
	return backup, replace(file, text)
}

// keepOld writes a copy beside a file, under a name that is free.
func keepOld(file string, old []byte) (string, error) {
	for n := 1; n <= maxBackups; n++ {
		name := fmt.Sprintf("%s.%d.bak", file, n)
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // beside the person's own file
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("keep the old configuration: %w", err)
		}
		_, err = f.Write(old)
		if err = errors.Join(err, f.Close()); err != nil {
			return "", fmt.Errorf("keep the old configuration: %w", err)
		}
		return name, nil
	}
	return "", fmt.Errorf("keep the old configuration: %s has %d backups; move some away", file, maxBackups)
}
