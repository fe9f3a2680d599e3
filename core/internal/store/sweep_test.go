package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func clearLedger(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM usage`)
	return err
}

// age makes a blob as old as if it had been put then.
func age(t *testing.T, s *Store, sha string, by time.Duration) {
	t.Helper()
	then := time.Now().Add(-by)
	must(t, os.Chtimes(s.blobFile(sha), then, then))
}

func put(t *testing.T, s *Store, text string) string {
	t.Helper()
	sha, err := s.PutBlob([]byte(text))
	must(t, err)
	return sha
}

func TestReferencesAreWhateverLooksLikeASHA(t *testing.T) {
	t.Parallel()
	s := told(t)
	got, err := s.References(t.Context(), jobID(1))
	must(t, err)
	if want := []string{sha64(1), sha64(2)}; !slices.Equal(got, want) { // its attachment, and the pictures that were looked at
		t.Errorf("%v, want %v", got, want)
	}
	if got, err := s.References(t.Context(), "nobody"); err != nil || len(got) != 0 {
		t.Errorf("%v %v", got, err)
	}
	a, b := strings.Repeat("a", 64), strings.Repeat("0123456789abcdef", 4)
	for text, want := range map[string][]string{
		`{"trace":"` + a + `"}`: {a, a}, `"sha256:` + b + `."`: {b, b}, `\u003c` + b: {"003c" + b[:60], b}, a[1:]: nil, strings.ToUpper(a): nil, "": nil, a + " " + b: {a, a, b, b},
	} {
		if got := shas(text); !slices.Equal(got, want) {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestDropBlobsLeavesWhatIsKeptAndWhatIsYoung(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	kept, old, young, newer := put(t, s, "kept"), put(t, s, "old"), put(t, s, "young"), put(t, s, "newer")
	age(t, s, kept, 100*time.Hour)
	age(t, s, old, 100*time.Hour)
	age(t, s, newer, 50*time.Hour)
	torn := filepath.Join(filepath.Dir(s.blobFile(old)), half+"123")
	must(t, os.WriteFile(torn, []byte("half a picture"), 0o600))
	must(t, os.Chtimes(torn, time.Time{}, time.Now().Add(-100*time.Hour)))
	n, bytes, err := s.DropBlobs(t.Context(), func(sha string) bool { return sha == kept }, time.Now().Add(-75*time.Hour))
	must(t, err)
	if n != 2 || bytes != int64(len("old")+len("half a picture")) {
		t.Errorf("dropped %d, %d bytes", n, bytes)
	}
	left, err := s.Blobs(t.Context())
	must(t, err)
	var shas []string
	for _, b := range left {
		shas = append(shas, b.SHA256)
	}
	want := []string{kept, young, newer}
	slices.Sort(want)
	slices.Sort(shas)
	if !slices.Equal(shas, want) {
		t.Errorf("left %v", shas)
	}
	// Whatever the caller says, a blob of this hour stays: its event may be on its way.
	if n, _, err = s.DropBlobs(t.Context(), func(string) bool { return false }, time.Now().Add(time.Hour)); err != nil || n != 2 {
		t.Errorf("dropped %d of the two old ones: %v", n, err)
	}
	if _, err := s.Blob(young); err != nil {
		t.Error(err)
	}
	if size, err := s.Size(t.Context()); err != nil || size.Blobs != int64(len("young")) {
		t.Errorf("%+v %v", size, err)
	}
}

func TestABlobThatIsPutAgainIsYoungAgain(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	sha := put(t, s, "x")
	age(t, s, sha, 100*time.Hour)
	put(t, s, "x")
	if n, _, err := s.DropBlobs(t.Context(), func(string) bool { return false }, time.Now()); err != nil || n != 0 {
		t.Errorf("%d %v", n, err)
	}
}

// Whoever was told that a blob is kept finds it, also when it was old and a
// sweep is under way.
func TestBlobsPutDuringASweepAreThere(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	const many = 60
	names := make([]string, many)
	for i := range many {
		names[i] = put(t, s, strconv.Itoa(i))
	}
	for round := range 5 {
		for _, sha := range names {
			if _, err := os.Stat(s.blobFile(sha)); err == nil {
				age(t, s, sha, 100*time.Hour)
			}
		}
		var all sync.WaitGroup
		all.Go(func() {
			if _, _, err := s.DropBlobs(t.Context(), func(string) bool { return false }, time.Now()); err != nil {
				t.Error(err)
			}
		})
		for i := round % 2; i < many; i += 2 {
			all.Go(func() {
				sha, err := s.PutBlob([]byte(strconv.Itoa(i)))
				if err != nil {
					t.Error(err)
				}
				if _, err := s.Blob(sha); err != nil {
					t.Errorf("put and gone: %v", err)
				}
			})
		}
		all.Wait()
		for i := round % 2; i < many; i += 2 {
			if _, err := s.Blob(names[i]); err != nil {
				t.Errorf("put and gone after the sweep: %v", err)
			}
		}
	}
	sum := sha256.Sum256([]byte("0"))
	if names[0] != hex.EncodeToString(sum[:]) {
		t.Error("another name")
	}
}
