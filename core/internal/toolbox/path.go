package toolbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// rel turns a path as the model writes it into one below the workspace. It
// looks at the words only; links are the root's to hold.
func (b *Box) rel(path string) (string, error) {
	if path == "" {
		return ".", nil
	}
	name := filepath.FromSlash(path)
	if !filepath.IsAbs(name) {
		if name = filepath.Clean(name); filepath.IsLocal(name) {
			return name, nil
		}
		return "", outside(path)
	}
	for _, base := range []string{b.options.Dir, b.real} {
		if r, err := filepath.Rel(base, name); err == nil && filepath.IsLocal(r) {
			return r, nil
		}
	}
	return "", outside(path)
}

func outside(path string) error {
	return fmt.Errorf("%s lies outside the workspace; pass a path inside it, such as src/main.go", path)
}

// target is the place that a write to path would change: links are followed, so
// that a link cannot lead into a protected folder under another name.
func (b *Box) target(path string) (string, error) {
	name, err := b.rel(path)
	if err != nil {
		return "", err
	}
	real, err := b.follow(name)
	if err != nil {
		return "", err
	}
	if name == "." || real == "." {
		return "", errors.New("this is the workspace itself; pass the path of a file")
	}
	for _, n := range []string{name, real} {
		if part := protected(n); part != "" {
			return "", fmt.Errorf("%s is not for writing: %s belongs to the person's tools, not to the task", path, part)
		}
	}
	return real, nil
}

// follow resolves the links of a path whose end may not exist yet.
func (b *Box) follow(name string) (string, error) {
	at, rest := name, ""
	for {
		full, err := filepath.EvalSymlinks(filepath.Join(b.real, at))
		if err == nil {
			r, err := filepath.Rel(b.real, full)
			if err != nil || !filepath.IsLocal(r) {
				return "", outside(name)
			}
			return filepath.Join(r, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || at == "." {
			return "", words(name, err)
		}
		at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest)
	}
}

// protected names the part of a path that agents never write: what git, Relo
// and editors run or obey (06-security: a repository must not gain rights by
// what an agent writes). Case is ignored, as some file systems do.
func protected(name string) string {
	parts := strings.Split(filepath.ToSlash(name), "/")
	for i, part := range parts {
		low := strings.ToLower(part)
		switch {
		case low == ".git":
			return part
		case i == 0 && (low == ".relo" || low == ".vscode" || low == ".idea"):
			return part
		case i == len(parts)-1 && strings.HasSuffix(low, ".code-workspace"):
			return part
		}
	}
	return ""
}

// open opens a regular file for reading; a pipe or a device is refused without
// waiting for it, by asking the opened file and not its name.
func (b *Box) open(name string) (*os.File, fs.FileInfo, error) {
	f, err := b.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, words(name, err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = fmt.Errorf("%s is a folder; ls lists it", name)
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file", name)
	default:
		return f, info, nil
	}
	return nil, nil, errors.Join(err, f.Close())
}

// load reads a whole file of at most maxText bytes.
func (b *Box) load(name string) ([]byte, fs.FileInfo, error) {
	f, info, err := b.open(name)
	if err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, nil, words(name, err)
	}
	if len(data) > maxText {
		return nil, nil, fmt.Errorf("%s is larger than %d MiB; take the part that matters with bash (head, tail, grep)", name, maxText>>20)
	}
	return data, info, nil
}

// words turns a file error into one that names the path as the model knows it.
func words(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist; ls or glob shows what does", filepath.ToSlash(name))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: no permission", filepath.ToSlash(name))
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", filepath.ToSlash(name), pe.Err)
	}
	return fmt.Errorf("%s: %w", filepath.ToSlash(name), err)
}
