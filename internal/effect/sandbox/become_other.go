//go:build !unix

package sandbox

import "errors"

func become(string, []string, []string) error {
	return errors.New("there is no sandbox on this system")
}

func hold(string) error { return errors.New("there is no sandbox on this system") }

// ownerOf is the user to whom a folder belongs; -1 if that is not known.
func ownerOf(string) int { return -1 }
