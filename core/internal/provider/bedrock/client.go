// Package bedrock sends requests to Amazon Bedrock's Converse: the address, AWS's
// credentials and signature, by AWS's own library. The JSON and the frames are
// codec/bedrock's, the connection exchange's.
package bedrock

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/relo-dev/relo/core/internal/provider"
	codec "github.com/relo-dev/relo/core/internal/provider/codec/bedrock"
	"github.com/relo-dev/relo/core/internal/provider/exchange"
	"github.com/relo-dev/relo/core/internal/secret"
)

// Options make a client. BaseURL may be empty for AWS's own of the region; the key is
// a Bedrock API key, sent as a bearer token, and may be empty for AWS's credentials.
type Options = exchange.Options

// AWS says where and as whom. All of it may be empty: then AWS's own variables and
// files say it.
type AWS struct {
	Region  string // such as eu-west-1; empty: AWS_REGION, AWS_DEFAULT_REGION, or the profile's
	Profile string // of AWS's shared config; a set one comes before AWS_BEARER_TOKEN_BEDROCK
	// Getenv reads a variable for the region, the bearer token and whether the machine's
	// own role may be asked; nil: os.Getenv. AWS's library reads the process's own.
	Getenv func(string) string
}

// bearerEnv is AWS's variable for a Bedrock API key (Bedrock's user guide, "API keys").
const bearerEnv = "AWS_BEARER_TOKEN_BEDROCK" //nolint:gosec // a name

// ErrRegion says that no region is known, and where one is set.
var ErrRegion = errors.New(`no AWS region: set "region" of the provider (such as "us-east-1"), the variable AWS_REGION, or region in AWS's shared config`)

// New makes a client. It opens no connection: credentials are looked for at the first
// call. Errors are ErrRegion, and those of AWS's shared config when the region or the
// profile has to be read there.
func New(o Options, a AWS) (*exchange.Client, error) {
	if a.Getenv == nil {
		a.Getenv = os.Getenv
	}
	if o.Key.Reveal() == "" && a.Profile == "" {
		if bearer := strings.TrimSpace(a.Getenv(bearerEnv)); bearer != "" {
			o.Key, o.KeyRef = secret.New(bearer), "env:"+bearerEnv
		}
	}
	chain := &chain{profile: a.Profile, region: region(a), http: o.HTTP, machine: strings.EqualFold(a.Getenv(machineEnv), "false")}
	bearer := strings.TrimSpace(o.Key.Reveal()) != ""
	base := strings.TrimSpace(o.BaseURL)
	if chain.region == "" && (base == "" || !bearer) {
		if err := chain.findRegion(); err != nil {
			return nil, err
		}
	}
	if base == "" {
		base = endpoint(chain.region)
	}
	w := exchange.Wire{
		URL: base, URLOf: func(model string) string { return urlOf(base, model) },
		KeyHeader: "Authorization", KeyPrefix: "Bearer ",
		Header:   map[string]string{"Accept": codec.ContentType},
		IDHeader: "X-Amzn-Requestid", CodeHeader: "X-Amzn-Errortype",
		Idles:      func(event string) bool { return !codec.Tells(event) },
		Encode:     codec.Encode,
		Decoder:    func(r provider.Request) exchange.Decoder { return codec.NewDecoder(r) },
		Placements: codec.Placements,
		Frames:     func(r io.Reader) func() (string, []byte, error) { return codec.NewFrames(r, 0).Next },
	}
	if !bearer {
		o.KeyRef = "aws:" + cmp.Or(a.Profile, "default")
		w.Sign = func(ctx context.Context, url string, header http.Header, body []byte) ([]string, error) {
			secrets, err := chain.sign(ctx, url, header, body)
			return secrets, explained(err)
		}
	}
	return exchange.New(o, w), nil
}

func region(a AWS) string {
	for _, r := range []string{a.Region, a.Getenv("AWS_REGION"), a.Getenv("AWS_DEFAULT_REGION")} {
		if r = strings.TrimSpace(r); r != "" {
			return r
		}
	}
	return ""
}

// endpoint is the address of a region (AWS General Reference, "Amazon Bedrock
// endpoints"); China's have a domain of their own.
func endpoint(region string) string {
	domain := "amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		domain = "amazonaws.com.cn"
	}
	return "https://bedrock-runtime." + region + "." + domain
}

// urlOf is the address of a model, whose id may be an ARN with slashes and colons.
func urlOf(base, model string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base // the request says what is wrong with it
	}
	query := u.RawQuery
	u.RawQuery, u.Fragment = "", ""
	whole := strings.TrimRight(u.String(), "/") + "/model/" + escaped(model) + "/converse-stream"
	if query != "" {
		whole += "?" + query
	}
	return whole
}

// escaped writes one segment of a path as AWS's signature wants it: everything but
// letters, digits and -_.~ escaped.
func escaped(segment string) string {
	return strings.ReplaceAll(url.QueryEscape(segment), "+", "%20")
}
