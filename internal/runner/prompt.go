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
	return state.PromptFile(r.Dir)
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
