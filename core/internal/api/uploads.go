package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/relo-dev/relo/core/internal/protocol"
)

const (
	// ChunkBytes is how much of a file one message carries: in base64 it is 5.3
	// MiB, under the bus's 8 MiB.
	ChunkBytes = 4 << 20
	// fileMax bounds one file: a picture may have 40 MiB (relo_image's own limit).
	fileMax = 40 << 20
	// allMax bounds what all half-sent files may hold in memory.
	allMax = 160 << 20
	// idleMax drops a half-sent file whose sender is gone.
	idleMax = time.Minute
)

// uploads puts files together that come in pieces.
type uploads struct {
	album Album

	mu   sync.Mutex
	open map[string]*upload
	held int64
}

type upload struct {
	data []byte
	size int64
	last time.Time
}

func newUploads(a Album) *uploads { return &uploads{album: a, open: map[string]*upload{}} }

func bad(format string, args ...any) error {
	return &protocol.Error{Code: protocol.CodeUsage, Message: fmt.Sprintf(format, args...)}
}

// put takes one piece; the file is kept with its last one, once its hash is right.
func (u *uploads) put(_ context.Context, c protocol.BlobChunk) (protocol.Empty, error) {
	none := protocol.Empty{}
	if raw, err := hex.DecodeString(c.SHA256); err != nil || len(raw) != sha256.Size {
		return none, bad("blob.put: %q is not a SHA-256", c.SHA256)
	}
	if c.Size < 0 || c.Size > fileMax {
		return none, bad("a file of %d bytes is over the limit of %d MiB", c.Size, fileMax>>20)
	}
	whole, err := u.add(c)
	if err != nil || whole == nil {
		return none, err
	}
	if sum := sha256.Sum256(whole); hex.EncodeToString(sum[:]) != c.SHA256 {
		return none, bad("blob.put: the bytes do not match %s", c.SHA256)
	}
	_, err = u.album.PutBlob(whole)
	return none, err
}

// add appends a piece and gives the whole file when it is complete.
func (u *uploads) add(c protocol.BlobChunk) ([]byte, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	for sha, x := range u.open {
		if now.Sub(x.last) > idleMax {
			u.drop(sha)
		}
	}
	if c.Offset == 0 {
		u.drop(c.SHA256)
		u.open[c.SHA256] = &upload{size: c.Size}
	}
	x := u.open[c.SHA256]
	if x == nil || int64(len(x.data)) != c.Offset || x.size != c.Size || c.Offset+int64(len(c.Data)) > c.Size {
		u.drop(c.SHA256)
		return nil, bad("blob.put: a piece at %d does not follow; send the file again", c.Offset)
	}
	if u.held+int64(len(c.Data)) > allMax {
		u.drop(c.SHA256)
		return nil, &protocol.Error{Code: protocol.CodeInternal, Message: "too many files are being sent at once", Retryable: true}
	}
	x.data, x.last = append(x.data, c.Data...), now
	u.held += int64(len(c.Data))
	if int64(len(x.data)) < c.Size {
		return nil, nil
	}
	whole := x.data
	u.drop(c.SHA256)
	if whole == nil {
		whole = []byte{}
	}
	return whole, nil
}

func (u *uploads) drop(sha string) {
	if x := u.open[sha]; x != nil {
		u.held -= int64(len(x.data))
		delete(u.open, sha)
	}
}

// get gives a piece of a kept file.
func (u *uploads) get(_ context.Context, q protocol.BlobQuery) (protocol.BlobChunk, error) {
	data, err := u.album.Blob(q.SHA256)
	if err != nil {
		return protocol.BlobChunk{}, &protocol.Error{Code: protocol.CodeNotFound, Message: fmt.Sprintf("file %s is not kept here", q.SHA256)}
	}
	if q.Offset < 0 || q.Offset > int64(len(data)) {
		return protocol.BlobChunk{}, bad("blob.get: offset %d is outside the file", q.Offset)
	}
	end := min(q.Offset+ChunkBytes, int64(len(data)))
	return protocol.BlobChunk{SHA256: q.SHA256, Size: int64(len(data)), Offset: q.Offset, Data: data[q.Offset:end]}, nil
}
