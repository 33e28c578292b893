package repo

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/units"
)

const defaultTimeout = 10 * time.Minute

// Config says what to run where.
type Config struct {
	Dir string
	// Command is the program, git when empty; such as "git" or "/opt/git/bin/git -c core.fsync=none": words with spaces between them.
	Command string
	// Tasks are its subcommands in order, each of one or more words: "commit", "push origin HEAD".
	Tasks []string
	// AddNew: commit takes untracked files along that are not ignored, except other repositories; otherwise tracked ones only.
	AddNew bool
	// Message is for the task commit. Without one it fails with ErrNoMessage, unless git has nothing to commit.
	Message string
	Env     []string      // "NAME=value"; this process's own when nil
	Timeout time.Duration // of each command; ten minutes when zero
	// Log, where not nil, gets each command before it is run, after "$ ", and each line that it prints. The calls come one after
	// the other, from any goroutine, and none after Run has returned.
	Log func(line string)

	lockWait time.Duration // how long another git may hold the index; two seconds when zero
}

// Result is what was done, also when a later task failed.
type Result struct {
	// Done and Skipped are the tasks that came to a good end, and those for which there was nothing to do.
	Done, Skipped []string
	// Committed: a commit was made by this Run. SHA, Message (as hooks left it) and Stat are about it. Of a program other than git
	// they are known where git sees the commit as well: where the program drives git, or keeps a git repository beside its own. Else SHA and
	// Stat are empty, and Message is the one that the program was given.
	Committed bool
	SHA       string
	Message   string
	Stat      Stat
	// Nothing: there was a task commit and nothing to commit.
	Nothing bool
	// Left are the repositories inside that AddNew did not take along, from the root and with slashes: git would record them in a
	// way that nobody can clone.
	Left []string
}

// Run does the tasks in order and stops at the first that fails, with an [Error]. What was done before stays done: after a failed
// push the Result has the commit.
//
// With git, the task commit commits the whole working tree around Dir, whatever part of it Dir is. With nothing to commit, Run
// goes on to the next task; commits of the agent may wait to be pushed, or a push may have failed the last time. The task push
// without further words is skipped when git knows that the branch has nothing for where it pushes to. Every other task is run as
// it stands.
//
// Another program gets "commit -am <message>" and the other tasks as they stand; whether there is anything to commit is its own
// affair, and AddNew is not passed on. Which commit it made is known where git sees it.
//
// Run may be called again after a crash. The index may then hold files that were added for the commit that did not come about.
func Run(ctx context.Context, c Config) (Result, error) {
	words := programWords(c.Command)
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
	r := runner{Config: c, git: git{words: words, env: environment(c.Env), dir: c.Dir}}
	for _, task := range c.Tasks {
		if err := r.task(ctx, task); err != nil {
			return r.result, err
		}
	}
	return r.result, nil
}

// programWords splits a command. A path with a space in it is one word if a program is there.
func programWords(command string) []string {
	command = strings.TrimSpace(command)
	if path, err := exec.LookPath(command); err == nil && path != "" {
		return []string{command}
	}
	return strings.Fields(command)
}

type runner struct {
	Config
	git    git
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
		err = r.refuse(words, ErrNoMessage, "")
	case words[0] == "commit":
		err = r.commitElsewhere(ctx, words)
	case task == "push" && r.isGit() && r.git.isLevel(ctx):
		done = false
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

// commitElsewhere lets another program than git commit. It may drive git, or keep a repository that git reads too: whether HEAD has moved is
// then what it has done. Where git sees nothing, the program is believed.
func (r *runner) commitElsewhere(ctx context.Context, words []string) error {
	seen := runner{Config: r.Config, git: git{words: []string{"git"}, env: r.git.env, dir: r.git.dir}}
	before, unseen := seen.git.head(ctx)
	failed := r.run(ctx, "", slices.Concat(words, []string{"-am", r.Message})...)

	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTime)
	defer cancel()
	head, err := seen.git.head(after)
	moved := unseen == nil && err == nil && head != before
	if failed != nil && !moved {
		return failed
	}
	r.result.Committed, r.result.Message = true, r.Message
	if !moved {
		return nil
	}
	seen.result.SHA = head
	if seen.describe(after, before) == nil { // else it is a commit all the same
		r.result.Message, r.result.Stat = seen.result.Message, seen.result.Stat
	}
	r.result.SHA = head
	return failed
}

func (r *runner) isGit() bool {
	name := filepath.Base(r.git.words[0])
	return strings.EqualFold(strings.TrimSuffix(name, ".exe"), "git")
}

// isLevel reports whether git knows of nothing to push on this branch. Not knowing is no: then push itself says what is missing.
func (g git) isLevel(ctx context.Context) bool {
	ahead, err := g.line(ctx, "rev-list", "--count", "@{push}..HEAD", "--")
	return err == nil && ahead == "0"
}

// run runs one command of the user's within its time.
func (r *runner) run(ctx context.Context, stdin string, args ...string) error {
	limited, cancel := context.WithTimeoutCause(ctx, r.Timeout, fmt.Errorf("not done after %s: %w", units.Plain(r.Timeout), context.DeadlineExceeded))
	defer cancel()
	out := tail{log: r.Log}
	argv := slices.Concat(r.git.words, args)
	if r.Log != nil {
		r.Log("$ " + tidy(strings.Join(argv, " ")))
	}
	// An editor that is asked for nevertheless takes what it is given (git-var(1) knows ":" as the one that does nothing).
	env := append(slices.Clip(r.git.env), "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=:")
	err := command{argv: argv, dir: r.git.dir, env: env, stdin: stdin, out: &out, errs: &out}.run(limited)
	out.flush(false)
	if errors.Is(err, exec.ErrNotFound) && r.isGit() {
		err = fmt.Errorf("%w: %w", ErrNoGit, err)
	}
	if err != nil {
		return &Error{Doing: r.name(args), Output: out.String(), Err: err}
	}
	return nil
}

// name is a command as errors call it. Its further words may be long, or a message.
func (r *runner) name(args []string) string {
	return filepath.Base(r.git.words[0]) + " " + args[0]
}
