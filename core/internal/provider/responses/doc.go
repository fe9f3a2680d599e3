// Package responses sends requests to a provider that speaks OpenAI's Responses API: the
// address and headers. The JSON is codec/responses's, the connection exchange's.
package responses
