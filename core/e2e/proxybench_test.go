package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relo-dev/relo/core/internal/provider/double"
)

// BenchmarkModelCalls holds the proxy against a plain reverse proxy before the same
// provider double, in one alternating run: how much later the first byte and the last one of a
// streamed answer come. 08's aim for the middle is 1 ms more, for the slowest of a hundred 5 ms.
func BenchmarkModelCalls(b *testing.B) {
	const rounds = 300
	l := mixed()
	p := &play{}
	p.workers = map[string]act{"": func(context.Context, turn) double.Reply {
		return double.Reply{Text: strings.Repeat("some words of an answer ", 20)}
	}}
	w := newWorld(b, l, p)
	w.relo("daemon", "start").mustExit(b, 0)
	r := w.relo("proxy", "token", "add", "bench").mustExit(b, 0)
	token, base := strings.TrimSpace(r.stdout), strings.TrimSpace(w.relo("proxy").mustExit(b, 0).stdout)
	target, err := url.Parse(w.url)
	check(b, err)
	plain := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, FlushInterval: -1})
	defer plain.Close()
	picture := fmt.Sprintf(`,{"type":"image_url","image_url":{"url":"data:image/png;base64,%s"}}`, base64Of(drawing(b, 800, 500)))
	for _, with := range []struct{ name, part string }{{"words", ""}, {"a picture", picture}} {
		body := func(model string) []byte {
			return fmt.Appendf(nil, `{"model":%q,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}%s]}]}`, model, with.part)
		}
		ways := []struct {
			name, url, key, model string
			first, last           []time.Duration
		}{
			{name: "direct", url: w.url + "/v1", key: "test-key", model: "big"},
			{name: "plain reverse proxy", url: plain.URL + "/v1", key: "test-key", model: "big"},
			{name: "relo proxy", url: base, key: token, model: "open/big"},
		}
		for n := range rounds + 10 {
			for i := range ways {
				way := &ways[i]
				first, last := streamed(b, way.url, way.key, body(way.model))
				if n >= 10 { // the first ones open connections
					way.first, way.last = append(way.first, first), append(way.last, last)
				}
			}
		}
		for _, way := range ways[1:] {
			for _, q := range []struct {
				name string
				at   int
			}{{"p50", rounds / 2}, {"p99", rounds * 99 / 100}} {
				more := func(a, base []time.Duration) float64 {
					a, base = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(base))
					return float64(a[q.at]-base[q.at]) / float64(time.Millisecond)
				}
				b.Logf("%-10s %-20s %s: first byte %+.2f ms, last %+.2f ms over direct; over the plain proxy %+.2f ms and %+.2f ms", with.name, way.name, q.name,
					more(way.first, ways[0].first), more(way.last, ways[0].last), more(way.first, ways[1].first), more(way.last, ways[1].last))
				if way.name == "relo proxy" {
					b.ReportMetric(more(way.first, ways[1].first), strings.ReplaceAll(with.name, " ", "-")+"-first-"+q.name+"-ms")
				}
			}
		}
	}
}

// streamed sends one request and says when the first and the last byte came.
func streamed(b *testing.B, base, key string, body []byte) (first, last time.Duration) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, base+"/chat/completions", bytes.NewReader(body))
	check(b, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+key)
	start := time.Now()
	resp, err := http.DefaultClient.Do(r)
	check(b, err)
	defer func() { _ = resp.Body.Close() }()
	var one [1]byte
	_, err = io.ReadFull(resp.Body, one[:])
	check(b, err)
	first = time.Since(start)
	rest, err := io.ReadAll(resp.Body)
	check(b, err)
	if resp.StatusCode != http.StatusOK || !bytes.Contains(rest, []byte("[DONE]")) {
		b.Fatalf("%d %s", resp.StatusCode, rest)
	}
	return first, time.Since(start)
}
