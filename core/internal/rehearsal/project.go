package rehearsal

import (
	"bytes"
	"embed"
	"fmt"
	"image/png"
	"io/fs"
	"strings"
)

//go:embed project
var projectFiles embed.FS

// The pictures of the project, by their path in it.
const (
	Reference = "ref/card.png" // what the card should look like
	Result    = "out/card.bmp" // what render.sh draws; kept in the project, so that a change of it is seen
)

// wished is what the reference shows otherwise than the project's card.conf.
var wished = button{Color: rgb{0x25, 0x63, 0xeb}, Left: 25, Top: 56, Width: 70, Height: 10}

// Job is the text of the one job that the rehearsal knows.
func Job() string {
	return "Make the card match " + Reference + ", write a usage page, add a test that the button fits on the card, and a line in the changelog."
}

// Project is the demo's repository: slash path to content. Every file is an
// ordinary one (mode 0644): the scripts are started as sh FILE. It needs a POSIX
// shell with sed, cat and cmp, and nothing else.
func Project() (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(projectFiles, "project", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[strings.TrimPrefix(path, "project/")], err = projectFiles.ReadFile(path)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the demo project: %w", err)
	}
	now, err := readCard(string(files["card.conf"]))
	if err != nil {
		return nil, fmt.Errorf("read the demo project's card: %w", err)
	}
	files[Result] = bmp(now.draw())
	now.Button = wished
	var reference bytes.Buffer
	if err := png.Encode(&reference, now.draw()); err != nil {
		return nil, fmt.Errorf("draw the demo project's reference: %w", err)
	}
	files[Reference] = reference.Bytes()
	return files, nil
}
