package planning

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/story"
	"github.com/ralph-loop/ralph/internal/effect/plan"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

// Archive is one 'ralph archive'.
type Archive struct {
	Label    string // names the folder; if empty, the branch of the plan does
	NoCommit bool
	DryRun   bool
	JSON     bool
}

// Archived is what was done, or would be.
type Archived struct {
	Name     string   `json:"name"`
	Dir      string   `json:"dir"`
	Files    []string `json:"files"` // that were moved
	Stories  int      `json:"stories"`
	Done     int      `json:"done"`
	DryRun   bool     `json:"dryRun,omitempty"`
	Finished bool     `json:"finished,omitempty"` // an archive that was not finished before
	Changed  []string `json:"changed,omitempty"`  // files that were changed meanwhile, and stay
	Commit   string   `json:"commit,omitempty"`   // of the archive and the reset plan
}

// Run moves the plan of the project to an archive, and begins a new one. An archive that was not
// finished is finished instead.
func (a *Archive) Run(e *cli.Env) error {
	if err := checkUnused(e, "it reads and changes tasks.json"); err != nil {
		return err
	}
	unfinished, err := plan.UnfinishedArchive(e.Root())
	if err != nil {
		return &cli.Failure{Err: err, Code: event.ExitUsage, NextStep: "remove the file; the archives beside it are complete"}
	}
	done := Archived{DryRun: a.DryRun, Files: []string{}}
	if unfinished != nil {
		done.Finished = true
		cli.Tell(e.Stderr, "archive %s was made before, and is finished now", unfinished.Name)
	} else if unfinished, err = a.begin(e, &done); err != nil {
		return err
	}
	done.Name, done.Dir = unfinished.Name, plan.ArchiveDir(e.Root(), unfinished.Name)
	if !a.DryRun {
		if err := a.finish(e, *unfinished, &done); err != nil {
			return err
		}
	}
	if a.JSON {
		return cli.PrintJSON(e.Stdout, done, "")
	}
	return done.print(e)
}

// begin copies the plan to a new archive, unless this is a dry run.
func (a *Archive) begin(e *cli.Env, done *Archived) (*plan.Unfinished, error) {
	tasks, err := plan.ReadTasks(e.Root())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Refuse("'ralph init --tasks' lays one out", "there is no plan here: ralph/tasks.json is missing")
	}
	if err != nil {
		return nil, err
	}
	list, _ := story.Parse(tasks) // a file that is damaged is archived as it is
	if list != nil {
		if untouched(list) && requirementsEmpty(e) {
			return nil, cli.Refuse("'ralph plan' fills it in", "there is nothing to archive: the plan is as the template")
		}
		done.Stories = len(list.Stories)
		done.Done = countDone(list)
	}
	for _, name := range []string{plan.PRD, plan.Tasks, plan.Progress} {
		if cli.Exists(plan.Path(e.Root(), name)) {
			done.Files = append(done.Files, name)
		}
	}
	name, err := plan.FreeArchive(e.Root(), a.name(e, list))
	if err != nil {
		return nil, err
	}
	u := plan.Unfinished{Name: name, Commit: !a.NoCommit}
	if a.DryRun {
		return &u, nil
	}
	worked, err := loops(e)
	if err != nil {
		return nil, err
	}
	text := summary{list: list, progress: progressOf(e), loops: worked, last: plan.LastArchive(e.Root()), now: e.Now()}.text()
	return &u, plan.Store(e.Root(), u, []byte(text))
}

func requirementsEmpty(e *cli.Env) bool {
	prd, err := plan.Read(e.Root(), plan.PRD)
	return errors.Is(err, fs.ErrNotExist) || err == nil && plan.IsTemplate(prd)
}

func progressOf(e *cli.Env) string {
	progress, _ := plan.Read(e.Root(), plan.Progress) // it only dates the plan
	return string(progress)
}

// name is the folder's: the date, and the label or the branch, as a name that is one folder on
// every system.
func (a *Archive) name(e *cli.Env, list *story.List) string {
	label := a.Label
	if label == "" && list != nil {
		label = strings.TrimPrefix(list.BranchName, branchPrefix)
	}
	if label == "" {
		label = launch.DefaultName(e)
	}
	return e.Now().Format(time.DateOnly) + "-" + registration.SlugName(render.Clean(label))
}

// finish resets the plan and commits the archive.
func (a *Archive) finish(e *cli.Env, u plan.Unfinished, done *Archived) error {
	var err error
	if done.Changed, err = plan.Reset(e.Root(), u.Name, valuesOf(e, "")); err != nil {
		return err
	}
	if u.Commit && !a.NoCommit {
		if done.Commit, err = commit(e, u.Name); err != nil {
			return err
		}
	}
	return plan.Finish(e.Root())
}

// commit commits the archive and the reset plan, and nothing else. Without a repository it does
// nothing.
func commit(e *cli.Env, name string) (string, error) {
	paths := []string{plan.Archives + "/" + name}
	for _, file := range []string{plan.PRD, plan.Tasks, plan.Progress} {
		paths = append(paths, plan.Folder+"/"+file)
	}
	sha, err := repo.CommitPaths(context.Background(), e.Root(), "Archive the plan "+name, paths, e.Environ...)
	if repo.Absent(err) {
		return "", nil
	}
	if err == nil {
		return sha, nil
	}
	hint := "the archive is complete; correct it and call 'ralph archive' again, or with --no-commit"
	if failed, ok := errors.AsType[*repo.Error](err); ok {
		if failed.Output != "" {
			cli.Tell(e.Stderr, "%s", strings.TrimSpace(failed.Output))
		}
		if next := failed.Hint(); next != "" {
			hint = next + "; then 'ralph archive' again commits it"
		}
	}
	return "", &cli.Failure{Err: fmt.Errorf("commit the archive: %w", err), Code: event.ExitUsage, NextStep: hint}
}

func (d Archived) print(e *cli.Env) error {
	var text strings.Builder
	dir := cli.Clean(e.Short(d.Dir))
	switch {
	case d.Finished && d.DryRun:
		fmt.Fprintf(&text, "would finish %s: reset ralph/ and commit\n", dir)
	case d.Finished:
		fmt.Fprintf(&text, "finished %s\n", dir)
	case d.DryRun:
		fmt.Fprintf(&text, "would move %s to %s: %d of %s done\n", strings.Join(d.Files, ", "), dir, d.Done, quantity(d.Stories))
	default:
		fmt.Fprintf(&text, "moved %s to %s: %d of %s done\n", strings.Join(d.Files, ", "), dir, d.Done, quantity(d.Stories))
	}
	if !d.DryRun {
		fmt.Fprintf(&text, "%s says what the plan came to\n", cli.Clean(e.Short(filepath.Join(d.Dir, plan.Summary))))
	}
	for _, name := range slices.Sorted(slices.Values(d.Changed)) {
		fmt.Fprintf(&text, "ralph/%s was changed meanwhile, and stays\n", name)
	}
	if d.Commit != "" {
		fmt.Fprintf(&text, "committed as %.12s\n", d.Commit)
	}
	_, err := e.Stdout.Write([]byte(text.String()))
	return err
}
