// Command relogen writes the pages that are drawn from code: the reference of
// the command line and of relo.json, its schema, the states, and the man pages.
// The same code gives the same bytes on every machine and day. With -catalog it writes
// the built-in catalogue of models instead, from an npm package that is unpacked.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run . -root ../../..

func main() {
	root := flag.String("root", ".", "the repository's folder")
	models := flag.String("catalog", "", "folder of an unpacked @oh-my-pi/pi-catalog: write the catalogue alone")
	flag.Parse()
	draw := func() error { return write(*root) }
	if *models != "" {
		draw = func() error { return writeCatalog(*root, *models) }
	}
	if err := draw(); err != nil {
		fmt.Fprintln(os.Stderr, "relogen:", err)
		os.Exit(1)
	}
}

// write brings every page up to date and removes man pages of commands that are gone.
func write(root string) error {
	all, err := pages()
	if err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(manDir), "*.1"))
	if err != nil {
		return fmt.Errorf("list the man pages: %w", err)
	}
	for _, file := range old {
		if _, still := all[manDir+"/"+filepath.Base(file)]; !still {
			err = errors.Join(err, os.Remove(file))
		}
	}
	for name, text := range all {
		file := filepath.Join(root, filepath.FromSlash(name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o750), os.WriteFile(file, text, 0o644)) //nolint:gosec // pages for everybody
	}
	return err
}
