package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/relo-dev/relo/core/internal/record"
)

// PutBlob keeps bytes under their SHA-256 (hex), on the disk before it returns.
// Bytes that are there already are not written again, unless they are damaged.
func (s *Store) PutBlob(data []byte) (sha string, err error) {
	sum := sha256.Sum256(data)
	sha = hex.EncodeToString(sum[:])
	name := s.blobFile(sha)
	s.album.RLock()
	defer s.album.RUnlock()
	if _, err := s.Blob(sha); err == nil {
		now := time.Now()
		if err := os.Chtimes(name, now, now); err != nil { // young again: DropBlobs leaves it for the event that will name it
			return "", fmt.Errorf("keep a picture: %w", err)
		}
		return sha, nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return "", fmt.Errorf("keep a picture: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(name), "new-*")
	if err != nil {
		return "", fmt.Errorf("keep a picture: %w", err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("keep a picture: %w", err), os.Remove(f.Name()))
	}
	if err := errors.Join(syncDir(filepath.Dir(name)), syncDir(s.blobs)); err != nil {
		return "", fmt.Errorf("keep a picture: %w", err)
	}
	return sha, nil
}

// syncDir brings the names in a folder to the disk: a rename alone may be lost
// when the power fails.
func syncDir(name string) error {
	d, err := os.Open(name) //nolint:gosec // Relo's own state folder
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Blob gives the bytes of a SHA-256, or record.ErrUnknown. Bytes that no longer
// match their name are never given out.
func (s *Store) Blob(sha string) ([]byte, error) {
	if raw, err := hex.DecodeString(sha); err != nil || len(raw) != sha256.Size {
		return nil, fmt.Errorf("%q is not a SHA-256: %w", sha, record.ErrUnknown)
	}
	data, err := os.ReadFile(s.blobFile(sha))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, record.ErrUnknown
	}
	if err != nil {
		return nil, fmt.Errorf("read a picture: %w", err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != sha {
		return nil, fmt.Errorf("picture %s is damaged on the disk: %w", sha, record.ErrUnknown)
	}
	return data, nil
}

func (s *Store) blobFile(sha string) string { return filepath.Join(s.blobs, sha[:2], sha) }
