package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
)

// Headers gives the headers that this request needs beside the usual ones; nil: none.
func Headers(r provider.Request, d Dialect) map[string]string {
	h := map[string]string{}
	if d.SightHeader != "" && shows(r) {
		h[d.SightHeader] = "true"
	}
	if d.CacheHeader != "" && r.CacheKey != "" {
		h[d.CacheHeader] = cacheKey(r.CacheKey)
	}
	if len(h) == 0 {
		return nil
	}
	return h
}

// shows reports whether a picture is in the transcript.
func shows(r provider.Request) bool {
	return slices.ContainsFunc(r.Messages, func(m provider.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p provider.Part) bool {
			return p.Picture != nil || (p.Result != nil && len(p.Result.Pictures) > 0)
		})
	})
}

// cacheKey is a key as any provider takes it: plain and short. Another is hashed.
func cacheKey(key string) string {
	odd := func(r rune) bool { return notAlphanumeric(r) && r != '-' && r != '_' }
	if len(key) <= maxCacheKey && !strings.ContainsFunc(key, odd) {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}
