//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ralph-loop/ralph/internal/front/cli"
)

// coreStories is the least number of stories that the core has to play.
const coreStories = 60

// TestCoreStories plays the stories that need no front end with the program that links none: built
// with the tag ralph_core.
func TestCoreStories(t *testing.T) {
	leaveToScript(t)
	folder := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "ralph_core", "-ldflags", "-s -w", "-o", filepath.Join(folder, "ralph"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	stories := storiesOfCore(t)
	if len(stories) < coreStories {
		t.Fatalf("only %d stories need no front end", len(stories))
	}
	p := scriptParams(true)
	p.Files = stories
	p.Setup = func(e *testscript.Env) error {
		e.Setenv("PATH", folder+string(os.PathListSeparator)+e.Getenv("PATH"))
		return setup(e)
	}
	testscript.Run(t, p)
}

// storiesOfCore are the stories that name no verb of a front end, no page and no other host.
func storiesOfCore(t *testing.T) []string {
	all, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`\bralph ([a-z][a-z-]*)`)
	return slices.DeleteFunc(all, func(name string) bool {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(text, []byte("[!sshd]")) || slices.ContainsFunc(named.FindAllSubmatch(text, -1), func(m [][]byte) bool {
			return slices.ContainsFunc(features.verbs, func(c cli.Command) bool { return c.Name == string(m[1]) })
		})
	})
}
