//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The demonstration mounts nothing where it was begun, also if a person asks for namespaces.
func TestDemoMountsNothingHere(t *testing.T) {
	bin := t.TempDir()
	for name, script := range map[string]string{
		"mount": "echo mounted >\"$0.called\"\nexit 1", "ip": "exit 1", "unshare": "exit 0", "ssh": "", "ssh-keygen": "", "nsenter": "",
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	demo := exec.CommandContext(t.Context(), "../../../tools/demo-pool.sh", bin, "namespaces")
	demo.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	out, _ := demo.CombinedOutput() // it says what is missing, where something is
	if _, err := os.Stat(filepath.Join(bin, "mount.called")); err == nil {
		t.Errorf("it mounts: %s", out)
	}
}
