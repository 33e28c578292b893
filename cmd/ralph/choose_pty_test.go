//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Where no settings name an agent and several are installed, a person at a terminal chooses one,
// and may keep it in settings that stay as they are otherwise.
func TestStartAsksForAgent(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ verb, settings, keep, kept string }{
		"a run, kept":          {"run", "", "y", "{\n  \"agent\": \"pi\"\n}\n"},
		"a start, not kept":    {"start", "", "n", ""},
		"beside other setting": {"run", "{\n  \"maximumIterations\": 1\n}\n", "y", "{\n  \"agent\": \"pi\",\n  \"maximumIterations\": 1\n}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, cmd := withAgents(t, row.verb, "-m", "1", "-p", "do it", "--protocol", "text")
			own := filepath.Join(p.home, "settings.json")
			if row.settings != "" {
				p.must(os.WriteFile(own, []byte(row.settings), 0o600))
			}
			talk := p.terminal(cmd)
			talk.sees("2  pi")
			talk.sees("Agent (a number or a name, enter to leave): ")
			talk.types("aider" + enter)
			talk.sees("aider is none of them; 'ralph start --agent COMMAND' takes any program")
			talk.types("2" + enter)
			talk.sees("Keep pi for all projects, in ")
			talk.types(row.keep + enter)
			talk.sees("pi is at work")
			talk.sees("1 of 1 iterations are used")
			if kept, err := os.ReadFile(own); string(kept) != row.kept || (err != nil) != (row.kept == "") {
				t.Errorf("the settings are %q, %v", kept, err)
			}
		})
	}
}

// The conversation about a plan asks, too; an empty answer leaves.
func TestPlanAsksForAgent(t *testing.T) {
	t.Parallel()
	p, cmd := withAgents(t, "plan")
	p.fine("init", "--tasks", "--name", "search")
	talk := p.terminal(cmd)
	talk.sees("1  claude")
	talk.types(enter)
	talk.sees("no agent is chosen")
	talk.leaves(2)
}

// withAgents returns a place and a command of ralph on whose PATH are two agents, and no other.
func withAgents(t *testing.T, args ...string) (*place, *exec.Cmd) {
	t.Helper()
	p, bin := newPlace(t), t.TempDir()
	for _, name := range []string{"ralph", "sh", "cat", "git"} {
		path, err := exec.LookPath(name)
		p.must(err)
		p.must(os.Symlink(path, filepath.Join(bin, name)))
	}
	for _, name := range []string{"claude", "pi"} {
		p.must(os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\ncat > /dev/null; echo "+name+" is at work\n"), 0o755))
	}
	cmd := p.command(args...)
	cmd.Env = append(cmd.Env, "PATH="+bin)
	return p, cmd
}
