package double

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// sigV4 begins an Authorization that is signed (AWS's "Signature Version 4").
const sigV4 = "AWS4-HMAC-SHA256"

// proves checks AWS's signature over the request and the body that arrived. It follows
// "Create a signed AWS API request" of AWS's documentation, step by step, and shares
// nothing with the library that clients sign with.
func (bedrockWire) proves(r *http.Request, body []byte, key string) bool {
	id, secret, ok := strings.Cut(key, ":")
	rest, signed := strings.CutPrefix(r.Header.Get("Authorization"), sigV4+" ")
	if !ok || !signed {
		return false
	}
	fields := map[string]string{}
	for part := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[name] = value
	}
	scope := strings.Split(fields["Credential"], "/") // id, date, region, service, aws4_request
	names := strings.Split(fields["SignedHeaders"], ";")
	at := r.Header.Get("X-Amz-Date")
	switch {
	case len(scope) != 5, scope[0] != id, scope[3] != "bedrock", scope[4] != "aws4_request", !strings.HasPrefix(at, scope[1]):
		return false
	case !slices.Contains(names, "host"), !slices.Contains(names, "x-amz-date"):
		return false
	case r.Header.Get("X-Amz-Security-Token") != "" && !slices.Contains(names, "x-amz-security-token"):
		return false
	}
	request := strings.Join([]string{
		r.Method, twice(r.URL.EscapedPath()), r.URL.Query().Encode(), signedHeaders(r, names), fields["SignedHeaders"], hash(body),
	}, "\n")
	toSign := strings.Join([]string{sigV4, at, strings.Join(scope[1:], "/"), hash([]byte(request))}, "\n")
	sum := []byte("AWS4" + secret)
	for _, part := range append(scope[1:], toSign) {
		mac := hmac.New(sha256.New, sum)
		mac.Write([]byte(part))
		sum = mac.Sum(nil)
	}
	return subtle.ConstantTimeCompare([]byte(hex.EncodeToString(sum)), []byte(fields["Signature"])) == 1
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// signedHeaders are the canonical headers: in the order of the names, each line ended.
func signedHeaders(r *http.Request, names []string) string {
	var b strings.Builder
	for _, name := range names {
		value := strings.Join(r.Header.Values(name), ",")
		if name == "host" {
			value = r.Host
		}
		if name == "content-length" && value == "" { // net/http takes it out of the headers
			value = strconv.FormatInt(r.ContentLength, 10)
		}
		b.WriteString(name + ":" + strings.Join(strings.Fields(value), " ") + "\n")
	}
	return b.String()
}

// twice escapes each segment of an escaped path once more: all services but S3.
func twice(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		segments[i] = strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
	}
	return strings.Join(segments, "/")
}
