// Package testgit keeps tests that run git away from a repository that the environment names, as it
// does in a git hook: there, a test's own commit would go into a person's repository. A package
// with tests that run git imports it in one of them:
//
//	import _ "github.com/ralph-loop/ralph/internal/testgit"
package testgit

import (
	"os"
	"os/exec"
	"strings"
)

func init() {
	names, err := exec.Command("git", "rev-parse", "--local-env-vars").Output()
	if err != nil {
		return // without git, no test can change a repository
	}
	for name := range strings.FieldsSeq(string(names)) {
		os.Unsetenv(name)
	}
}
