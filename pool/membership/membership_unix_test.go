//go:build unix

package membership_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/pool/membership"
)

// An agent can put anything in the place of pool.json.
func TestReadWaitsForNothing(t *testing.T) {
	pipe, link := t.TempDir(), t.TempDir()
	if err := syscall.Mkfifo(membership.File(pipe), 0o600); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(`{"epoch":9,"host":"mill"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, membership.File(link)); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{pipe, link} {
		if m, err := membership.Read(folder); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("%+v, %v", m, err)
		}
	}
	if m, err := membership.Read(t.TempDir()); err != nil || m != (membership.Membership{}) {
		t.Errorf("without the file: %+v, %v", m, err)
	}
}
