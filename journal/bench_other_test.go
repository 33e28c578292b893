//go:build !unix

package journal_test

import "os"

func bareWrite(f *os.File, p []byte) error {
	_, err := f.Write(p)
	return err
}
