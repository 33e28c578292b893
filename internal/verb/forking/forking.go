// Package forking does what the verb fork does: it begins a loop as another one was before an
// iteration, with the files of that moment, in a worktree of its own.
//
// The new loop's journal begins with the events of the other one up to that iteration, under its
// own id, so it knows what was tried and spent. It is written last: a fork that is killed before
// leaves a folder without a loop, which the next one takes. The other loop may run meanwhile.
package forking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/task"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/internal/ground/redact"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/runner"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
)

// Fork says which loop begins as which other one was.
type Fork struct {
	Name   string // of the other loop
	At     int    // the iteration that is done again
	As     string // the new loop's name; "" for the other's with a number
	Prompt string // another base prompt; "" for the same
}

// Forked is the new loop, which has not been resumed yet.
type Forked struct {
	Name     string `json:"name"`
	ID       string `json:"id"`
	Dir      string `json:"dir"`
	Branch   string `json:"branch"`
	From     string `json:"from"`
	At       int    `json:"at"`
	Snapshot string `json:"snapshot"` // the commit with the files
	Project  string `json:"project"`
}

// Make makes the new loop.
func (f Fork) Make(e *cli.Env) (Forked, error) {
	s, err := e.Find(f.Name)
	if err != nil {
		return Forked{}, err
	}
	e.Project = filepath.Dir(filepath.Dir(s.Dir))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	done := Forked{From: s.Name, At: f.At, Project: e.Root()}
	kept, err := snapshotOf(ctx, e, s, f.At)
	if err != nil {
		return done, err
	}
	done.Snapshot = kept.Commit
	if err := f.place(e, s, &done); err != nil {
		return done, err
	}
	if err := f.make(ctx, e, s, &done); err != nil {
		return done, fmt.Errorf("fork loop %s: %w", s.Name, err)
	}
	return done, nil
}

// snapshotOf finds the files before an iteration.
func snapshotOf(ctx context.Context, e *cli.Env, s registry.Status, at int) (keep.Iteration, error) {
	all, err := keep.Iterations(ctx, e.Root(), cmp.Or(s.ID, "none"), e.Environ...)
	if err != nil {
		return keep.Iteration{}, err
	}
	first, last := 0, 0
	for _, kept := range all {
		if kept.N == at {
			return kept, nil
		}
		first, last = cmp.Or(first, kept.N), kept.N
	}
	if len(all) == 0 {
		return keep.Iteration{}, cli.Refuse("a loop in a git repository keeps them before each iteration, unless snapshots.keep is 0",
			"loop %s has no snapshot of its work tree", s.Name)
	}
	there := fmt.Sprintf("there are those before iterations %d to %d, so far as snapshots.keep keeps them", first, last)
	if first == last {
		there = fmt.Sprintf("there is the one before iteration %d", first)
	}
	return keep.Iteration{}, cli.Refuse(there, "loop %s has no snapshot before iteration %d", s.Name, at)
}

// maxForks is how many names are tried for a fork without one.
const maxForks = 100

// place chooses the new loop's name and folder.
func (f Fork) place(e *cli.Env, s registry.Status, done *Forked) (err error) {
	done.Name = f.As
	for n := 2; f.As == ""; n++ {
		done.Name = s.Name + "-" + strconv.Itoa(n)
		if dir, err := e.LoopDir(done.Name); err != nil || !cli.Exists(filepath.Join(dir, "journal")) || n > maxForks {
			break
		}
	}
	if done.Dir, err = e.LoopDir(done.Name); err != nil {
		return err
	}
	if cli.Exists(filepath.Join(done.Dir, "journal")) {
		return cli.Refuse("choose another name with --as NAME", "there is a loop %q here", done.Name)
	}
	return launch.MakeFolders(e, done.Dir)
}

