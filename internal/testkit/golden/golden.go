// Package golden compares what a test made with a file that is checked in.
package golden

import (
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/testkit/testfile"
)

// Update is the flag that has tests write their files again.
var Update = flag.Bool("update", false, "write the golden files again; read the diff before you commit it")

// Check compares a text with what a file holds. With -update it writes the file.
func Check[T ~string | ~[]byte](t testing.TB, file string, got T) {
	t.Helper()
	if *Update {
		testfile.Write(t, file, got)
	}
	if diff := cmp.Diff(string(testfile.Read(t, file)), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got), -update writes it:\n%s", file, diff)
	}
}
