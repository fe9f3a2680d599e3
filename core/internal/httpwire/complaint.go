package httpwire

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Complaint is what a server says is wrong, out of an error body.
type Complaint struct {
	Words string // its message; never empty after ReadComplaint
	Code  string // its code, else its type; empty: none
	Type  string // its type
}

// PageWords stand before the text of a web page that came instead of an answer.
const PageWords = "an HTML page instead of an answer: "

// ReadComplaint finds the message and the code in an error body of any of the
// shapes in use: {"error":{…}}, {"error":"…"}, {"message":…}, {"detail":…},
// {"errors":[…]}, {"Message":…} (AWS), a list of these, plain text, or an HTML page.
func ReadComplaint(body []byte) Complaint {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, bom))
	var v any
	if json.Unmarshal(body, &v) == nil {
		c := dig(v, 0)
		if c.Words == "" {
			c.Words = Plain(string(body))
		}
		if c.Code == "" {
			c.Code = c.Type
		}
		return c.orSilent()
	}
	if bytes.HasPrefix(body, []byte("<")) {
		return Complaint{Words: PageWords + Plain(stripTags(string(body)))}
	}
	return Complaint{Words: Plain(string(body))}.orSilent()
}

func (c Complaint) orSilent() Complaint {
	if c.Words == "" {
		c.Words = "(no words)"
	}
	return c
}

// maxDig bounds how deep a complaint is looked for.
const maxDig = 6

func dig(v any, depth int) Complaint {
	if depth > maxDig {
		return Complaint{}
	}
	switch v := v.(type) {
	case string:
		// A proxy, and Ollama before its engine, puts another's whole body into a string.
		var inner map[string]any
		if json.Unmarshal([]byte(v), &inner) == nil {
			if c := dig(inner, depth+1); c.Words != "" {
				return c
			}
		}
		return Complaint{Words: Plain(v)}
	case []any:
		for _, e := range v {
			if c := dig(e, depth+1); c.Words != "" {
				return c
			}
		}
	case map[string]any:
		return digObject(v, depth)
	}
	return Complaint{}
}

func digObject(m map[string]any, depth int) Complaint {
	var c Complaint
	for _, key := range []string{"error", "message", "msg", "detail", "errors", "error_msg", "Message"} {
		if inner, ok := m[key]; ok {
			if c = dig(inner, depth+1); c.Words != "" {
				break
			}
		}
	}
	if c.Code == "" {
		c.Code = scalar(m["code"])
	}
	if t := scalar(m["type"]); c.Type == "" && t != "error" {
		c.Type = t
	}
	// OpenRouter says "Provider returned error" and puts the provider's own words here.
	if meta, ok := m["metadata"].(map[string]any); ok {
		if raw, ok := meta["raw"].(string); ok && raw != "" {
			c.Words += ": " + Plain(raw)
		}
	}
	return c
}

func scalar(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		b, err := json.Marshal(v)
		if err == nil {
			return string(b)
		}
	}
	return ""
}

// Plain makes foreign text fit for one line of a terminal: control and format
// characters (escapes, bidirectional controls) become spaces, and it is cut at a few hundred bytes.
func Plain(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= maxWords {
		return s
	}
	cut := maxWords
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

func stripTags(s string) string {
	var b strings.Builder
	inside := false
	for _, r := range s {
		switch {
		case r == '<':
			inside = true
		case r == '>':
			inside = false
			b.WriteByte(' ')
		case !inside:
			b.WriteRune(r)
		}
	}
	return b.String()
}
