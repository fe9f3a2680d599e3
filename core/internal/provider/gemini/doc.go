// Package gemini sends requests to the Gemini API: the address and headers. The JSON is
// codec/gemini's, the connection exchange's.
package gemini
