package codex

import "testing"

// A command that Codex gives to a shell is shown as its model wrote it.
func TestScriptOfShell(t *testing.T) {
	for command, want := range map[string]string{
		`/bin/bash -lc 'echo out; exit 3'`:          "echo out; exit 3",
		`/bin/bash -lc ls`:                          "ls",
		`/usr/bin/zsh -lc "cat 'a b' \"c\" \$HOME"`: `cat 'a b' "c" $HOME`,
		`bash -c 'it'\''s'`:                         "it's",
		"/bin/sh -c 'one\ntwo'":                     "one\ntwo",
		`/bin/bash -lc "echo $HOME"`:                "",
		`/bin/bash -lc 'a' b`:                       "",
		`/bin/bash -lc 'open`:                       "",
		`git commit -m x`:                           "",
		`/bin/bash script.sh`:                       "",
	} {
		if got, ok := scriptOf(command); got != want && ok || ok != (want != "") {
			t.Errorf("%s: %q, %v, want %q", command, got, ok, want)
		}
	}
}
