// Package testgit keeps tests that run git away from a repository that the environment names, as it
// does in a git hook: there, a test's own commit would go into a person's repository. A package
// with tests that run git imports it in one of them:
//
//	import _ "github.com/ralph-loop/ralph/internal/testkit/testgit"
//
// A copy of a test program that runs under another name, as another program, keeps its environment.
package testgit

import (
	"os"
	"strings"
)

// local are the variables about one repository (git rev-parse --local-env-vars).
var local = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_PREFIX", "GIT_NAMESPACE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS",
	"GIT_CONFIG_COUNT", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_QUARANTINE_PATH",
}

func init() {
	if !strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test") {
		return
	}
	for _, variable := range local {
		os.Unsetenv(variable)
	}
}
