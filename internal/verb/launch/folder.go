package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/registry"
)

// loopState is the state of a loop's folder before a start.
type loopState struct {
	Exists  bool // there is a journal of a loop that began
	unbegun bool // there is a journal, and its runner was killed before it recorded the task
	State   loopstate.State
	Damage  error // why the state cannot be known
	Live    registry.Liveness
}

// An exitWait is the wait for a runner that is about to exit: a person who has just stopped or
// killed a loop may resume it, or begin another one in its place.
type exitWait struct {
	e         *cli.Env
	begun     time.Time
	unknown   time.Time // since when the holder is not known; zero while it is
	pause     time.Duration
	announced bool
}

const (
	// exitTime is how long a runner may take to exit when its loop has ended or has to end at once.
	// An agent that uses all of its time for an interrupt, its exit and TERM takes 16 s.
	exitTime = 20 * time.Second
	// unknownHolderTime is the same for a runner whose loop is not known: it has just begun or
	// exited, or its entry was removed, and waiting longer would not find it. The time counts from
	// when it became unknown: a runner that exits may lose the lock of its loop before its others.
	unknownHolderTime = time.Second
)

// wait lets some time pass, and prints what it waits for if that takes long. The name is empty if
// it is not known. false says that it took too long.
func (w *exitWait) wait(name string) bool {
	before := time.Now()
	if w.begun.IsZero() {
		w.begun, w.pause = before, 2*time.Millisecond
	}
	if !w.announced && name != "" && time.Since(w.begun) > time.Second {
		w.announced = true
		cli.Tell(w.e.Stderr, "loop %s is ending …", name)
	}
	time.Sleep(w.pause) // a lock has no event for its end
	w.pause = min(2*w.pause, 50*time.Millisecond)
	switch {
	case name != "":
		w.unknown = time.Time{}
	case w.unknown.IsZero():
		w.unknown = before
	}
	return time.Since(w.begun) < exitTime && (name != "" || time.Since(w.unknown) < unknownHolderTime)
}

// inspectAfterExit returns the state of a loop. It waits for a runner that is about to exit.
func inspectAfterExit(e *cli.Env, name, dir string) (loopState, error) {
	leaving := exitWait{e: e}
	for {
		s, err := InspectLoop(dir)
		if err != nil || !s.Live.Alive || !s.State.Leaving() || !leaving.wait(name) {
			return s, err
		}
	}
}

// InspectLoop returns the state of the loop in a folder.
func InspectLoop(dir string) (loopState, error) {
	var s loopState
	var err error
	// Probe before the journal is read: the journal of a dead runner is complete.
	if s.Live, err = registry.Probe(dir); err != nil {
		return s, err
	}
	if _, err := os.Stat(filepath.Join(dir, "journal")); errors.Is(err, os.ErrNotExist) {
		return s, nil
	} else if err != nil {
		return s, fmt.Errorf("inspect the loop: %w", err)
	}
	// Not by state.json: after a loss of power it may be ahead of what can be resumed.
	s.State, s.Damage = loopstate.Rebuild(dir)
	s.Exists = s.State.Begun() || s.Damage != nil
	s.unbegun = !s.Exists && s.State.Seq > 0
	if !s.Live.Alive {
		// Probe again: a runner takes the lock before it begins the journal. One that has begun
		// since must not look dead.
		s.Live, err = registry.Probe(dir)
	}
	return s, err
}

// ChangedMeanwhile is the refusal to act on a loop that another process changed meanwhile.
func ChangedMeanwhile(name string) error {
	return cli.Refuse(fmt.Sprintf("'ralph status %s' shows it", name), "loop %s %w", name, errChanged)
}

var errChanged = errors.New("has changed meanwhile")

// archive moves an ended loop's folder to .ralph/archive. It holds the loop's lock meanwhile, and
// moves nothing if another loop has begun there since the folder was inspected.
func archive(e *cli.Env, name, dir string, seen loopState) (to string, err error) {
	err = WithLock(dir, func() error {
		now, err := loopstate.Rebuild(dir)
		if (err == nil) != (seen.Damage == nil) || now.Lifecycle.ID != seen.State.Lifecycle.ID || now.Seq != seen.State.Seq {
			return ChangedMeanwhile(name)
		}
		to, err = moveAside(e, name, dir)
		if err != nil {
			return fmt.Errorf("archive loop %s: %w", name, err)
		}
		return keepWorktree(e, to)
	})
	if errors.Is(err, registration.ErrNoFolder) {
		err = ChangedMeanwhile(name)
	}
	return to, err
}

