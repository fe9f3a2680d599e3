package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// maxImage is the largest picture that can be prepared; a larger one would be
// refused later, by every model.
const maxImage = 40 << 20

// attached is a file that comes with a job, under its base name.
type attached struct{ name, file string }

// findImages looks at every file before anything is started or sent.
func findImages(dir string, files []string) ([]attached, error) {
	var out []attached
	for _, given := range files {
		file := given
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		info, err := os.Stat(file)
		switch {
		case err != nil:
			return nil, &usageError{words: fmt.Sprintf("--image %s cannot be opened: %v", given, cause(err)), hint: "give the path of a picture"}
		case !info.Mode().IsRegular():
			return nil, &usageError{words: fmt.Sprintf("--image %s is not a file", given), hint: "give the path of a picture"}
		case info.Size() > maxImage:
			return nil, tooLarge(given)
		}
		name := filepath.Base(file)
		for _, other := range out {
			if other.name == name {
				return nil, &usageError{
					words: fmt.Sprintf("two pictures have the name %s: %s and %s", name, other.file, file),
					hint:  "agents know a picture by its name; give one of them another",
				}
			}
		}
		out = append(out, attached{name, file})
	}
	return out, nil
}

func tooLarge(file string) error {
	return &usageError{words: fmt.Sprintf("--image %s is larger than %d MiB", file, maxImage>>20), hint: "make a smaller copy"}
}

// cause is the system's reason without the path, which is said beside it.
func cause(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}

// read gives the whole file; it may have grown since it was found.
func (i attached) read() (data []byte, err error) {
	f, err := os.Open(i.file)
	if err != nil {
		return nil, fmt.Errorf("read the picture: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if data, err = io.ReadAll(io.LimitReader(f, maxImage+1)); err != nil {
		return nil, fmt.Errorf("read the picture: %w", err)
	}
	if len(data) > maxImage {
		return nil, tooLarge(i.file)
	}
	return data, nil
}
