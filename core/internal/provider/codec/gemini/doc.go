// Package gemini is Gemini's generateContent as JSON, both ways. A tool's pictures go
// into the function's response or beside it, as the model's version has it. It opens no connection.
package gemini
