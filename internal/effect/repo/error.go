package repo

import (
	"errors"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

var (
	// ErrNoGit: git is not installed.
	ErrNoGit = errors.New("git is not installed")
	// ErrNoRepository: the folder is not in the working tree of a git repository.
	ErrNoRepository = errors.New("not inside a git working tree")
	// ErrNoMessage: the agent's answer contains no commit message.
	ErrNoMessage = errors.New("no commit message")
	// ErrUnknownCommit: the commit is not, or no longer, in the repository.
	ErrUnknownCommit = errors.New("no such commit")
	// ErrUnfinished: a merge, rebase, cherry-pick or revert waits to be finished.
	ErrUnfinished = errors.New("still in progress")
	// ErrUnmerged: files contain unresolved conflicts.
	ErrUnmerged = errors.New("unresolved conflicts")
	// ErrLocked: another process holds the index, or died holding it.
	ErrLocked = errors.New("the index is locked")
	// ErrTooMuch: git would print more than for any real repository.
	ErrTooMuch = errors.New("more than can be read")
	// ErrNoIdentity: git does not know who the author is.
	ErrNoIdentity = errors.New("git does not know who commits")
	// ErrNoCommits: nothing was committed yet.
	ErrNoCommits = errors.New("the repository has no commit")
	// ErrBranchName: no branch can have that name.
	ErrBranchName = errors.New("is no name of a branch")
)

// Absent reports whether an error only says that there is no version control here, so that a loop
// can work without it.
func Absent(err error) bool {
	return errors.Is(err, ErrNoGit) || errors.Is(err, ErrNoRepository)
}

// An Error is a command that failed, or that was not started for the reason in Err. A command that
// took too long satisfies errors.Is with context.DeadlineExceeded.
type Error struct {
	Doing string // such as "git push"
	// the end of its output, both streams in order, including hooks; at most maxTail bytes
	Output string
	Err    error

	hint string
}

func (e *Error) Error() string {
	text := e.Doing + ": " + e.Err.Error()
	if last := lastLine(e.Output); last != "" {
		text += ": " + last
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Hint is the next step, if one is known.
func (e *Error) Hint() string { return e.hint }

// lastLine returns the line in which git and most hooks say what was wrong. After it git may print
// advice. Of a push that was refused it is the line of the branch.
func lastLine(output string) string {
	last := ""
	for l := range strings.Lines(output) {
		if refused := strings.Join(strings.Fields(l), " "); strings.HasPrefix(refused, "! [") {
			return units.Cut(tidy(refused), maxShown)
		}
		if l = strings.TrimSpace(l); l != "" && (last == "" || !strings.HasPrefix(l, "hint: ")) {
			last = l
		}
	}
	return units.Cut(tidy(last), maxShown)
}

const maxShown = 200 // characters of a line inside an error