// keepWorktree tells git where the worktree of an archived loop is now.
func keepWorktree(e *cli.Env, dir string) error {
	w, err := workspace.Read(dir)
	if err != nil || w == nil || w.Check() != nil {
		return err
	}
	return repo.RepairWorktree(context.Background(), e.Root(), w.Path, e.Environ...)
}

// moveAside moves a loop's folder into the project's archive, which must be a real folder: a
// symbolic link may lead anywhere.
func moveAside(e *cli.Env, name, dir string) (to string, err error) {
	folder := filepath.Join(filepath.Dir(dir), "archive")
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	if err := checkNoLink(e, folder); err != nil {
		return "", err
	}
	if info, err := os.Lstat(folder); err != nil {
		return "", err
	} else if !info.IsDir() {
		return "", cli.Refuse("move it away", "%s is not a folder", e.Short(folder))
	}
	to = filepath.Join(folder, name+"-"+e.Now().UTC().Format("20060102T150405.000Z"))
	return to, safefile.Move(dir, to) // the next loop takes the name
}

// OwnFolders refuses a project's folder or a loop's that is a symbolic link: files would be changed
// elsewhere.
func OwnFolders(e *cli.Env, dir string) error {
	if err := checkNoLink(e, filepath.Dir(dir)); err != nil {
		return err
	}
	return checkNoLink(e, dir)
}

func checkNoLink(e *cli.Env, path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return cli.Refuse("move it away, or make it a real folder", "%s is a symbolic link", e.Short(path))
	}
	return nil
}

// MakeFolders makes the project's folder and the loop's.
func MakeFolders(e *cli.Env, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return cannotMake(err)
	}
	// Again: a link may have been put there since.
	if err := OwnFolders(e, dir); err != nil {
		return err
	}
	if err := repo.HideFromClean(dir); err != nil {
		return cannotMake(err)
	}
	return PrepareFolder(filepath.Dir(dir))
}

// PrepareFolder makes the project's folder, in which git sees nothing but the team's settings.
func PrepareFolder(folder string) error {
	err := os.MkdirAll(folder, 0o700)
	if err == nil {
		err = repo.Ignore(folder)
	}
	if err != nil {
		return cannotMake(err)
	}
	return nil
}

func cannotMake(err error) error {
	return cli.Refuse("ralph keeps a loop in .ralph/ of the project: the folder must be writable", "make the loop's folder: %w", err)
}

// WithLock holds the loop's lock, which keeps runners out, while do works on its files.
func WithLock(dir string, do func() error) error {
	lock, err := registration.Acquire(dir)
	if live, ok := errors.AsType[*registration.HeldError](err); ok {
		return heldError(live.Loop, registry.Liveness{Alive: true, PID: live.PID, Host: live.Host, Since: live.Since})
	}
	if err != nil {
		return err
	}
	err = journal.CheckIdle(dir)
	if err == nil {
		err = do()
	} else {
		err = BusyError(err, filepath.Base(dir))
	}
	return errors.Join(err, lock.Release())
}

// BusyError is the refusal to touch a journal that another runner writes, although run.lock is
// free.
func BusyError(err error, name string) error {
	return cli.Refuse(fmt.Sprintf("a runner lives whose run.lock was removed: 'ralph kill %s' ends it, then try again", name), "loop %s: %w", name, err)
}

func heldError(name string, live registry.Liveness) error {
	return cli.Refuse(fmt.Sprintf("'ralph attach %s' shows it, 'ralph stop %s' ends it", name, name),
		"%w", &registration.HeldError{Loop: name, PID: live.PID, Host: live.Host, Since: live.Since})
}

// WorkDirOf returns the folder in which the agent of a resumed loop works: the same as before. If
// the project was moved, it is the folder at the same place in it; if it is gone, the project's
// folder. The journal may be a stranger's, and a link at that place may lead anywhere: a folder
// outside of the project is none of its.
func WorkDirOf(root string, before loopState) string {
	life := before.State.Lifecycle
	inside, err := filepath.Rel(filepath.Dir(filepath.Dir(life.Dir)), life.Project)
	if err != nil {
		return root
	}
	project, err := os.OpenRoot(root)
	if err != nil {
		return root
	}
	defer project.Close()
	if info, err := project.Stat(inside); err != nil || !info.IsDir() {
		return root
	}
	return filepath.Join(root, inside)
}
