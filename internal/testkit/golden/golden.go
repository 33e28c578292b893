// Package golden compares what a test made with a file that is checked in, and reads recorded
// events.
package golden

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Update is the flag that has tests write their files again.
var Update = flag.Bool("update", false, "write the golden files again; read the diff before you commit it")

// Check compares a text with what a file holds. With -update it writes the file.
func Check[T ~string | ~[]byte](t testing.TB, file string, got T) {
	t.Helper()
	if *Update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(got), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got), -update writes it:\n%s", file, diff)
	}
}
