package planning

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ralph-loop/ralph/internal/effect/forge"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal/event"
)

// ReadIssue reads the issue that a person named by its number or its address, with gh or glab.
func ReadIssue(e *cli.Env, ref string) (forge.Issue, error) {
	ctx := context.Background() // gh and glab have a time limit of their own
	at := forge.Place{Dir: e.Root(), Env: e.Environ, Remotes: repo.Remotes(ctx, e.Root(), e.Environ...)}
	issue, err := at.Issue(ctx, ref)
	if failed, ok := errors.AsType[*forge.Error](err); ok {
		refused := &cli.Failure{Err: err, Code: event.ExitUsage, NextStep: failed.Hint()}
		if errors.Is(err, forge.ErrUnreachable) || errors.Is(err, forge.ErrRateLimited) {
			refused.Code = event.ExitFailed
		}
		return forge.Issue{}, refused
	}
	if err != nil {
		return forge.Issue{}, err
	}
	if issue.State == "closed" {
		cli.Tell(e.Stderr, "warning: issue %d is closed", issue.Number)
	}
	return issue, nil
}

// About makes an issue the subject of the interview.
func (i *Interview) About(issue forge.Issue) { i.Source = forge.IssueText(issue) }

// WriteTask writes an issue to a new file, as the task of a loop. It replaces no file.
func WriteTask(e *cli.Env, issue forge.Issue, file string) error {
	f, err := safefile.OpenFile(e.Abs(file), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return cli.Refuse("name another file, or remove it first", "%s is there already", file)
	}
	if err != nil {
		return cli.Refuse("name a file that can be written", "--task: %w", err)
	}
	_, err = f.WriteString(forge.TaskText(issue))
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	_, err = fmt.Fprintf(e.Stdout, "issue %d is in %s; read it, then 'ralph start --task %s'\n", issue.Number, cli.Clean(file), cli.Clean(file))
	return err
}
