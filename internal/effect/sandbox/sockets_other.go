//go:build !linux

package sandbox

func limitSockets(string) error { return ErrUnavailable }