func (f Fork) make(ctx context.Context, e *cli.Env, s registry.Status, done *Forked) error {
	settings, err := launch.LoopSettings(e, s.Dir)
	if err != nil {
		return err
	}
	done.ID = runner.NewID(e.Now())
	base, err := keep.FirstParent(ctx, e.Root(), done.Snapshot, e.Environ...)
	if err != nil {
		return err
	}
	cli.Tell(e.Stderr, "making the worktree")
	w, err := workspace.Make(ctx, workspace.Plan{Home: e.Home, Project: e.Root(), LoopDir: done.Dir,
		Branch: launch.BranchOf(done.Name), Free: true, Base: base, Env: e.Environ})
	if err != nil {
		return err
	}
	done.Branch = w.Branch
	err = f.fill(ctx, e, s, w, done)
	if err == nil {
		err = launch.FillWorktree(ctx, e, done.Name, done.Dir, w, settings.Worktree)
	}
	if err == nil {
		err = w.Done(done.Dir)
	}
	if err == nil {
		err = f.begin(e, s, w, done)
	}
	if err != nil {
		undone := context.WithoutCancel(ctx)
		err = errors.Join(err, w.Undo(undone, e.Root(), done.Dir, e.Environ...), keep.ForgetLoop(undone, e.Root(), done.ID, e.Environ...))
	}
	return err
}

