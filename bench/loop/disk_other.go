//go:build !linux

package main

import "errors"

func mount(string) error {
	return errors.New("only Linux has file systems in memory that can be mounted here")
}

func unmount(string) error { return nil }
