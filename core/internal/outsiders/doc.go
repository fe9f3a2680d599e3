// Package outsiders are the person's own MCP servers as tools of an agent: their names are
// prefixed, their list is pinned by its hash, their results are capped, and what they send as
// pictures is handed on as bytes to be prepared.
package outsiders
