package moving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/holdout"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
	"github.com/ralph-loop/ralph/internal/ground/fence"
	"github.com/ralph-loop/ralph/internal/ground/filelock"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// Exported says what was written.
type Exported struct {
	Name  string `json:"name"`
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
	Repo  *Repo  `json:"repo,omitempty"`
	Moved bool   `json:"moved,omitempty"` // the loop is not resumed here any more
	// Left are names in the loop's folder that are not in the file.
	Left []string `json:"left,omitempty"`

	prompt string        // the prompt file, where it is not in the loop's folder
	held   holdout.Store // whose guardrails are in the file
	files  bool          // all but the journal
	since  []string      // as in keep.Bundle
}

// mostLeft is how many of these names a message has.
const mostLeft = 10

// Check refuses what cannot be exported: a loop that runs, or to a file that exists. output may be
// empty: NAME.ralph in the current folder. seq is the loop's last event.
func Check(e *cli.Env, s registry.Status, output string) (file string, seq event.Seq, err error) {
	output = cmp.Or(output, s.Name+".ralph")
	file = e.Abs(output)
	if _, err := os.Lstat(file); err == nil {
		return "", 0, cli.Refuse("choose another with -o FILE", "%s exists", output)
	}
	if err := cli.CheckFolderOf(file); err != nil {
		return "", 0, err
	}
	before, err := launch.InspectLoop(s.Dir)
	switch {
	case err != nil:
		return "", 0, err
	case before.Live.Alive:
		return "", 0, cli.Refuse(fmt.Sprintf("'ralph stop %s' ends it; it continues where it is imported", s.Name), "loop %s is running", s.Name)
	case before.Damage != nil:
		return "", 0, fmt.Errorf("loop %s: %w", s.Name, before.Damage)
	case !before.Exists:
		return "", 0, cli.Refuse("'ralph list --all' shows what there is", "loop %s has not begun", s.Name)
	}
	if left, err := send.LeftBy(s); err != nil {
		return "", 0, err
	} else if len(left) > 0 {
		return "", 0, cli.Refuse(fmt.Sprintf("'ralph kill %s' ends it", s.Name),
			"loop %s has no runner, and its agent outlived it: %s", s.Name, send.SpellStrays(left))
	}
	return file, before.State.Seq, nil
}

// Files writes to a new file what an export has beside the journal: no import takes it. The loop
// may run, and the files are as they are at the moment. The history of the repository lacks that of
// the commits since, as far as they are there.
func Files(ctx context.Context, e *cli.Env, s registry.Status, output string, since []string) (Exported, error) {
	x := Exported{Name: s.Name, File: e.Abs(cmp.Or(output, s.Name+".files")), files: true, since: since}
	if i := slices.IndexFunc(since, func(id string) bool { return !isCommit(id) }); i >= 0 {
		return x, cli.Refuse("name it by all of its digits", "--since: %.80q is no commit", since[i])
	}
	now, err := launch.InspectLoop(s.Dir)
	switch {
	case err != nil:
	case now.Damage != nil:
		err = now.Damage
	case !now.Exists:
		err = cli.Refuse("try again once it runs", "it has not begun")
	default:
		m := x.manifest(e, s, now.State)
		err = x.write(ctx, e, s, &m)
	}
	if err != nil {
		return x, fmt.Errorf("export the files of loop %s: %w", s.Name, err)
	}
	return x, nil
}

// manifest names the loop, and the prompt file that it needs.
func (x *Exported) manifest(e *cli.Env, s registry.Status, now loopstate.State) Manifest {
	x.prompt = now.PromptFile(s.Dir)
	if now.Rules.Stories || cli.Within(s.Dir, x.prompt) {
		x.prompt = ""
	}
	host, _ := os.Hostname() // only to be shown
	return Manifest{
		Format: formatVersion, Name: s.Name, ID: now.Lifecycle.ID, At: e.Now().UTC().Truncate(time.Second), Host: host,
		Version: cli.BuildVersion(), Inside: ".", Event: uint64(now.Seq),
	}
}

// Export writes a loop that no runner works on to a new file, as Check says. A loop that moves is
// not resumed here any more. Held-out guardrails are in the file only where a person asks for them.
func Export(ctx context.Context, e *cli.Env, s registry.Status, output string, move, held bool) (Exported, error) {
	x := Exported{Name: s.Name, Moved: move}
	var seen event.Seq
	var err error
	if x.File, seen, err = Check(e, s, output); err != nil {
		return x, err
	}
	if held {
		if x.held, err = heldOut(e, s, x.File); err != nil {
			return x, err
		}
	}
	err = launch.WithLock(s.Dir, func() error {
		now, err := launch.InspectLoop(s.Dir)
		if err == nil && now.State.Seq != seen {
			err = launch.ChangedMeanwhile(s.Name)
		}
		if err != nil {
			return err
		}
		m := x.manifest(e, s, now.State)
		if !move {
			return x.write(ctx, e, s, &m)
		}
		return x.fenced(ctx, e, s, &m)
	})
	if err != nil {
		return x, fmt.Errorf("export loop %s: %w", s.Name, err)
	}
	return x, nil
}

