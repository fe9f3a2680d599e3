package hub

import _ "github.com/modelcontextprotocol/go-sdk/mcp" // the door's library; the server stands on it
