package provider

import (
	"net/http"
	"strings"

	"github.com/relo-dev/relo/core/internal/httpwire"
)

// Malformed is an answer that no decoder can read; due names what should have
// come, such as "chat completion".
func Malformed(due string, data []byte, err error) *Error {
	return &Error{
		Kind: KindMalformed, Status: http.StatusOK, Cause: err,
		Words: "an answer that is no " + due + ": " + httpwire.Plain(err.Error()), Body: bounded(data),
	}
}

// Complaint reads an error inside an answer that began with 200.
func Complaint(data []byte) *Error {
	c := httpwire.ReadComplaint(data)
	return &Error{
		Kind: KindOf(http.StatusOK, c.Code+" "+c.Type, c.Words), Status: http.StatusOK,
		Code: c.Code, Words: c.Words, Body: bounded(data),
	}
}

func bounded(data []byte) string {
	return strings.ToValidUTF8(string(data[:min(len(data), MaxErrorBody)]), "\uFFFD")
}
