package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAgentMayOnlyLook(t *testing.T) {
	home := t.TempDir()
	if _, errs, code := run(t, home, "join", "ralph+dir://"+t.TempDir(), "--host", "mill"); code != 0 {
		t.Fatal(errs)
	}
	t.Setenv("RALPH_LOOP", "greet")
	for _, args := range []string{"submit -p x --repository /srv/app", "trust " + strings.Repeat("0a", 32), "key", "worker", "drain", "every list"} {
		if out, errs, code := run(t, home, strings.Fields(args)...); code == 0 || !strings.Contains(errs, "is up to a person") {
			t.Errorf("%s: %d, %s%s", args, code, out, errs)
		}
	}
	for _, name := range []string{"pool.key", "pool.trust"} {
		if _, err := os.Lstat(filepath.Join(home, name)); err == nil {
			t.Errorf("an agent has made %s", name)
		}
	}
	for _, command := range []string{"list", "status"} {
		if _, errs, code := run(t, home, command); code != 0 {
			t.Errorf("%s: %s", command, errs)
		}
	}
}
