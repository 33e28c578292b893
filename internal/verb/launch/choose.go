package launch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/verb/preflight"
)

// ChooseAgent returns the command of an agent for settings that name none: the only one that is
// installed, or the one that a person chooses here. The error says how to choose one.
func ChooseAgent(e *cli.Env) (command string, err error) {
	here := slices.DeleteFunc(preflight.Installed(), func(program string) bool { return preflight.InProject(e, program) })
	switch {
	case len(here) == 1:
		cli.Tell(e.Stderr, "no agent is chosen: this takes %s, the only one that is installed here; 'ralph init' keeps a choice", here[0])
		return here[0], nil
	case len(here) > 1 && e.StdinIsTerminal() && cli.OnTerminal(e.Stderr):
		return askAgent(e, here)
	}
	return "", cli.Refuse(preflight.AgentHint(), "no agent is chosen")
}

// askAgent asks a person for one of the agents, and whether it is to be kept.
func askAgent(e *cli.Env, here []string) (string, error) {
	asker := cli.NewAsker(e.Stdin, e.Stderr)
	defer asker.Close()
	asker.Say("no agent is chosen; these are installed here:")
	for i, name := range here {
		fmt.Fprintf(asker.Out, "  %d  %s\n", i+1, name)
	}
	for {
		answer, err := asker.Line("Agent (a number or a name, enter to leave): ")
		if err != nil {
			return "", gone(e)
		}
		if answer == "" {
			return "", cli.Refuse(preflight.AgentHint(), "no agent is chosen")
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(here) {
			answer = here[n-1]
		}
		if !slices.Contains(here, answer) {
			asker.Say("%s is none of them; 'ralph start --agent COMMAND' takes any program", cli.Clean(answer))
			continue
		}
		keep, err := asker.Confirm("Keep " + answer + " for all projects, in " + e.Short(ownSettings(e)) + "? (y/N): ")
		if err != nil {
			return "", gone(e)
		}
		if keep == cli.Yes {
			err = keepAgent(e, answer)
		}
		return answer, err
	}
}

// ownSettings is the file with a person's own settings.
func ownSettings(e *cli.Env) string { return filepath.Join(e.Home, "settings.json") }

// keepAgent makes an agent the first member of a person's own settings, which stay as they are
// otherwise. They were read before, so they are one JSON object.
func keepAgent(e *cli.Env, command string) error {
	path, mode := ownSettings(e), os.FileMode(0o600)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // people link it from elsewhere
	}
	text, err := safefile.ReadLinked(path, config.MaxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		text, err = []byte("{}\n"), os.MkdirAll(e.Home, 0o700)
	case err == nil:
		var info os.FileInfo
		if info, err = os.Stat(path); err == nil {
			mode = info.Mode().Perm()
		}
	}
	if err != nil {
		return keepError(path, err)
	}
	var members map[string]json.RawMessage
	begin := bytes.IndexByte(text, '{') + 1
	if err := json.Unmarshal(text[max(begin-1, 0):], &members); err != nil {
		return keepError(path, err)
	}
	if members["agent"] != nil {
		cli.Tell(e.Stderr, "not kept: %s has an empty agent; write \"agent\": %q", e.Short(path), command)
		return nil
	}
	member, end := "\n  \"agent\": "+strconv.Quote(command), ","
	if len(members) == 0 {
		end = "\n"
	}
	kept := slices.Concat(text[:begin], []byte(member+end), text[begin:])
	if err := safefile.WriteFile(path, kept, mode); err != nil {
		return keepError(path, err)
	}
	return nil
}

func keepError(path string, err error) error {
	return cli.Refuse("give the agent with --agent", "keep the agent in %s: %w", path, err)
}
