//go:build unix

package inbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The agent's part takes what an agent may ask for, and nothing else under any name.
func TestAgentPartTakesAgentsKinds(t *testing.T) {
	dir := t.TempDir()
	box := mustOpen(t, dir)
	asked := mustDrop(t, dir, Command{Kind: Ask, Text: "May I?"})
	stopped := mustDrop(t, dir, Command{Kind: Stop})
	part := filepath.Join(dir, AgentFolder)
	for id, path := range map[string]string{asked: part, stopped: filepath.Join(dir, Folder)} {
		if _, err := os.Stat(filepath.Join(path, id+".json")); err != nil {
			t.Error(err)
		}
	}
	put(t, filepath.Join(part, "wait.json"), `{"text":"the key"}`)
	hostile := []string{anID + ".json", anID + ".claimed", "kill.json", "x"}
	put(t, filepath.Join(part, hostile[0]), good)
	put(t, filepath.Join(part, hostile[1]), good)
	put(t, filepath.Join(part, hostile[2]), "{}")
	put(t, filepath.Join(part, hostile[3]), "")

	items, err := box.Pending()
	if err != nil {
		t.Fatal(err)
	}
	var kinds, rejected []string
	for _, item := range items {
		if item.Command != nil {
			kinds = append(kinds, string(item.Command.Kind))
			continue
		}
		rejected = append(rejected, item.Reject.Name)
		if name := filepath.Base(item.Reject.Name); name != "x" && !strings.Contains(item.Reject.Reason, "up to a person") {
			t.Errorf("%s: %s", name, item.Reject.Reason)
		}
		if err := box.Reject(item.Reject.Name, item.Reject.Reason); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Join(kinds, " "); got != "stop ask wait" {
		t.Errorf("taken were %s", got)
	}
	for _, name := range hostile {
		if _, err := os.Stat(filepath.Join(part, RejectedFolder, name+".reason")); err != nil {
			t.Errorf("rejected were %q: %v", rejected, err)
		}
	}
	if withdrawn, err := Withdraw(dir, mustDrop(t, dir, Command{Kind: Blocked})); err != nil || !withdrawn {
		t.Errorf("a command of the agent's part was not withdrawn: %v", err)
	}
	if n := doneAll(t, box); n != 3 {
		t.Errorf("%d commands are done, want 3", n)
	}
	if left := pending(t, box); len(left) > 0 {
		t.Errorf("left are %+v", left)
	}
}

// An agent cannot take a person's command away by an id of its own choice.
func TestAgentSharesNoID(t *testing.T) {
	dir := t.TempDir()
	box := mustOpen(t, dir)
	put(t, filepath.Join(dir, Folder, anID+".json"), good)
	put(t, filepath.Join(dir, AgentFolder, anID+".json"), `{"v":1,"id":"`+anID+`","kind":"wait"}`)
	if got := pending(t, box); len(got) != 1 || got[0].Kind != Stop {
		t.Fatalf("%+v: want the stop alone", got)
	}
	if err := box.Done(anID); err != nil {
		t.Fatal(err)
	}
	if got := pending(t, box); len(got) != 1 || got[0].Kind != Wait {
		t.Errorf("%+v: want the wait, once the stop is done", got)
	}
}

// The agent may remove its part, or put anything in its place: a person's commands come as before.
func TestAgentPartMayBeAnything(t *testing.T) {
	for name, in := range map[string]func(path string) error{
		"nothing": func(string) error { return nil },
		"a file":  func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a link":  func(path string) error { return os.Symlink(Folder, path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			part := filepath.Join(dir, AgentFolder)
			if err := in(part); err != nil {
				t.Fatal(err)
			}
			box := mustOpen(t, dir)
			if info, err := os.Lstat(part); err != nil || !info.IsDir() {
				t.Errorf("an open inbox has no part of the agent: %v", err)
			}
			if aside, _ := filepath.Glob(part + ".aside-*"); len(aside) != 1 && name != "nothing" {
				t.Errorf("set aside are %v", aside)
			}
			if err := os.Remove(part); err != nil {
				t.Fatal(err)
			}
			if err := in(part); err != nil {
				t.Fatal(err)
			}
			mustDrop(t, dir, Command{Kind: Pause})
			if n := doneAll(t, box); n != 1 {
				t.Errorf("%d commands, want 1", n)
			}
			if left, err := os.ReadDir(filepath.Join(dir, Folder)); err != nil || len(left) > 0 {
				t.Errorf("left are %v, %v", left, err)
			}
		})
	}
}
