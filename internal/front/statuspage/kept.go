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
// written: refs of git, and files in the loop's folder, as package keep names them.
func AddKept(v *projector.View, refs, files []string) {
	for _, ref := range refs {
		v.Kept = append(v.Kept, projector.Kept{Name: ref, Back: fmt.Sprintf("ralph rollback %s %s", v.Name, ref)})
	}
	for _, file := range files {
		name, show := filepath.Join(v.Dir, file), "cat "
		if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() { // a sandbox sets aside links and folders, too
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
