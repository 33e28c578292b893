package completion

import (
	_ "embed"
)

var (
	//go:embed scripts/ralph.bash
	bash string
	//go:embed scripts/ralph.zsh
	zsh string
	//go:embed scripts/ralph.fish
	fish string
)

// Script returns what a shell loads to complete the command lines of ralph; empty for another
// shell.
func Script(shell string) string {
	return map[string]string{"bash": bash, "zsh": zsh, "fish": fish}[shell]
}