// fenced fences the loop and writes the file. Only a complete file leaves the fence where it is. A
// fence that was there before stays in any case.
func (x *Exported) fenced(ctx context.Context, e *cli.Env, s registry.Status, m *Manifest) error {
	dir := s.Dir
	before, err := fence.Read(dir)
	if err != nil {
		return err
	}
	to := fence.Fence{File: x.File, Host: m.Host, At: m.At}
	if err := fence.Write(dir, to); err != nil {
		return err
	}
	err = x.write(ctx, e, s, m)
	if err == nil {
		to.Complete = true
		return fence.Write(dir, to)
	}
	if before != nil {
		return errors.Join(err, fence.Write(dir, *before))
	}
	return errors.Join(err, fence.Remove(dir))
}

// making is part of the name of the folder in which an archive is made.
const making = ".making-"

// write makes the archive in a folder beside it, and gives it its name last. A killed export leaves
// that folder, which the next one to the same file removes.
func (x *Exported) write(ctx context.Context, e *cli.Env, s registry.Status, m *Manifest) error {
	beside := filepath.Join(filepath.Dir(x.File), "."+filepath.Base(x.File)+making+m.ID)
	if err := os.RemoveAll(beside); err != nil {
		return err
	}
	if err := os.Mkdir(beside, 0o700); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(beside) }() // the next export to the same file tries again
	bundle := filepath.Join(beside, "bundle")
	cli.Tell(e.Stderr, "writing the history of the repository")
	tree, err := workspace.Tree(s.Dir, s.Project)
	if err != nil {
		return err
	}
	var b keep.Bundle
	err = alone(ctx, s.Dir, func() (err error) {
		b, err = keep.WriteBundle(ctx, tree, bundle, m.ID, x.since, e.Environ...)
		return err
	})
	switch {
	case repo.Absent(err) || errors.Is(err, repo.ErrNoCommits):
		bundle = ""
		cli.Tell(e.Stderr, "the project has no commit: the file gets the loop's folder alone, without the project's files")
	case err != nil:
		return err
	default:
		m.Repo = &Repo{Branch: b.Branch, Head: b.Head, Tree: b.Tree}
		if x.files {
			m.Repo.Refs, m.Repo.Since = b.Refs, b.Since
			if _, err := os.Lstat(bundle); errors.Is(err, fs.ErrNotExist) {
				bundle = "" // nothing is new
			}
		}
		x.Repo = m.Repo
		if m.Inside, err = repo.Inside(tree); err != nil {
			return err
		}
	}
	whole := filepath.Join(beside, "whole")
	x.Left, err = pack(whole, *m, s.Dir, bundle, filepath.Join(s.Project, cli.SettingsName), x.prompt, x.held, x.files)
	if err != nil {
		return err
	}
	if n := len(x.Left); n > 0 && !x.files {
		shown := strings.Join(x.Left[:min(n, mostLeft)], ", ")
		if n > mostLeft {
			shown += fmt.Sprintf(" and %d more", n-mostLeft)
		}
		cli.Tell(e.Stderr, "an import takes only the files that ralph makes, and no command that waits; in the loop's folder stay %s", shown)
	}
	info, err := os.Stat(whole)
	if err != nil {
		return err
	}
	x.Bytes = info.Size()
	// A link, not a rename: it replaces no file.
	if err := os.Link(whole, x.File); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(x.File))
}

// alonePause is the time between two attempts to lock a loop's folder.
const alonePause = 50 * time.Millisecond

// alone calls do while no other export of the loop does: the files that a bundle keeps have one
// name in the repository. A system that cannot lock a folder has no mirror that exports as well.
func alone(ctx context.Context, dir string, do func() error) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	folder, err := root.Open(".")
	if err != nil {
		return err
	}
	defer folder.Close() // ends the lock
	for {
		mine, err := filelock.TryExclusive(folder)
		if mine || err != nil {
			return do()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("another export of the loop is under way: %w", context.Cause(ctx))
		case <-time.After(alonePause):
		}
	}
}

// Undo removes the fence of a loop, which can be resumed here again.
func Undo(e *cli.Env, s registry.Status) error {
	to, err := fence.Read(s.Dir)
	if err != nil {
		return err
	}
	if to == nil {
		return cli.Refuse("'ralph list' shows the loops, which can all be resumed here", "loop %s was not moved", s.Name)
	}
	if to.To != "" {
		return cli.Refuse(fmt.Sprintf("'ralph pool take %s' brings it back", s.Name), "loop %s was not exported: %s", s.Name, to.Text())
	}
	if err := launch.WithLock(s.Dir, func() error { return fence.Remove(s.Dir) }); err != nil {
		return fmt.Errorf("take back loop %s: %w", s.Name, err)
	}
	return nil
}

// Text says to a person what was written.
func (x Exported) Text(e *cli.Env) string {
	return fmt.Sprintf("%s (%s)", e.Short(x.File), units.Bytes(x.Bytes))
}
