// Package secret holds values that must never be printed. A Value shows itself
// as [secret] in every format, log and JSON document; only Reveal gives it out.
package secret

import (
	"encoding/json"
	"fmt"
	"io"
)

const mask = "[secret]"

// Value is a secret string. The zero value is empty. The text is behind a
// pointer: fmt prints an unexported field, and any value under a verb that it does
// not know, without asking Format, and then shows an address only.
type Value struct{ text *string }

// New wraps a secret.
func New(text string) Value { return Value{text: &text} }

// Reveal gives the secret itself: for a request header, for nothing else.
func (v Value) Reveal() string {
	if v.text == nil {
		return ""
	}
	return *v.text
}

// Empty reports whether there is no secret.
func (v Value) Empty() bool { return v.Reveal() == "" }

// String hides the value.
func (v Value) String() string { return mask }

// Format hides the value under every verb, %#v and %x included.
func (v Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, mask) }

// MarshalJSON hides the value.
func (v Value) MarshalJSON() ([]byte, error) { return json.Marshal(mask) }
