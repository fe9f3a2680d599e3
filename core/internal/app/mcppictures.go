package app

import (
	"context"
	"errors"

	"github.com/relo-dev/relo/core/internal/config"
	"github.com/relo-dev/relo/core/internal/hub"
	"github.com/relo-dev/relo/core/internal/vision"
	"github.com/relo-dev/relo/core/internal/vision/picture"
)

var _ hub.Pictures = (*Gallery)(nil)

// Gallery prepares pictures of one folder, for relo image and relo mcp alike, under
// what the configuration says of pictures. A file with several names (hard links) is
// refused: nothing here knows which of them git tracks.
type Gallery struct {
	dark  *Darkroom
	roots picture.Roots
	p     *picture.Preparer
}

// OpenGallery opens the folder e.Dir. The error is of opening it.
func OpenGallery(e Env, cfg *config.Config) (*Gallery, error) {
	roots, err := picture.OpenRoots(e.Dir)
	if err != nil {
		return nil, err
	}
	g := &Gallery{dark: NewDarkroom(e), roots: roots}
	g.p = g.dark.Preparer(picture.Options{Never: cfg.Pictures.Never, MaxEdge: cfg.Pictures.MaxEdge, LFS: picture.LFSStore(e.Dir)})
	return g, nil
}

// Close closes the folder and ends what decodes.
func (g *Gallery) Close() error { return errors.Join(g.dark.Close(), g.roots.Close()) }

// Prepare makes a file ready; maxEdge 0 is the configuration's. A refusal has the code
// and the words of relo_image.
func (g *Gallery) Prepare(ctx context.Context, name string, region *vision.Region, maxEdge int) (vision.Picture, vision.Meta, error) {
	p, meta, err := g.p.Prepare(ctx, g.roots, name, picture.Params{Region: region, MaxEdge: maxEdge})
	return p, meta, codedPicture(err)
}

// codedPicture gives a refusal's code to those who do not know the package that made it.
func codedPicture(err error) error {
	if e, ok := errors.AsType[*picture.Error](err); ok {
		return pictureError{e}
	}
	return err
}
