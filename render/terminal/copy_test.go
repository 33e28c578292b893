//go:build unix

package terminal

import (
	"os"
	"path/filepath"
	"testing"
)

// Only tmux says that it has a text: where there is none, or it fails, nothing is claimed.
func TestOnlyTmuxConfirmsCopy(t *testing.T) {
	folder := t.TempDir()
	kept := filepath.Join(folder, "kept")
	if err := os.WriteFile(filepath.Join(folder, "tmux"), []byte("#!/bin/sh\ntest \"$1 $2\" = 'load-buffer -' && test -z \"$BROKEN\" && cat > \"$KEPT\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	environ := append(os.Environ(), "KEPT="+kept)
	if toBuffer(append(environ, "TMUX="), "text") || toBuffer(append(environ, "TMUX=/x,1,0", "BROKEN=1"), "text") {
		t.Error("it says that tmux has the text")
	}
	if !toBuffer(append(environ, "TMUX=/x,1,0"), "text") {
		t.Error("it does not say that tmux has the text")
	}
	if text, _ := os.ReadFile(kept); string(text) != "text" {
		t.Errorf("tmux has %q", text)
	}
}
