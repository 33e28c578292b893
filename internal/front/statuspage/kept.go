package statuspage

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/projector"
)

// AddKept adds what ralph kept before it replaced or removed files, which a person may have
// written. refs are those of git.
func AddKept(v *projector.View, refs []string) {
	for _, ref := range refs {
		v.Kept = append(v.Kept, projector.Kept{Name: ref, Back: fmt.Sprintf("ralph rollback %s %s", v.Name, ref)})
	}
	folder := filepath.Join(v.Dir, loopfolder.PutBack)
	files, _ := os.ReadDir(folder) // most loops have none
	for _, file := range files {
		name, show := filepath.Join(folder, file.Name()), "cat "
		if !file.Type().IsRegular() { // a sandbox sets aside links and folders, too
			show = "ls -lR "
		}
		v.Kept = append(v.Kept, projector.Kept{Name: name, Back: show + name})
	}
	for _, aside := range v.Aside {
		folder := cmp.Or(v.WorkDir, v.Project)
		if aside.Settings {
			folder = v.Project
		}
		name := filepath.Join(folder, aside.File)
		if _, err := os.Lstat(name); err == nil {
			was, _, _ := strings.Cut(name, loopfolder.Aside)
			v.Kept = append(v.Kept, projector.Kept{Name: name, Back: "mv -i " + name + " " + was})
		}
	}
}

// kept: what was replaced or removed, and how to have it back.
func (d *page) kept() {
	var lines []string
	for _, k := range d.Kept {
		lines = append(lines, k.Back)
	}
	addAll(d, "kept", lines)
}
