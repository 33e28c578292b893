package runner

import (
	"errors"
	"io/fs"

	"github.com/ralph-loop/ralph/internal/safefile"
)

// syncFolder makes the names in a folder durable, where that can be done: one of another user's folders may be closed
// to us. A test replaces it, to see what is durable when the agent starts.
var syncFolder = func(path string) error {
	err := safefile.Dir(path).Sync()
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
