package httpwire

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter reads how long a response asks to wait: retry-after-ms (OpenAI and
// Azure), else Retry-After in seconds (a fraction is taken too) or as an HTTP date
// (RFC 9110, 10.2.3). 0 means that it says nothing or a time that is past; the
// longest is a day.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if d, ok := amount(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	word := h.Get("Retry-After")
	if d, ok := amount(word, time.Second); ok {
		return d
	}
	if at, err := http.ParseTime(strings.TrimSpace(word)); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

func amount(word string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
	if err != nil || math.IsNaN(n) {
		return 0, false
	}
	n = min(max(n*float64(unit), 0), float64(maxRetryAfter))
	return time.Duration(n), true
}
