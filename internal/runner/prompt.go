package runner

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal/event"
)

// MaxPrompt is the longest prompt file in bytes.
const MaxPrompt = 16 << 20

// readFile reads a prompt file: a path within the project or an absolute one.
func (r *runner) readFile(name string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(r.Project, name)
	}
	return safefile.ReadLinked(name, MaxPrompt)
}

// promptFile returns where the prompt file of a resumed loop is now; empty if it has none.
func (r *runner) promptFile(state *loopstate.State) string {
	if state.Rules.Stories {
		return plan.Path(r.Tree, plan.Tasks)
	}
	return PromptFile(state, r.Dir)
}

// PromptCopy is the file in a loop's folder to which an export copies a prompt file from outside.
const PromptCopy = "prompt.md"

// PromptFile returns where the prompt file of a loop is whose folder is dir; empty if it has none.
// If the loop was moved, it is the file at the same place in its project, else the copy of an
// export. The journal may be a stranger's: no link leads out of the project.
func PromptFile(state *loopstate.State, dir string) string {
	life := &state.Lifecycle
	host, _ := os.Hostname()
	if life.Task.File == "" || life.Dir == dir && (life.Host == host || isFile(filepath.Split(life.Task.File))) {
		return life.Task.File
	}
	projectOf := func(dir string) string { return filepath.Dir(filepath.Dir(dir)) }
	project := projectOf(dir)
	inside, err := filepath.Rel(projectOf(life.Dir), life.Task.File)
	local := err == nil && filepath.IsLocal(inside)
	if local && isFile(project, inside) {
		return filepath.Join(project, inside)
	}
	if isFile(dir, PromptCopy) {
		return filepath.Join(dir, PromptCopy)
	}
	if local {
		return filepath.Join(project, inside) // the error of a missing file names the place
	}
	return life.Task.File
}

// isFile reports whether there is a file in a folder, to which no link leads from outside.
func isFile(folder, name string) bool {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return false
	}
	defer root.Close()
	info, err := root.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

func (r *runner) readBlob(name event.BlobRef) ([]byte, error) { return ReadBlob(r.Dir, name) }

// ReadBlob reads a text that the journal in that folder stores in a file.
func ReadBlob(dir string, name event.BlobRef) ([]byte, error) {
	root, err := os.OpenRoot(filepath.Join(dir, "blobs"))
	if err != nil {
		return nil, fmt.Errorf("read a blob: %w", err)
	}
	defer root.Close()
	text, err := root.ReadFile(string(name))
	if err != nil {
		return nil, fmt.Errorf("read a blob: %w", err)
	}
	return text, nil
}
