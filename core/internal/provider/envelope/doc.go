// Package envelope reads requests of other people's programs: the transcript in them, and
// where their pictures are, so that these can be changed while every other byte stays; and
// writes answers in the same wire's words. It knows OpenAI's chat completions and Responses
// and Anthropic's messages. It opens no connection, fetches no picture, and does not look
// into plain text for pictures.
package envelope
