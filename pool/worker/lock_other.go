//go:build !unix

package worker

import "errors"

func lock(string) (func(), error) { return nil, errors.New("a worker runs on Linux and macOS only") }
