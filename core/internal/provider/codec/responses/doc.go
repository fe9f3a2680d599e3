// Package responses is OpenAI's Responses API as JSON, both ways. A tool's
// pictures go inside its function_call_output. It opens no connection.
package responses
