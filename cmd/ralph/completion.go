//go:build !ralph_core

package main

import (
	"io"

	"github.com/ralph-loop/ralph/internal/agent/rehearsal/player"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/completion"
)

type completionVerb struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Help says how each shell loads the script.
func (completionVerb) Help() string {
	return "Load it in the file that your shell reads when it starts:\n\n" +
		"  ~/.bashrc                   source <(ralph completion bash)\n" +
		"  ~/.zshrc, after compinit    source <(ralph completion zsh)\n" +
		"  ~/.config/fish/config.fish  ralph completion fish | source\n\n" +
		cli.Examples("ralph completion bash")
}

// Run prints the script.
func (v *completionVerb) Run(e *cli.Env) error {
	_, err := io.WriteString(e.Stdout, completion.Script(v.Shell))
	return err
}

// completeVerb answers the scripts.
type completeVerb struct {
	Shell string   `default:"fish" help:"Whose script asks."`
	Words []string `arg:"" optional:"" passthrough:"" help:"The words after ralph; the last one is being written."`
}

// Run prints the words that may come next. What goes wrong is not reported, because a person is
// writing a command line.
func (v *completeVerb) Run(e *cli.Env) error {
	words := v.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	_, err := io.WriteString(e.Stdout, completion.Print(e, completed(), v.Shell, words))
	return err
}

// completed are the words that a command line may have.
func completed() completion.Words {
	return completion.Words{Verbs: commands(), Scenarios: func() (all []completion.Candidate) {
		for _, s := range player.List() {
			all = append(all, completion.Candidate{Word: s.Name, Help: s.About})
		}
		return all
	}}
}
