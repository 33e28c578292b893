package workspace

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/clean"
	"github.com/ralph-loop/ralph/internal/ground/process"
)

// setupOutput is how much of what worktree.setup printed an error has, in bytes.
const setupOutput = 2000

// Setup runs worktree.setup in the folder of the project in a fresh work tree. The error has the
// end of what it printed.
func Setup(ctx context.Context, dir, command string, env []string, wrap process.Wrap) error {
	if err := os.MkdirAll(dir, 0o777); err != nil { // nothing of the project is committed
		return err
	}
	tail := process.Tail{Max: setupOutput}
	exit, err := process.Run(ctx, process.Command{Shell: command, Dir: dir, Env: env, Wrap: wrap, Stdout: &tail, Stderr: &tail})
	if err == nil {
		err = exit.Failure()
	}
	if err != nil {
		return fmt.Errorf("worktree.setup: %w\n%s", err, clean.Text(strings.TrimSpace(tail.String())))
	}
	return nil
}
