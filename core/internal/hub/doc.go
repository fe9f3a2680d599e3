// Package hub is the door for agents: Relo's tools over MCP, on a pair of streams or
// over HTTP. It decides nothing about a picture: it checks the arguments, asks the
// hands that it was given and answers in the tools' words. It is the only door to
// the MCP library, and it listens nowhere by itself.
package hub
