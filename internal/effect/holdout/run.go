package holdout

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/guardrail"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/scratch"
	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal/event"
)

// Config says what runs on which work.
type Config struct {
	Home       string // ralph's own folder
	Project    string // the folder that holds .ralph: the store is this project's
	Dir        string // the project's folder in which the loop works
	Loop       string // its name
	Iteration  int
	Guardrails []Guardrail
	Timeout    time.Duration // of a guardrail without one; 0 for none
	Env        []string      // of the commands: nothing in it leads back to the loop
	Worktree   config.Worktree
	// Box opens the sandbox of the commands, which may write in the tree alone. Without one it
	// returns nil.
	Box func(context.Context, *scratch.Tree) (process.Wrap, func() error, error)
	// Ended is called with the result of each guardrail.
	Ended func(event.HoldoutEnded)
}

// A failure is why there is no verdict. The agent may read what it says, which is nothing of the
// guardrails. The cause is for a person.
type failure struct {
	says  string
	cause error
}

// Run runs the guardrails one after the other on a copy of the work. That ctx ended is no error of
// theirs.
func Run(ctx context.Context, c Config) event.HoldoutChecked {
	checked, err := c.run(ctx)
	if err == nil {
		return checked
	}
	if ctx.Err() != nil {
		checked.Error = "they were interrupted"
		return checked
	}
	checked.Error = err.says + "; 'ralph status' says where a person reads why"
	// Without it, the person sees that there is no verdict, but not why.
	_ = c.keep(0, []byte(err.cause.Error()+"\n"))
	return checked
}

func (c *Config) run(ctx context.Context) (checked event.HoldoutChecked, failed *failure) {
	tree, err := c.copyWork(ctx)
	if err != nil {
		return checked, &failure{"the claimed work could not be copied", err}
	}
	defer func() {
		if err := tree.Close(); failed == nil && err != nil {
			failed = &failure{"the copy of the claimed work could not be removed", err}
		}
	}()
	wrap, closeBox, err := c.Box(ctx, tree)
	if err != nil {
		return checked, &failure{"their sandbox could not be opened", err}
	}
	if checked.ByConvention = wrap == nil; !checked.ByConvention {
		defer func() {
			if err := closeBox(); failed == nil && err != nil {
				failed = &failure{"their sandbox could not be closed", err}
			}
		}()
	}
	if err := tree.Prepare(ctx, scratch.Preparation{
		From: c.Project, Copy: c.Worktree.Copy, Setup: c.Worktree.Setup, Env: c.environment(tree, wrap), Wrap: wrap,
	}); err != nil {
		return checked, &failure{"a copy of the claimed work could not be prepared", err}
	}
	for i := range c.Guardrails {
		ok, failed := c.runOne(ctx, tree, wrap, i)
		if failed != nil {
			return checked, failed
		}
		if ok {
			checked.Passed++
		} else {
			checked.Failed++
		}
	}
	return checked, nil
}

// copyWork makes a throw-away work tree with the work as it is.
func (c *Config) copyWork(ctx context.Context) (*scratch.Tree, error) {
	from := scratch.Config{Dir: c.Dir, Home: c.Home, Env: c.Env}
	now, err := keep.FilesNow(ctx, c.Dir, c.Env...)
	if repo.Absent(err) {
		return scratch.OpenCopy(ctx, from)
	}
	if err != nil {
		return nil, err
	}
	from.Tree = now
	return scratch.Open(ctx, from)
}

// runOne runs a guardrail, and reports whether it passed.
func (c *Config) runOne(ctx context.Context, tree *scratch.Tree, wrap process.Wrap, i int) (passed bool, failed *failure) {
	g := c.Guardrails[i]
	logs := filepath.Join(filepath.Dir(tree.Temp), fmt.Sprintf("output-%d", i+1)) // hidden from the command, too
	command, err := c.ready(tree, g, i)
	if err == nil {
		err = os.Mkdir(logs, 0o700)
	}
	if err != nil {
		return false, &failure{"a held-out guardrail could not be prepared", err}
	}
	results, err := guardrail.Run(ctx, guardrail.Config{
		Dir: tree.Project, LoopDir: logs, Iteration: c.Iteration, Env: c.environment(tree, wrap), Wrap: wrap,
		TruncateChars: 200, // enough to see whether it can run at all
		Guardrails:    []guardrail.Guardrail{{Command: command, Timeout: cmp.Or(g.Timeout.Std(), c.Timeout)}},
	})
	if err != nil {
		return false, &failure{"a held-out guardrail could not be started", err}
	}
	r := results[0]
	if !r.OK {
		if err := c.move(filepath.Join(logs, r.Log), i+1); err != nil {
			return false, &failure{"the output of a held-out guardrail could not be kept", err}
		}
	}
	if r.Code == notFound || r.Code == notExecutable {
		return false, &failure{"a held-out guardrail cannot run here", fmt.Errorf("%s: exit status %d: %s", g.Name, r.Code, r.Unable)}
	}
	ended := event.HoldoutEnded{Number: i + 1, OK: r.OK, Took: r.Took.Milliseconds()}
	if !r.OK {
		ended.Requirement = g.Requirement
	}
	c.Ended(ended)
	return r.OK, nil
}

// What a shell exits with for a program that it cannot run or find.
const (
	notExecutable = 126
	notFound      = 127
)

// ready lays the held-out files over the work, again for each guardrail: what one of them ran may
// have changed those of the next. It returns the command that runs the guardrail's.
func (c *Config) ready(tree *scratch.Tree, g Guardrail, i int) (command string, err error) {
	if len(g.Files) > 0 {
		from, err := os.OpenRoot(filepath.Join(Open(c.Home, c.Project).Dir, filesFolder))
		if err != nil {
			return "", err
		}
		defer from.Close()
		if err := tree.Lay(from, g.Files); err != nil {
			return "", err
		}
	}
	if runtime.GOOS == "windows" {
		return g.Command, nil
	}
	script := filepath.Join(tree.Temp, fmt.Sprintf("command-%d", i+1))
	return "exec sh '" + strings.ReplaceAll(script, "'", `'\''`) + "'", safefile.WriteFile(script, []byte(g.Command+"\n"), 0o600)
}

// environment is that of the commands. What they write elsewhere than in the tree goes with it.
func (c *Config) environment(tree *scratch.Tree, wrap process.Wrap) []string {
	env := append(slices.Clip(c.Env), tree.Ceiling())
	if wrap != nil {
		return env
	}
	return append(env, "TMPDIR="+tree.Temp)
}
