// Package bedrock sends requests to Bedrock's Converse: the address, AWS's credentials and
// signature. The JSON and the frames are codec/bedrock's, the connection exchange's.
package bedrock
