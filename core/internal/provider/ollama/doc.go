// Package ollama sends requests to an Ollama server: the address and headers. The JSON is
// codec/ollama's, the connection exchange's.
package ollama
