package runner

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/safefile"
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
