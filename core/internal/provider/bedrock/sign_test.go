package bedrock_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/relo-dev/relo/core/internal/provider"
	"github.com/relo-dev/relo/core/internal/provider/bedrock"
	"github.com/relo-dev/relo/core/internal/provider/double"
	"github.com/relo-dev/relo/core/internal/secret"
)

// alone leaves AWS's library nothing of this machine.
func alone(t *testing.T) {
	t.Helper()
	for _, name := range []string{
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_BEARER_TOKEN_BEDROCK",
		"AWS_EC2_METADATA_DISABLED",
	} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(t.TempDir(), "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "credentials"))
}

func TestAToolsPictureOfAnOpenAIModelGoesBeside(t *testing.T) {
	_, url := played(t, nil)
	client := signedClient(t, url)
	resp, err := client.Stream(t.Context(), dialogue(t, openaiID), nil)
	if err != nil || len(resp.Receipts) != 2 || resp.Receipts[1].Place != "messages[2].content[2]" {
		t.Fatalf("%+v, %v", resp.Receipts, err)
	}
	r := dialogue(t, openaiID)
	r.Placement = provider.PlaceInside
	_, err = client.Stream(t.Context(), r, nil)
	if e, ok := errors.AsType[*provider.Error](err); !ok || e.Kind != provider.KindRefused || e.Code != "ValidationException" || !strings.Contains(e.Words, "image field for user messages") {
		t.Errorf("inside: %v", err)
	}
	r = dialogue(t, claudeID)
	r.Placement = provider.PlaceAfter
	if resp, err = client.Stream(t.Context(), r, nil); err != nil || resp.Receipts[1].Place != "messages[2].content[2]" {
		t.Errorf("beside, for Claude: %+v, %v", resp.Receipts, err)
	}
	places := client.(provider.Placer)
	if diff := cmp.Diff([]provider.Placement{provider.PlaceInside, provider.PlaceAfter}, places.Placements(claudeID)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]provider.Placement{provider.PlaceAfter}, places.Placements(openaiID)); diff != "" {
		t.Error(diff)
	}
}

func TestCredentialsOfAProfile(t *testing.T) {
	_, url := played(t, nil)
	alone(t)
	t.Setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-api-key-of-another")
	for name, text := range map[string]string{
		"AWS_CONFIG_FILE":             "[profile relo]\nregion = eu-west-3\n",
		"AWS_SHARED_CREDENTIALS_FILE": "[relo]\naws_access_key_id = " + accessID + "\naws_secret_access_key = " + accessSecret + "\n",
	} {
		if err := os.WriteFile(os.Getenv(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	client, err := bedrock.New(bedrock.Options{Provider: "played", BaseURL: url}, bedrock.AWS{Profile: "relo"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Stream(t.Context(), dialogue(t, claudeID), nil); err != nil {
		t.Error(err)
	}
	if _, err := bedrock.New(bedrock.Options{Provider: "played"}, bedrock.AWS{Profile: "nobody"}); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("a profile that is not there: %v", err)
	}
}

func TestWithoutCredentialsNothingIsSent(t *testing.T) {
	d, url := played(t, nil)
	alone(t)
	client, err := bedrock.New(bedrock.Options{Provider: "played", BaseURL: url}, bedrock.AWS{Region: "us-east-1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Stream(t.Context(), dialogue(t, claudeID), nil)
	e, ok := errors.AsType[*provider.Error](err)
	if !ok || e.Kind != provider.KindKey || e.Fault != provider.FaultNoKey || !strings.Contains(e.Error(), "AWS_ACCESS_KEY_ID") || e.Sent {
		t.Errorf("%v", err)
	}
	if n := len(d.Requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = client.Stream(ctx, dialogue(t, claudeID), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: %v", err)
	}
}

func TestRegionAndBearer(t *testing.T) {
	alone(t)
	if _, err := bedrock.New(bedrock.Options{}, bedrock.AWS{}); !errors.Is(err, bedrock.ErrRegion) {
		t.Errorf("no region: %v", err)
	}
	d := double.New(double.Options{Key: "bedrock-api-key-0001", Models: map[string]double.Model{claudeID: {Sees: true}}})
	s := httptest.NewServer(d)
	t.Cleanup(s.Close)
	for _, row := range []struct {
		why string
		o   bedrock.Options
		env string
	}{
		{"the key of the config", bedrock.Options{Provider: "p", BaseURL: s.URL, Key: secret.New("bedrock-api-key-0001")}, "another"},
		{"AWS's variable", bedrock.Options{Provider: "p", BaseURL: s.URL + "/"}, "bedrock-api-key-0001"},
	} {
		client, err := bedrock.New(row.o, bedrock.AWS{Getenv: func(name string) string {
			return map[string]string{"AWS_BEARER_TOKEN_BEDROCK": row.env}[name]
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Stream(t.Context(), dialogue(t, claudeID), nil); err != nil {
			t.Errorf("%s: %v", row.why, err)
		}
	}
}

// TestTheSignatureStaysWithItsHost: neither a redirect nor an error carries what the
// request was signed with.
func TestTheSignatureStaysWithItsHost(t *testing.T) {
	reached := make(chan struct{}, 1)
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached <- struct{}{} }))
	t.Cleanup(other.Close)
	for _, status := range []int{307, 403} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", other.URL)
			w.Header().Set("X-Amzn-Errortype", "InvalidSignatureException:x")
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, `{"message":"The Canonical String should have been x-amz-security-token:%s, with %s"}`, r.Header.Get("X-Amz-Security-Token"), accessSecret)
		}))
		t.Cleanup(s.Close)
		_, err := signedClient(t, s.URL).Stream(t.Context(), dialogue(t, claudeID), nil)
		e, ok := errors.AsType[*provider.Error](err)
		if !ok || strings.Contains(fmt.Sprintf("%+v %v", *e, e.Cause), "MARKED") || !strings.Contains(e.Body, "[secret]") {
			t.Errorf("%d: %+v", status, err)
		}
		if status == 403 && (e.Fault != provider.FaultKey || !strings.Contains(e.Hint, "aws sts get-caller-identity")) {
			t.Errorf("%+v", e)
		}
	}
	select {
	case <-reached:
		t.Error("the other host was reached")
	default:
	}
}
