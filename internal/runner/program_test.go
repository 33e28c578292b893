package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The prompt names ralph, so the agent's shell finds it. A ralph of the person's comes first.
func TestAgentFindsRalph(t *testing.T) {
	here, other := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "ralph"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	list := func(folders ...string) string { return strings.Join(folders, string(filepath.ListSeparator)) }
	for _, row := range []struct{ path, program, want string }{
		{"/none", "ralph", list("/none", here)},
		{"", "ralph", here},
		{list("/none", other), "ralph", list("/none", other)},
		{"/none", "ralph.test", "/none"},
	} {
		if got := lastOf(WithProgram([]string{"PATH=" + row.path}, filepath.Join(here, row.program)), "PATH"); got != row.want {
			t.Errorf("%s with PATH=%s: %s, want %s", row.program, row.path, got, row.want)
		}
	}
}
