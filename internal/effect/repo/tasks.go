package repo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

const (
	defaultTimeout = 10 * time.Minute
	maxTail        = 16 << 10 // bytes of output that an error carries
	maxNew         = 100      // names of new files that a result has
)

// Config says what to run, and where.
type Config struct {
	Dir string
	// Command is the program, git when empty; such as "git" or "/opt/git/bin/git -c
	// core.fsync=none": words with spaces between them.
	Command string
	// Tasks are its subcommands in order, each of one or more words: "commit", "push origin HEAD".
	Tasks []string
	// AddUntracked: the commit includes untracked files that are not ignored, except other
	// repositories; otherwise only tracked ones.
	AddUntracked bool
	// Message is for the task commit, which fails with ErrNoMessage if it is empty, unless git has
	// nothing to commit.
	Message string
	Env     []string      // "NAME=value"; nil means this process's own
	Timeout time.Duration // of each command; 0 means ten minutes

	lockWait time.Duration // how long another git may lock the index; 0 means two seconds
}

// Result is what was done, also when a later task failed.
type Result struct {
	// Done are the tasks that succeeded, and Skipped those with nothing to do.
	Done, Skipped []string
	// Committed: this Run made a commit. SHA, Message (as hooks left it) and Stat are about it.
	// For a program other than git they are known if git sees the commit too: the program calls
	// git, or keeps a git repository beside its own. Otherwise SHA and Stat are empty, and
	// Message is the one that the program was given.
	Committed bool
	SHA       string
	Message   string
	Stat      Stat
	// Nothing: there was a task commit and nothing to commit.
	Nothing bool
	// New are new files that the commit left out, without AddUntracked: the first maxNew of them.
	New []string
	// Left are the repositories inside that AddUntracked did not include, from the root and with
	// slashes: git would record them in a way that cannot be cloned.
	Left []string
}

// Run runs the tasks in order and stops at the first that fails, with an [Error]. Earlier tasks
// stay done: after a failed push the Result has the commit.
//
// With git, the task commit commits the complete working tree around Dir. If there is nothing to
// commit, Run continues with the next task: commits of the agent may wait to be pushed, or an
// earlier push may have failed. The task push without further words is skipped when the branch has
// nothing to push. A branch without a destination goes to the branch of the same name, and gets an
// upstream branch. Every other task is run unchanged.
//
// Another program gets "commit -am <message>" and the other tasks unchanged. It finds out itself
// whether there is anything to commit, and AddUntracked is not passed on. Which commit it made is
// known if git reads the same repository.
//
// Run may be called again after a crash. The index may then contain files that were added for a
// commit that was not made.
func Run(ctx context.Context, c Config) (Result, error) {
	words := commandWords(c.Command)
	if len(words) == 0 {
		words = []string{"git"}
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.lockWait == 0 {
		c.lockWait = 2 * time.Second
	}
	c.Message = strings.TrimSpace(clean(c.Message))
	r := runner{Config: c, git: Git{argv: words, Env: environment(c.Env), Dir: c.Dir}}
	for _, task := range c.Tasks {
		if err := r.task(ctx, task); err != nil {
			return r.result, err
		}
	}
	return r.result, nil
}

// commandWords splits a command. A path with a space in it is one word if a program is there.
func commandWords(command string) []string {
	command = strings.TrimSpace(command)
	if path, err := exec.LookPath(command); err == nil && path != "" {
		return []string{command}
	}
	return strings.Fields(command)
}

type runner struct {
	Config
	git    Git
	only   []string // pathspecs of what is committed; all where there are none
	result Result
}

func (r *runner) task(ctx context.Context, task string) error {
	words := strings.Fields(task)
	var err error
	done := true
	switch {
	case len(words) == 0:
		done = false
	case words[0] == "commit" && r.isGit():
		done, err = r.commit(ctx, words)
	case words[0] == "commit" && r.Message == "":
		err = r.fail(words, ErrNoMessage, "")
	case words[0] == "commit":
		err = r.commitWith(ctx, words)
	case task == "push" && r.isGit():
		done, err = r.push(ctx)
	default:
		err = r.run(ctx, "", words...)
	}
	switch {
	case err != nil:
	case done:
		r.result.Done = append(r.result.Done, task)
	default:
		r.result.Skipped = append(r.result.Skipped, task)
	}
	return err
}

// commitWith lets a program other than git commit. If it calls git, or keeps a repository that git
// reads too, a moved HEAD shows the commit. If git sees nothing, the program's exit code counts.
func (r *runner) commitWith(ctx context.Context, words []string) error {
	seen := runner{Config: r.Config, git: Git{argv: []string{"git"}, Env: r.git.Env, Dir: r.git.Dir}}
	before, unseen := seen.git.Head(ctx)
	failed := r.run(ctx, "", slices.Concat(words, []string{"-am", r.Message})...)

	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), verifyTime)
	defer cancel()
	head, err := seen.git.Head(after)
	moved := unseen == nil && err == nil && head != before
	if failed != nil && !moved {
		return failed
	}
	r.result.Committed, r.result.Message = true, r.Message
	if !moved {
		return nil
	}
	seen.result.SHA = head
	if seen.describe(after, before) == nil { // else it is still a commit
		r.result.Message, r.result.Stat = seen.result.Message, seen.result.Stat
	}
	r.result.SHA = head
	return failed
}

func (r *runner) isGit() bool {
	name := filepath.Base(r.git.argv[0])
	return strings.EqualFold(strings.TrimSuffix(name, ".exe"), "git")
}

// isLevel reports whether git knows that this branch has nothing to push. If git cannot know, push
// itself says what is missing.
func (g Git) isLevel(ctx context.Context) bool {
	ahead, err := g.Line(ctx, "rev-list", "--count", "@{push}..HEAD", "--")
	return err == nil && ahead == "0"
}

// run runs one command of the user's, with its time limit.
func (r *runner) run(ctx context.Context, stdin string, args ...string) error {
	return r.runTo(ctx, stdin, nil, args...)
}

// runTo is run with a reader of what the command prints for programs; nil adds that to the output
// of an error.
func (r *runner) runTo(ctx context.Context, stdin string, printed io.Writer, args ...string) error {
	limited, cancel := context.WithTimeoutCause(ctx, r.Timeout, fmt.Errorf("not done after %s: %w", units.Plain(r.Timeout), context.DeadlineExceeded))
	defer cancel()
	out := process.Tail{Max: maxTail}
	if printed == nil {
		printed = &out
	}
	// If git still starts an editor, it is ":", which accepts the text unchanged (git-var(1)).
	env := append(slices.Clip(r.git.Env), "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=:")
	err := run(limited, process.Command{
		Argv: slices.Concat(r.git.argv, args), Dir: r.git.Dir, Env: env, Stdin: []byte(stdin), Stdout: printed, Stderr: &out, Grace: grace,
		LeaveStrays: true, // such as the connection that ssh keeps for later (ControlPersist)
	})
	if errors.Is(err, exec.ErrNotFound) && r.isGit() {
		err = fmt.Errorf("%w: %w", ErrNoGit, err)
	}
	if err != nil {
		return &Error{Doing: r.name(args), Output: out.String(), Err: err}
	}
	return nil
}

// name returns a command's name for errors. Its other words may be long, or a message.
func (r *runner) name(args []string) string {
	return filepath.Base(r.git.argv[0]) + " " + args[0]
}
