package loopfolder

import (
	"path"
	"slices"
)

// The names in a loop's folder, beside those that public packages promise.
const (
	Config     = "config.json" // the settings of the loop
	State      = "state.json"
	Iterations = "iterations"
	RunnerLog  = "runner.log"
	Reserve    = "reserve"       // room that is given back when the disk is full
	Spare      = "reserve-files" // the same, of a disk that may have no more files
	Guardrails = "guardrail-files"
	PutBack    = "put-back"
	Worktree   = "worktree.json"
	Fleet      = "fleet.json"
	Moved      = "moved.json"
	Pool       = "pool.json" // under which epoch of a pool this host has the loop
)

// Aside ends the new name of a file that was in the way of one that was put back, but for a number
// after it.
const Aside = ".set-aside"

// names are all of them. The first are those of packages journal, inbox and registry, and of git.
var names = []string{
	"journal", "blobs", "notify", "inbox", "run.lock", ".git",
	Config, State, Iterations, RunnerLog, Reserve, Spare, Guardrails, PutBack, Worktree, Fleet, Moved, Pool,
}

// Has reports whether only ralph writes the file or folder of this name.
func Has(name string) bool { return slices.Contains(names, name) }

// Files returns the paths of all that only ralph writes in a loop's folder. The others are the
// agent's.
func Files(dir string) []string {
	files := make([]string, 0, len(names))
	for _, name := range names {
		files = append(files, path.Join(dir, name))
	}
	return files
}
