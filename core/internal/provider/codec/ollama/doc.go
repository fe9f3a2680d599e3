// Package ollama is Ollama's /api/chat as JSON lines, both ways. A tool's pictures go
// into a user's message after the results. It opens no connection.
package ollama
