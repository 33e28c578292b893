package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/repo"
	"github.com/ralph-loop/ralph/internal/safefile"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// standing is what start and run have to know of a loop's folder before they
// begin.
type standing struct {
	exists  bool // there is a journal of a loop that began
	unbegun bool // there is a journal, and its runner was killed before it recorded the task
	state   projector.State
	damage  error // why the state cannot be known
	live    registry.Liveness
}

// leaveTime is how long a runner whose loop has ended or was told to end at once may take to go. An agent that
// breaks off, leaves and obeys TERM as late as it may has had 16 s of them.
const leaveTime = 20 * time.Second

// A farewell is the wait for a runner that is about to leave: who has just stopped or killed a loop may go on with it, or begin
// another one in its place.
type farewell struct {
	e     *env
	begun time.Time
	pause time.Duration
	told  bool
}

// strangerTime is how long a runner may take to go that nobody can name: one has just begun or has just gone, or its entry was
// removed, of which waiting longer would tell nothing.
const strangerTime = time.Second

// wait lets some time pass, and says what is waited for where that takes long. The name is empty where it is not known. false says
// that it took too long.
func (f *farewell) wait(name string) bool {
	if f.begun.IsZero() {
		f.begun, f.pause = time.Now(), 2*time.Millisecond
	}
	if !f.told && name != "" && time.Since(f.begun) > time.Second {
		f.told = true
		tell(f.e.stderr, "loop %s is ending …", name)
	}
	time.Sleep(f.pause) // a lock has no event for its end
	f.pause = min(2*f.pause, 50*time.Millisecond)
	if name == "" {
		return time.Since(f.begun) < strangerTime
	}
	return time.Since(f.begun) < leaveTime
}

// lookAt finds out where a loop stands. A runner that is about to leave is waited for.
func (e *env) lookAt(name, dir string) (standing, error) {
	leaving := farewell{e: e}
	for {
		s, err := glance(dir)
		if err != nil || !s.live.Alive || !s.state.Leaving() || !leaving.wait(name) {
			return s, err
		}
	}
}

func glance(dir string) (standing, error) {
	var s standing
	var err error
	// First: what a dead runner wrote is complete by then.
	if s.live, err = registry.Probe(dir); err != nil {
		return s, err
	}
	if _, err := os.Stat(filepath.Join(dir, "journal")); errors.Is(err, os.ErrNotExist) {
		return s, nil
	} else if err != nil {
		return s, fmt.Errorf("look at the loop: %w", err)
	}
	s.state, s.damage = projector.Open(dir)
	s.exists = s.state.Begun() || s.damage != nil
	s.unbegun = !s.exists && s.state.Seq > 0
	if !s.live.Alive {
		// Again: a runner takes the lock before it begins the journal, so that one which
		// has begun since is not taken for one that died.
		s.live, err = registry.Probe(dir)
	}
	return s, err
}

// goneOn says that another one did something with the loop while this one was about to.
func goneOn(name string) error {
	return refuse(fmt.Sprintf("'ralph status %s' shows it", name), "loop %s has gone on meanwhile", name)
}

// archive moves an ended loop's folder aside, whole, to .ralph/archive. It holds the
// loop's lock meanwhile, and moves nothing where another one has begun there since it was
// looked at.
func (e *env) archive(name, dir string, seen standing) (to string, err error) {
	err = holding(dir, func() error {
		now, err := projector.Open(dir)
		if (err == nil) != (seen.damage == nil) || now.Life.ID != seen.state.Life.ID || now.Seq != seen.state.Seq {
			return goneOn(name)
		}
		to, err = e.moveAside(name, dir)
		if err != nil {
			return fmt.Errorf("archive loop %s: %w", name, err)
		}
		return nil
	})
	if errors.Is(err, registry.ErrNoFolder) {
		err = goneOn(name)
	}
	return to, err
}

// moveAside moves a loop's folder into the project's archive, which must be a real folder: a symbolic link may lead anywhere.
func (e *env) moveAside(name, dir string) (to string, err error) {
	folder := filepath.Join(filepath.Dir(dir), "archive")
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	switch info, err := os.Lstat(folder); {
	case err != nil:
		return "", err
	case info.Mode()&os.ModeSymlink != 0:
		return "", refuse("move it away, or make it a real folder", "%s is a symbolic link", e.short(folder))
	case !info.IsDir():
		return "", refuse("move it away", "%s is not a folder", e.short(folder))
	}
	to = filepath.Join(folder, name+"-"+e.now().UTC().Format("20060102T150405.000Z"))
	return to, safefile.Move(dir, to) // the next loop takes the name
}

// ownFolders refuses a project's folder or a loop's that is a symbolic link: what is done
// there would be done elsewhere.
func (e *env) ownFolders(dir string) error {
	for _, path := range []string{filepath.Dir(dir), dir} {
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return refuse("move it away, or make it a real folder", "%s is a symbolic link", e.short(path))
		}
	}
	return nil
}

// prepare makes the project's folder and the loop's.
func (e *env) prepare(dir string) error {
	folder := filepath.Dir(dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return cannotMake(err)
	}
	// Again: it may have been put there since.
	if err := e.ownFolders(dir); err != nil {
		return err
	}
	if err := repo.Shield(dir); err != nil {
		return cannotMake(err)
	}
	return e.prepareFolder(folder)
}

// prepareFolder makes the project's folder, of which git sees the team's settings alone.
func (e *env) prepareFolder(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return cannotMake(err)
	}
	if err := repo.Ignore(folder); err != nil {
		return cannotMake(err)
	}
	return nil
}

func cannotMake(err error) error {
	return &failure{
		err: fmt.Errorf("make the loop's folder: %w", err), code: event.ExitUsage,
		hint: "ralph keeps a loop in .ralph/ of the project: the folder must be writable",
	}
}
