//go:build unix

package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/sandbox"
	"github.com/ralph-loop/ralph/internal/effect/task"
)

// What an agent leaves in its machine comes to the loop, except through links; what a person wrote
// meanwhile stays, and the agent's is kept beside it.
func TestExchangeWithMachine(t *testing.T) {
	var warned []string
	dir, machine, secret := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "secret")
	box := &sandbox.Box{Policy: sandbox.Policy{Mode: sandbox.DockerSandbox, Machine: machine, Loop: "fix"}}
	r := &runner{sandbox: box, exchange: &exchange{brought: map[string][]byte{task.TaskFile: []byte("one"), task.ReflectFile: []byte("look")}}}
	r.Dir, r.Warn = dir, func(err error) { warned = append(warned, err.Error()) }
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const id = "01M8BNGX9EWD5NWXM83V7K72KS.json"
	put(secret, "secret")
	put(filepath.Join(dir, task.TaskFile), "one")
	put(filepath.Join(dir, task.ReflectFile), "a person's")
	put(filepath.Join(dir, inbox.AgentFolder, "kept"), "")
	put(filepath.Join(box.LoopDir(), task.TaskFile), "one, and a note")
	put(filepath.Join(box.LoopDir(), task.ReflectFile), "the agent's")
	put(filepath.Join(box.LoopDir(), task.DoneFile), "all of it")
	put(filepath.Join(box.LoopDir(), inbox.AgentFolder, id), `{"kind":"ask"}`)
	put(filepath.Join(box.LoopDir(), inbox.AgentFolder, "../../evil.json"), "{}")
	if err := os.Symlink(secret, filepath.Join(box.LoopDir(), task.PullRequestFile)); err != nil {
		t.Fatal(err)
	}

	notes := r.fetchFiles(append(memory, marks...))
	for name, want := range map[string]string{
		task.TaskFile: "one, and a note", task.ReflectFile: "a person's", task.DoneFile: "all of it", inbox.AgentFolder + "/" + id: `{"kind":"ask"}`,
	} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != want {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
	kept, err := filepath.Glob(filepath.Join(dir, keep.FoundDir, "*-"+task.ReflectFile))
	if err != nil || len(kept) != 1 || len(notes) != 1 || !strings.Contains(notes[0], kept[0]) {
		t.Fatalf("%q, %q, %v", notes, kept, err)
	}
	if text, err := os.ReadFile(kept[0]); err != nil || string(text) != "the agent's" {
		t.Errorf("kept is %q, %v", text, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, task.PullRequestFile)); err == nil || len(warned) != 1 || !strings.Contains(warned[0], "link") {
		t.Errorf("a link was followed: %v, %q", err, warned)
	}

	// A folder that is a link is not the agent's: nothing of where it leads is taken or removed.
	other := filepath.Join(t.TempDir(), "fix")
	put(filepath.Join(other, inbox.AgentFolder, id), "{}")
	if err := os.RemoveAll(box.LoopDir()); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, box.LoopDir()); err != nil {
		t.Fatal(err)
	}
	if err := r.fetchCommands(); err == nil {
		t.Error("the folder was opened through a link")
	}
	if _, err := os.Lstat(filepath.Join(other, inbox.AgentFolder, id)); err != nil {
		t.Error(err)
	}
}

// A command stays with the agent until the loop has it: the disk may be full.
func TestUnwrittenCommandStays(t *testing.T) {
	const id = "01M8BNGX9EWD5NWXM83V7K72KS.json"
	r := &runner{exchange: &exchange{}, sandbox: &sandbox.Box{Policy: sandbox.Policy{Mode: sandbox.DockerSandbox, Machine: t.TempDir(), Loop: "fix"}}}
	r.Dir = t.TempDir()
	there, here := filepath.Join(r.sandbox.LoopDir(), inbox.AgentFolder, id), filepath.Join(r.Dir, inbox.AgentFolder, id)
	if err := errors.Join(os.MkdirAll(filepath.Dir(there), 0o700), os.WriteFile(there, []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := r.fetchCommands(); err == nil {
		t.Error("it was written into a folder that is missing")
	}
	if err := os.Mkdir(filepath.Dir(here), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time nothing is there
		if err := r.fetchCommands(); err != nil {
			t.Error(err)
		}
	}
	_, err := os.Lstat(there)
	if text, failed := os.ReadFile(here); string(text) != "{}" || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the loop has %q, %v; the agent %v", text, failed, err)
	}
}

// What an agent wrote stays with it until the loop has it: the disk may be full.
func TestUnwrittenMemoryStays(t *testing.T) {
	machine := t.TempDir()
	box := &sandbox.Box{Policy: sandbox.Policy{Mode: sandbox.DockerSandbox, Machine: machine, Loop: "fix"}}
	r := &runner{sandbox: box, exchange: &exchange{brought: map[string][]byte{task.TaskFile: []byte("one")}, unsaved: map[string]bool{}}}
	r.Dir = filepath.Join(t.TempDir(), "missing")
	names := []string{task.TaskFile, task.DoneFile}
	failed := os.MkdirAll(box.LoopDir(), 0o700)
	for _, name := range names {
		failed = errors.Join(failed, os.WriteFile(filepath.Join(box.LoopDir(), name), []byte("the agent's"), 0o600))
	}
	if failed != nil {
		t.Fatal(failed)
	}
	r.fetchFiles(names)
	if err := errors.Join(r.forgetFiles(), os.Mkdir(r.Dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	r.fetchFiles(names)
	for _, name := range names {
		if text, err := os.ReadFile(filepath.Join(r.Dir, name)); err != nil || string(text) != "the agent's" {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
	if err := r.forgetFiles(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(box.LoopDir()); err != nil || len(left) > 0 {
		t.Errorf("the agent has %v, %v", left, err)
	}
}
