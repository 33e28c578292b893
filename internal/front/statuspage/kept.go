package statuspage

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// A Kept is what ralph kept before it replaced or removed files, which a person may have written.
type Kept struct {
	Name string `json:"name"` // a ref of git, or a file
	Back string `json:"back"` // the command that brings it back, or shows it
}

// FindKept returns what is kept of a loop, given the refs of git and the files in the loop's folder
// that package keep names.
func FindKept(s registry.Status, state *loopstate.State, refs, files []string) (all []Kept) {
	for _, ref := range refs {
		all = append(all, Kept{ref, fmt.Sprintf("ralph rollback %s %s", s.Name, ref)})
	}
	for _, file := range files {
		name, show := filepath.Join(s.Dir, file), "cat "
		if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() { // a sandbox sets aside links and folders, too
			show = "ls -lR "
		}
		all = append(all, Kept{name, show + name})
	}
	for _, aside := range state.FileChanges.Aside {
		folder := state.Lifecycle.Project
		if aside.Role == event.RoleSettings {
			folder = s.Project
		}
		name := filepath.Join(folder, filepath.FromSlash(aside.Name))
		if _, err := os.Lstat(name); err == nil {
			was, _, _ := strings.Cut(name, loopfolder.Aside)
			all = append(all, Kept{name, "mv -i " + name + " " + was})
		}
	}
	return all
}

// kept: what was replaced or removed, and how to have it back.
func (d *page) kept(all []Kept) {
	var lines []string
	for _, k := range all {
		lines = append(lines, k.Back)
	}
	addAll(d, "kept", lines)
}
