package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/registry"
)

// ownLoop returns the folder of the loop that runs this session, if that loop lives.
func ownLoop(e Env) (dir string, ok bool) {
	dir = e.Variable(LoopDirVariable)
	if !filepath.IsAbs(dir) {
		return "", false
	}
	live, err := registry.Probe(dir)
	return dir, err == nil && live.Alive
}

// readerOf says where the agent of this session can leave what the next one has to know.
func readerOf(e Env, in Input) reader {
	dir, ok := ownLoop(e)
	if !ok {
		return ofSession
	}
	if _, _, ok, _ := ownPlan(e, in, dir); ok {
		return ofPlan
	}
	return ofLoop
}

// sameFolder reports whether two paths lead to one folder.
func sameFolder(a, b string) bool {
	if a == b {
		return true
	}
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

const mostLoops = 256 // of one project that are looked at

// aboutLoops describes the loops that live in the project of a person's own session; "" if none do,
// and for a loop's own session, whose prompt says everything.
func aboutLoops(e Env, in Input) string {
	if _, ok := ownLoop(e); ok {
		return ""
	}
	for project := range projects(e, in) {
		if names := liveLoops(project); len(names) > 0 {
			return fmt.Sprintf("ralph: a loop is running an agent in this project: %s (in %s). It changes files and commits at the same time as you. "+
				"Leave ralph/tasks.json, ralph/progress.txt and .ralph/ to it. 'ralph status' shows it, 'ralph pause' pauses it.",
				strings.Join(names, ", "), project)
		}
	}
	return ""
}

// liveLoops returns the names of the loops in a project that live.
func liveLoops(project string) []string {
	folder, err := os.Lstat(filepath.Join(project, ".ralph"))
	if err != nil || !folder.IsDir() {
		return nil
	}
	root, err := os.OpenRoot(filepath.Join(project, ".ralph"))
	if err != nil {
		return nil
	}
	defer root.Close()
	listed, err := root.Open(".")
	if err != nil {
		return nil
	}
	defer listed.Close()
	entries, _ := listed.ReadDir(mostLoops)
	var names []string
	for _, entry := range entries {
		if !entry.IsDir() || registry.CheckName(entry.Name()) != nil {
			continue
		}
		if live, err := registry.Probe(filepath.Join(project, ".ralph", entry.Name())); err == nil && live.Alive {
			names = append(names, entry.Name())
		}
	}
	return names
}
