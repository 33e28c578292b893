package rollback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/client"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/registry"
)

// Rollback puts the files of a work tree back to how they were before an iteration.
type Rollback struct {
	Name   string
	To     string // an iteration's number, or a ref that keeps what was found
	Yes    bool
	DryRun bool
	JSON   bool
}

// Done is what --json prints.
type Done struct {
	Name string `json:"name"`
	To   string `json:"to"`
	keep.Restored
	// Changed is false with --dry-run.
	Changed bool `json:"changed"`
}

// Run shows what would change, asks, and changes it.
func (r Rollback) Run(ctx context.Context, e *cli.Env) error {
	t, err := find(ctx, e, r.Name)
	if err != nil {
		return err
	}
	if err := t.refuseLive(); err != nil {
		return err
	}
	commit, err := t.target(r.To)
	if err != nil {
		return err
	}
	plan, err := keep.Restore(ctx, t.dir, t.id, commit, true, t.env...)
	if err != nil {
		return err
	}
	done := Done{Name: t.Name, To: r.To, Restored: plan}
	done.CutOff = "" // it is still to be ended
	if len(plan.Files)+len(plan.Left) == 0 && plan.CutOff == "" {
		cli.Tell(e.Stderr, "the files are as they were; nothing to change")
		return r.print(e, done)
	}
	if r.DryRun || r.JSON && !r.Yes {
		return r.print(e, done)
	}
	if agreed, err := r.ask(e, t, plan.Files); err != nil || !agreed {
		return err
	}
	done.Restored, err = t.restore(e, fmt.Sprintf("The files of the work tree were put back to how they were %s.", when(r.To)), func() (keep.Restored, error) {
		return keep.Restore(ctx, t.dir, t.id, commit, false, t.env...)
	})
	done.Changed = done.Ref != "" || done.CutOff != ""
	return errors.Join(r.print(e, done), err)
}

// File puts one file back to how it was before the first iteration of a loop, which must not run.
func File(ctx context.Context, e *cli.Env, s registry.Status, path string) (keep.Restored, error) {
	t, err := open(ctx, e, s)
	if err == nil {
		err = t.refuseLive()
	}
	if err != nil {
		return keep.Restored{}, err
	}
	about := fmt.Sprintf("A person read the work, and put the file %s back to how it was before the first iteration.", path)
	return t.restore(e, about, func() (keep.Restored, error) {
		return keep.RestoreFile(ctx, t.dir, t.id, t.all[0].Commit, path, t.env...)
	})
}

func (t trees) refuseLive() error {
	if !t.Live.Alive {
		return nil
	}
	return cli.Refuse(fmt.Sprintf("'ralph stop %s' ends it; 'ralph start %s --resume' continues it afterwards", t.Name, t.Name),
		"loop %s is running", t.Name)
}

// restore puts files back while nothing else works in the work tree, and tells the agent of a
// resumed loop what was done.
func (t trees) restore(e *cli.Env, about string, put func() (keep.Restored, error)) (done keep.Restored, err error) {
	err = launch.WithLock(t.Dir, func() error {
		lock, err := runner.AcquireTree(e.Home, t.dir, false)
		if err != nil {
			return err
		}
		done, err = put()
		if _, left := errors.AsType[*keep.SkippedError](err); left { // they are printed
			err = fmt.Errorf("%s not put back", units.Quantity(len(done.Left), "file"))
		}
		if done.Ref != "" || done.CutOff != "" {
			err = errors.Join(err, t.tell(about))
		}
		return errors.Join(err, lock.Release())
	})
	return done, err
}

// target returns the commit that is put back.
func (t trees) target(to string) (string, error) {
	if n, err := strconv.Atoi(to); err == nil {
		kept, err := t.at(n)
		return kept.Commit, err
	}
	commit, err := keep.CommitOf(context.Background(), t.dir, t.id, to, t.env...)
	if err != nil {
		return "", cli.Refuse("name an iteration, or a ref that 'ralph status' shows", "%q is no snapshot of loop %s", to, t.Name)
	}
	return commit, nil
}

// shown is how many files a question names.
const shown = 20

func (r Rollback) ask(e *cli.Env, t trees, files []string) (bool, error) {
	if r.Yes || len(files) == 0 { // then only an earlier one is ended
		return true, nil
	}
	var lines []string
	for _, name := range files[:min(shown, len(files))] {
		lines = append(lines, "  "+cli.Clean(name))
	}
	if more := len(files) - shown; more > 0 {
		lines = append(lines, fmt.Sprintf("  … and %d more", more))
	}
	about := fmt.Sprintf("these files would be as they were %s; commits stay, and all is kept as it is now", when(r.To))
	agreed, err := e.ConfirmAll(about, lines, "Put them back?", "the same with --yes puts them back; with --dry-run it only shows them")
	if err == nil && !agreed {
		cli.Tell(e.Stderr, "nothing was changed")
	}
	return agreed, err
}

// when says to which moment the files go back.
func when(to string) string {
	if _, err := strconv.Atoi(to); err == nil {
		return "before iteration " + to
	}
	return "under that name"
}

// tell leaves a message for the agent of a resumed loop; the journal has it then, too.
func (t trees) tell(about string) error {
	if _, err := os.Stat(t.Dir); err != nil {
		return nil //nolint:nilerr // the folder has gone, and with it who would read the message
	}
	_, err := client.Drop(t.Name, t.Dir, inbox.Command{Kind: inbox.FollowUp, Text: about + " Commits made since then were not undone."})
	return err
}

func (r Rollback) print(e *cli.Env, done Done) error {
	if r.JSON {
		return cli.PrintJSON(e.Stdout, done, "")
	}
	word := "would put back"
	if done.Changed {
		word = "put back"
	}
	for _, name := range done.Files {
		fmt.Fprintf(e.Stdout, "%s %s\n", word, cli.Clean(name))
	}
	printLeft(e, "left as it is", done.Left)
	printLeft(e, "not brought back", done.Gone)
	if done.Changed {
		cli.Tell(e.Stderr, "%s changed; HEAD, the index and ignored files are as they were", units.Quantity(len(done.Files), "file"))
		if done.CutOff != "" {
			cli.Tell(e.Stderr, "an earlier rollback was cut off; what was there before it: %s", done.CutOff)
		}
		cli.Tell(e.Stderr, "hint: 'ralph rollback %s %s' brings back what was there", done.Name, cmp.Or(done.CutOff, done.Ref))
	}
	return nil
}

// printLeft prints a line for each reason. The files are in its order.
func printLeft(e *cli.Env, what string, files []keep.SkippedFile) {
	for len(files) > 0 {
		why, names := files[0].Why, ""
		for len(files) > 0 && files[0].Why == why {
			names += ", " + cli.Clean(files[0].Path)
			files = files[1:]
		}
		fmt.Fprintf(e.Stdout, "%s, %s: %s\n", what, cli.Clean(why), strings.TrimPrefix(names, ", "))
	}
}