// fill gives the worktree the files of the snapshot, and the new loop the snapshots up to it and
// the other's task. What the task was then is not known.
func (f Fork) fill(ctx context.Context, e *cli.Env, s registry.Status, w *workspace.Worktree, done *Forked) error {
	if _, err := keep.Restore(ctx, w.Path, done.ID, done.Snapshot, false, e.Environ...); err != nil {
		return err
	}
	if err := keep.ForgetLoop(ctx, e.Root(), done.ID, e.Environ...); err != nil { // what a rollback keeps
		return err
	}
	if err := keep.CopyIterations(ctx, e.Root(), s.ID, done.ID, f.At, e.Environ...); err != nil {
		return err
	}
	for _, name := range []string{task.TaskFile, task.ReflectFile, loopstate.PromptCopy, frozenName} {
		text, err := safefile.ReadLinked(filepath.Join(s.Dir, name), runner.MaxPrompt)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = safefile.WriteFile(filepath.Join(done.Dir, name), text, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// frozenName is the file with the settings that a loop was started with.
const frozenName = loopfolder.Config

// begin enters the new loop in the registry and writes its journal.
func (f Fork) begin(e *cli.Env, s registry.Status, w *workspace.Worktree, done *Forked) error {
	host, _ := os.Hostname() // only to be shown
	err := registry.Put(e.Home, registry.Entry{
		Name: done.Name, Dir: done.Dir, Project: e.Root(), ID: done.ID, Agent: s.Agent, Host: host,
		Started: e.Now().UTC().Truncate(time.Microsecond), Version: cli.BuildVersion(),
	})
	if err != nil {
		return err
	}
	c := copier{Fork: f, from: s, to: *done, workDir: w.Project(), env: e.Environ}
	if err := c.copy(); err != nil {
		return errors.Join(err, os.RemoveAll(filepath.Join(done.Dir, "journal")), registry.Remove(e.Home, e.Root(), done.Name))
	}
	return nil
}

// A copier writes the first part of a journal as that of another loop.
type copier struct {
	Fork
	from    registry.Status
	to      Forked
	workDir string
	env     []string // with the secrets that a prompt must not bring into the journal

	writer *journal.Writer
	state  loopstate.State
	at     time.Time // of the event that is copied
	seqs   map[event.Seq]event.Seq
}

// errCut says that the journal does not begin at its beginning.
var errCut = errors.New("the beginning of its journal was dropped (journal.keepIterations), so a new loop would not know what was spent")

func (c *copier) copy() (err error) {
	cut, err := c.cut()
	if err != nil {
		return err
	}
	if err := copyBlobs(filepath.Join(c.from.Dir, "blobs"), filepath.Join(c.to.Dir, "blobs")); err != nil {
		return err
	}
	c.seqs = map[event.Seq]event.Seq{}
	masker := redact.New(c.env)
	opt := journal.Options{Now: func() time.Time { return c.at }, Mask: func(src []byte) []byte {
		masked, _ := masker.Mask(src)
		return masked
	}}
	for e, err := range journal.Read(c.from.Dir, journal.ReadOptions{}) {
		if err != nil {
			return err
		}
		if e.Seq >= cut {
			break
		}
		c.at = e.At
		if err := c.take(e, opt); err != nil {
			return err
		}
	}
	if c.writer == nil {
		return errCut
	}
	return c.writer.Close() // its runner makes it durable
}

// cut finds the decision that began the iteration last. The events before it are copied.
func (c *copier) cut() (event.Seq, error) {
	var found event.Seq
	for e, err := range journal.Read(c.from.Dir, journal.ReadOptions{}) {
		if err != nil {
			return 0, err
		}
		if e.Type != event.TypeDecided {
			continue
		}
		d, err := event.As[event.Decided](e)
		if err != nil {
			return 0, err
		}
		if d.Do == event.DoBegin && max(d.Iteration, 1) == c.At {
			found = e.Seq
		}
	}
	if found == 0 {
		return 0, fmt.Errorf("its journal has no iteration %d", c.At)
	}
	return found, nil
}

// take writes one event. A segment begins where it began in the other journal.
func (c *copier) take(e event.Event, opt journal.Options) error {
	var written []event.Event
	var err error
	switch {
	case e.Type == event.TypeSegmentSealed:
		return nil // Rotate writes it
	case e.Type == event.TypeSegmentOpened && c.writer == nil:
		p, decoded := event.As[event.SegmentOpened](e)
		if decoded != nil || len(p.Checkpoint) > 0 {
			return errors.Join(errCut, decoded)
		}
		c.writer, written, err = journal.Create(c.to.Dir, journal.Recovery{}, 1, nil, opt)
	case e.Type == event.TypeSegmentOpened:
		p, decoded := event.As[event.SegmentOpened](e)
		if decoded != nil {
			return decoded
		}
		written, err = c.writer.Rotate(p.Iteration, c.state.Checkpoint())
	case c.writer == nil:
		return errCut
	default:
		d := event.Draft{Type: e.Type, By: e.By(), Iter: e.Iter, Cause: c.seqs[e.Cause], Data: e.Data(), Raw: e.Raw()}
		switch e.Type {
		case event.TypeLoopStarted:
			d, err = c.started(e)
		case event.TypeLoopResumed: // the places that it names are the other loop's
			var p event.LoopResumed
			p, err = event.As[event.LoopResumed](e)
			p.Dir, p.Project, p.Task = "", "", nil
			d.Data = event.Encode(p, e.By()).Data
		}
		if err != nil {
			return err
		}
		written, err = c.writer.Append([]event.Draft{d})
	}
	if err != nil {
		return err
	}
	for _, now := range written {
		if err := c.state.Fold(now); err != nil {
			return err
		}
		c.seqs[e.Seq] = now.Seq
	}
	return nil
}

// started is the beginning of the new loop.
func (c *copier) started(e event.Event) (event.Draft, error) {
	p, err := event.As[event.LoopStarted](e)
	if err != nil {
		return event.Draft{}, err
	}
	was := loopstate.State{Lifecycle: policy.Lifecycle{Task: p.Task, Dir: p.Dir, Host: p.Host}}
	p.Task.File = was.PromptFile(c.from.Dir)
	if cli.Within(c.from.Dir, p.Task.File) {
		p.Task.File = strings.Replace(p.Task.File, c.from.Dir, c.to.Dir, 1) // a copy is there
	}
	p.ForkOf = &event.ForkOf{Name: c.from.Name, ID: p.ID, Dir: c.from.Dir, Iteration: c.At, Snapshot: c.to.Snapshot}
	p.Name, p.ID, p.Dir, p.Project, p.TraceParent = c.to.Name, c.to.ID, c.to.Dir, c.workDir, ""
	if c.Prompt != "" {
		blob, err := c.writer.PutBlob([]byte(c.Prompt))
		if err != nil {
			return event.Draft{}, err
		}
		p.Task = event.Source{Text: &blob}
	}
	return event.Encode(p, e.By()), nil
}

// copyBlobs copies the texts of a journal that are in files.
func copyBlobs(from, to string) error {
	entries, err := os.ReadDir(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.MkdirAll(to, 0o700)
	}
	for _, entry := range entries {
		if err != nil {
			break
		}
		var text []byte
		if text, err = safefile.Read(filepath.Join(from, entry.Name()), runner.MaxPrompt); err == nil {
			err = safefile.WriteFile(filepath.Join(to, entry.Name()), text, 0o600)
		}
	}
	return err
}
