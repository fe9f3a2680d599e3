// Package proxy lets other people's programs call models through Relo, on a loopback port and
// with a token for each program: the same wires in and out, with healing, describing, receipts
// and the ledger behind them.
package proxy
