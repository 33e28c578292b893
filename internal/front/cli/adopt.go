package cli

import (
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// Adopt registers the loops of this project that the registry does not have: after an import, after
// the project's folder was renamed or copied, or where the registry was lost. They are marked as
// found, so that a resume asks the person whether they trust them. What cannot be read is left as
// it is: this is a help for lists. The error names a loop that could not be registered: no list has
// it.
func (e *Env) Adopt() (err error) {
	root := e.Root()
	folders, unread := os.ReadDir(filepath.Join(root, RalphFolder))
	if unread != nil {
		return nil
	}
	for _, folder := range folders {
		name := folder.Name()
		dir := filepath.Join(root, RalphFolder, name)
		if !folder.IsDir() || registry.CheckName(name) != nil || !Exists(filepath.Join(dir, "journal")) ||
			Exists(filepath.Join(registry.Folder(e.Home), registry.FileName(root, name))) {
			continue
		}
		loop, unread := projector.Load(dir)
		if unread != nil {
			continue
		}
		v := loop.View()
		if v.Since.IsZero() { // it has not begun
			continue
		}
		host, _ := os.Hostname()
		unwritten := registry.Put(e.Home, registry.Entry{
			Name: name, Dir: dir, Project: root, ID: v.ID, Agent: v.Agents[0].Protocol,
			Host: host, Started: v.Since, Found: true,
		})
		if unwritten != nil {
			err = Failed("make "+e.Short(e.Home)+" writable, or set RALPH_HOME to another folder; 'ralph status "+name+"' shows the loop",
				"loop %s of this project is not in the registry: %w", name, unwritten)
		}
	}
	return err
}
