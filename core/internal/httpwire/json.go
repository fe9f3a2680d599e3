package httpwire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

var bom = []byte("\xef\xbb\xbf")

// ErrJSON is in every error of Strict and Object.
var ErrJSON = errors.New("bad JSON")

// Strict reads one JSON document into v. Fields that v does not have are passed
// over; a field that is there twice, and anything after the document, is an
// error: two readers would understand such a document in two ways.
func Strict(data []byte, v any) error {
	data = bytes.TrimPrefix(data, bom)
	if err := once(data); err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%w: %w", ErrJSON, err)
	}
	return nil
}

// Object checks that data is one JSON object without doubled fields.
func Object(data []byte) error {
	if trimmed := bytes.TrimLeft(data, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return fmt.Errorf("%w: not an object", ErrJSON)
	}
	return once(data)
}

// level is an open object or array.
type level struct {
	keys  map[string]bool // nil: an array
	value bool            // an object's key was read, its value comes next
}

// once walks the tokens of one document and refuses a key that an object has twice.
func once(data []byte) error {
	if !json.Valid(data) {
		return fmt.Errorf("%w: not one whole document", ErrJSON)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var open []level
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrJSON, err)
		}
		if open, err = step(open, token); err != nil {
			return err
		}
	}
}

func step(open []level, token json.Token) ([]level, error) {
	at := len(open) - 1
	if at >= 0 && open[at].keys != nil && !open[at].value {
		if key, ok := token.(string); ok {
			if open[at].keys[key] {
				return nil, fmt.Errorf("%w: the field %.40q is there twice", ErrJSON, key)
			}
			open[at].keys[key], open[at].value = true, true
			return open, nil
		}
	}
	switch token {
	case json.Delim('{'):
		return append(open, level{keys: map[string]bool{}}), nil
	case json.Delim('['):
		return append(open, level{}), nil
	case json.Delim('}'), json.Delim(']'):
		open = open[:at]
	}
	if at = len(open) - 1; at >= 0 {
		open[at].value = false
	}
	return open, nil
}
