package bedrock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"

	"github.com/relo-dev/relo/core/internal/provider"
)

const (
	// credentialTime bounds the search for credentials: one that goes over the network
	// (single sign-on, a role) takes a few seconds.
	credentialTime = 20 * time.Second
	// service is the name that is signed (IAM's "bedrock:" actions).
	service = "bedrock"
	// machineEnv set to false is how a person asks for the role of the machine itself,
	// over AWS's metadata service; without it no request goes there, since anywhere else
	// it only costs the time until it is given up.
	machineEnv = "AWS_EC2_METADATA_DISABLED"
)

// chain is AWS's default chain of credentials: variables, shared config, profile,
// single sign-on, roles. It is read at the first need. It is safe for concurrent use.
type chain struct {
	profile string
	region  string
	http    *http.Client
	machine bool

	mu     sync.Mutex
	loaded *aws.Config
}

// load reads AWS's variables and files; it opens no connection. A failure is not
// kept: the person may mend the file.
func (c *chain) load(ctx context.Context) (aws.Config, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded != nil {
		return *c.loaded, nil
	}
	state := imds.ClientDisabled
	if c.machine {
		state = imds.ClientEnabled
	}
	with := []func(*config.LoadOptions) error{
		config.WithEC2IMDSClientEnableState(state),
		config.WithDefaultsMode(aws.DefaultsModeStandard), // "auto" would ask the metadata service
	}
	if c.profile != "" {
		with = append(with, config.WithSharedConfigProfile(c.profile))
	}
	if c.region != "" {
		with = append(with, config.WithRegion(c.region))
	}
	if c.http != nil {
		with = append(with, config.WithHTTPClient(c.http))
	}
	cfg, err := config.LoadDefaultConfig(ctx, with...)
	if err != nil {
		return aws.Config{}, fmt.Errorf("read AWS's config: %w", err)
	}
	c.loaded = &cfg
	return cfg, nil
}

// findRegion takes the region from the shared config.
func (c *chain) findRegion() error {
	cfg, err := c.load(context.Background())
	if err != nil {
		return err
	}
	if cfg.Region == "" {
		return ErrRegion
	}
	c.region = cfg.Region
	return nil
}

// sign adds AWS's signature of the request to header, and gives the secrets that it was
// made with.
func (c *chain) sign(ctx context.Context, url string, header http.Header, body []byte) (secrets []string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return nil, nil // the request that is sent says what is wrong with the address
	}
	found, cancel := context.WithTimeout(ctx, credentialTime)
	defer cancel()
	who, err := c.credentials(found)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	secrets = []string{who.SecretAccessKey, who.SessionToken}
	// Only what makes the request is signed: proxies may change the other headers.
	r.Header.Set("Content-Type", header.Get("Content-Type"))
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(ctx, who, r, hex.EncodeToString(sum[:]), service, c.region, time.Now()); err != nil {
		return secrets, fmt.Errorf("sign the request: %w", err)
	}
	maps.Copy(header, r.Header)
	return secrets, nil
}

func (c *chain) credentials(ctx context.Context) (aws.Credentials, error) {
	cfg, err := c.load(ctx)
	if err != nil {
		return aws.Credentials{}, err
	}
	if cfg.Credentials == nil {
		return aws.Credentials{}, errors.New("none are configured")
	}
	who, err := cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return aws.Credentials{}, fmt.Errorf("look for AWS credentials: %w", err)
	}
	return who, nil
}

// keyHint says how a person gives credentials.
const keyHint = `set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the provider's "profile"; for single sign-on run aws sso login; for the role of an EC2 machine set ` + machineEnv + `=false`

// explained is the error of credentials that cannot be had, for a person.
func explained(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return &provider.Error{
		Kind: provider.KindKey, Fault: provider.FaultNoKey, Cause: err, Hint: keyHint,
		Words: "no AWS credentials: " + err.Error(),
	}
}
