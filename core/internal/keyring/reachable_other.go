//go:build !linux

package keyring

// reachable: the other systems' keyrings are always there.
func reachable(func(string) string) error { return nil }
