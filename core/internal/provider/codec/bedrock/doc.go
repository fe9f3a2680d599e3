// Package bedrock is Bedrock's Converse as JSON and as frames of its event stream, both
// ways. A tool's pictures go inside its toolResult, or after it where the model's family wants
// that. It opens no connection.
package bedrock
