package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relo-dev/relo/core/internal/app"
	"github.com/relo-dev/relo/core/internal/vision"
	"github.com/relo-dev/relo/core/internal/vision/picture"
)

type imageFlags struct {
	root, region, out string
	maxEdge           int
}

func (s *shell) imageCmd() *cobra.Command {
	var f imageFlags
	c := &cobra.Command{
		Use: "image PATH...", Short: "Prepare pictures as a model would get them, and say what was done to them",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exactly("PATH")(c, args)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return s.image(c.Context(), f, args) },
	}
	fl := c.Flags()
	fl.StringVar(&f.root, "root", "", "the folder that pictures must lie in (default: the current folder)")
	fl.StringVar(&f.region, "region", "", "X,Y,W,H in pixels of the picture, of every path")
	fl.IntVar(&f.maxEdge, "max-edge", 0, fmt.Sprintf("longest edge that is sent, %d to %d (default: the configuration's)", picture.MinMaxEdge, picture.MaxMaxEdge))
	fl.StringVar(&f.out, "out", "", "a folder for what would be sent")
	return c
}

// preparedDoc is one prepared picture; File is where --out wrote it.
type preparedDoc struct {
	vision.Meta
	File string `json:"file,omitempty"`
}

// imagesDoc is the document of image.
type imagesDoc struct {
	Images []preparedDoc `json:"images"`
	Errors []refusedDoc  `json:"errors"`
}

type refusedDoc struct {
	Path    string `json:"path"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (s *shell) image(ctx context.Context, f imageFlags, paths []string) error {
	params, err := f.params()
	if err != nil {
		return err
	}
	env, cfg, err := s.seeing(f.root)
	if err != nil {
		return err
	}
	g, err := app.OpenGallery(env, cfg)
	if err != nil {
		return rootFault(env, err)
	}
	defer func() { _ = g.Close() }() // opened for reading only
	shown, refused := []preparedDoc{}, []refusedDoc{}
	for _, path := range paths {
		pic, meta, err := g.Prepare(ctx, path, params.Region, params.MaxEdge)
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted: %w", context.Cause(ctx))
		}
		if err != nil {
			refused = append(refused, refusal(path, err))
			continue
		}
		meta.Index = len(shown)
		doc := preparedDoc{Meta: meta}
		if f.out != "" {
			if doc.File, err = keep(f.out, path, meta.Index, pic); err != nil {
				return err
			}
		}
		shown = append(shown, doc)
	}
	s.images(imagesDoc{shown, refused})
	if len(refused) > 0 { // as with every command that takes several files
		return &endError{exitError}
	}
	return nil
}

func (s *shell) images(doc imagesDoc) {
	switch {
	case s.json:
		s.out.doc(doc)
	case len(doc.Images) > 0:
		s.imageTable(doc.Images)
	}
	outside := false
	for _, r := range doc.Errors {
		s.note.line("relo: %s: %s", flat(r.Path, 0), r.Message)
		outside = outside || r.Code == string(picture.OutsideWorkspace)
	}
	if outside {
		s.note.line("  --root FOLDER names the folder that pictures must lie in; without it that is the current folder")
	}
}

func (s *shell) imageTable(images []preparedDoc) {
	rows := [][]string{{"PATH", "SOURCE", "SENT", "BYTES", "NOTES"}}
	size := func(v vision.Size) string { return fmt.Sprintf("%dx%d", v.Width, v.Height) }
	for _, i := range images {
		source := size(i.Source)
		if i.Crop != nil {
			source += fmt.Sprintf(", of it %dx%d at %d,%d", i.Crop.Width, i.Crop.Height, i.Crop.X, i.Crop.Y)
		}
		notes := i.Notes
		if i.File != "" {
			notes = append([]string{"written to " + i.File}, notes...)
		}
		rows = append(rows, []string{flat(i.Path, 0), source, size(i.Sent), strconv.Itoa(i.Bytes), flat(strings.Join(notes, "; "), 0)})
	}
	s.out.table(rows)
}

func refusal(path string, err error) refusedDoc {
	if e, ok := errors.AsType[*picture.Error](err); ok {
		return refusedDoc{path, string(e.Code), e.Message}
	}
	return refusedDoc{path, string(picture.Corrupt), err.Error()}
}

func (f imageFlags) params() (picture.Params, error) {
	p := picture.Params{MaxEdge: f.maxEdge}
	if f.maxEdge != 0 && (f.maxEdge < picture.MinMaxEdge || f.maxEdge > picture.MaxMaxEdge) {
		return p, &usageError{words: fmt.Sprintf("--max-edge is a number from %d to %d", picture.MinMaxEdge, picture.MaxMaxEdge)}
	}
	if f.region == "" {
		return p, nil
	}
	var n [4]int
	parts := strings.Split(f.region, ",")
	for i, part := range parts {
		v, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || len(parts) != len(n) {
			return p, &usageError{words: fmt.Sprintf("--region %q is not X,Y,W,H", f.region), hint: "four whole numbers of pixels, for example 0,0,800,600"}
		}
		n[i] = v
	}
	p.Region = &vision.Region{X: n[0], Y: n[1], Width: n[2], Height: n[3]}
	return p, nil
}

// keep writes what would be sent, under the picture's own name and its turn.
func keep(dir, path string, index int, pic vision.Picture) (string, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", fmt.Errorf("make the folder of --out: %w", err)
	}
	name := filepath.Base(filepath.FromSlash(path))
	name = fmt.Sprintf("%s-%d.%s", strings.TrimSuffix(name, filepath.Ext(name)), index, strings.TrimPrefix(pic.MediaType, "image/"))
	file := filepath.Join(dir, name)
	if err := replace(file, pic.Bytes); err != nil {
		return "", fmt.Errorf("write the prepared picture: %w", err)
	}
	return file, nil
}

// replace puts a whole file in place, or none: a full disk leaves no half of it, and a
// link in its place is not followed.
func replace(file string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".relo-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// ServePictures makes this process a child that prepares pictures (app.PictureChild),
// and gives its exit code.
func ServePictures(in io.Reader, out, errs io.Writer) int {
	if err := picture.Serve(in, out); err != nil {
		_, _ = fmt.Fprintln(errs, err) // for the parent's log
		return exitError
	}
	return 0
}
