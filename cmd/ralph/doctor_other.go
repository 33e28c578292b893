//go:build !unix

package main

import (
	"errors"
	"os"
)

func killSession(p *os.Process) error { return p.Kill() }

func freeSpace(string) (uint64, error) { return 0, errors.ErrUnsupported }
