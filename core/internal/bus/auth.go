package bus

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
)

const (
	ownerUser    = "owner"
	viewerUser   = "viewer"
	workerPrefix = "worker."
	keyBytes     = 32 // 256 bits
)

// Creds is what a client connects with. Its file is 0600.
type Creds struct {
	URL      string `json:"url"`
	User     string `json:"user"`
	Password string `json:"password"`
}

// LoadCreds reads a credentials file.
func LoadCreds(name string) (Creds, error) {
	var c Creds
	text, err := os.ReadFile(name) //nolint:gosec // the caller's own file
	if err != nil {
		return c, fmt.Errorf("read the credentials: %w", err)
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("credentials %s: %w", name, err)
	}
	return c, nil
}

// Save writes a credentials file that only its owner can read.
func (c Creds) Save(name string) error {
	text, err := json.Marshal(c) //nolint:gosec // a credentials file is what this writes, 0600
	if err != nil {
		return fmt.Errorf("encode the credentials: %w", err)
	}
	if err := os.WriteFile(name, text, 0o600); err != nil {
		return fmt.Errorf("write the credentials: %w", err)
	}
	return nil
}

// keys derives every password from one secret, so that a worker's credentials
// outlive the daemon without a list of them.
type keys struct{ secret []byte }

func loadKeys(dir string) (keys, error) {
	name := filepath.Join(filepath.Dir(dir), "bus.key") // beside the broker's folder: that may be deleted
	text, err := os.ReadFile(name)                      //nolint:gosec // Relo's own state folder
	if errors.Is(err, fs.ErrNotExist) {
		raw := make([]byte, keyBytes)
		_, _ = rand.Read(raw) // never fails (crypto/rand)
		text = []byte(hex.EncodeToString(raw))
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return keys{}, fmt.Errorf("keep the bus's key: %w", err)
		}
	} else if err != nil {
		return keys{}, fmt.Errorf("read the bus's key: %w", err)
	}
	raw, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(raw) != keyBytes {
		return keys{}, fmt.Errorf("the bus's key in %s is damaged: delete the file and restart", name)
	}
	return keys{raw}, nil
}

func (k keys) password(user string) string {
	m := hmac.New(sha256.New, k.secret)
	m.Write([]byte(user))
	return hex.EncodeToString(m.Sum(nil))
}

// Check lets a client in when its password is the derived one, with the
// permissions of its kind.
func (k keys) Check(c server.ClientAuthentication) bool {
	o := c.GetOpts()
	if !hmac.Equal([]byte(o.Password), []byte(k.password(o.Username))) {
		return false
	}
	p, ok := permissions(o.Username)
	if ok {
		c.RegisterUser(&server.User{Username: o.Username, Permissions: p})
	}
	return ok
}

// permissions of a kind of user; nil permissions allow everything.
func permissions(user string) (*server.Permissions, bool) {
	allow := func(subjects ...string) *server.SubjectPermission { return &server.SubjectPermission{Allow: subjects} }
	switch id, isWorker := strings.CutPrefix(user, workerPrefix); {
	case user == ownerUser:
		return nil, true
	case user == viewerUser:
		return &server.Permissions{
			Publish:   allow(API+"job.list", API+"job.show", API+"job.events", API+"job.diff", API+"job.why", API+"job.resolve", API+"blob.get", API+"costs.list", API+"models.list", API+"daemon.status"),
			Subscribe: allow(eventsPrefix+">", "_INBOX."+viewerUser+".>"),
		}, true
	case isWorker && plain(id):
		return &server.Permissions{
			Publish: allow(API+"worker.hello", API+"attempt.>", API+"model.call", API+"model.look", API+"blob.put", API+"blob.get",
				"$JS.API.CONSUMER.INFO."+taskStream+"."+id, "$JS.API.CONSUMER.MSG.NEXT."+taskStream+"."+id, "$JS.ACK."+taskStream+"."+id+".>"),
			Subscribe: allow(controlPrefix+id, inboxOf(user)+".>"),
		}, true
	}
	return nil, false
}

// plain keeps a worker's id from holding wildcards or dots, which would widen
// its permissions.
func plain(id string) bool {
	return id != "" && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}

func inboxOf(user string) string {
	if user == ownerUser {
		return "_INBOX"
	}
	return "_INBOX." + strings.ReplaceAll(user, ".", "-")
}

// sign makes the proof that an order comes from the daemon: a worker knows its
// own password and nobody else's.
func sign(password string, order []byte) string {
	m := hmac.New(sha256.New, []byte(password))
	m.Write(order)
	return hex.EncodeToString(m.Sum(nil))
}
