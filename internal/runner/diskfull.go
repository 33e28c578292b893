package runner

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/ralph-loop/ralph/internal/core/loop"
	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/effect/executor"
	"github.com/ralph-loop/ralph/internal/ground/loopfolder"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// After a full disk the runner can still record why the loop ended: it reserves the space when the
// loop begins, and releases it when the disk is full. Otherwise the loop would look as if its
// runner had died.

// reserveFile occupies that space in the loop's folder while the runner lives.
const reserveFile = loopfolder.Reserve

// reserveSize is enough for a segment with its checkpoint, the projections and runner.log.
const reserveSize = 256 << 10

// spares are folders. Each keeps an inode that a file may have later. "" is the folder around them.
// It is first, because an agent may have put a link there, which release removes before the runner
// makes a folder; and last, because it is empty only once the others are gone.
var spares = []string{"", "1", "2", "3", "4", ""}

// reserve makes reserveFile and the folders, in place of what a dead runner or an agent left there.
func (r *runner) reserve() error {
	r.release()
	for _, name := range spares {
		if err := os.MkdirAll(filepath.Join(r.Dir, loopfolder.Spare, name), 0o700); err != nil {
			return fmt.Errorf("reserve files for the end: %w", err)
		}
	}
	space := make([]byte, reserveSize)
	// It never fails; a file system that compresses cannot shrink random bytes.
	_, _ = rand.Read(space)
	// Not through a link.
	f, err := os.OpenFile(filepath.Join(r.Dir, reserveFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.Write(space)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("reserve space for the end: %w", err)
	}
	return nil
}

// release removes what reserve has made. If that fails, only this loop is short of the space.
func (r *runner) release() {
	_ = os.Remove(filepath.Join(r.Dir, reserveFile))
	for _, name := range spares {
		_ = os.Remove(filepath.Join(r.Dir, loopfolder.Spare, name))
	}
}

// diskFull reports whether a write failed because the disk is full, or has room for no more files.
// After a failed sync it is unknown what is on the disk, so nothing more is recorded.
func diskFull(err error) bool {
	path, ok := errors.AsType[*fs.PathError](err)
	if !ok || path.Op != "write" && path.Op != "openat" && path.Op != "mkdirat" {
		return false
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// recordDiskFull records in a new segment that the loop ended, and why. left are the drafts of the
// agent's exit. It returns the final state; an error means that nothing was recorded, and the next
// runner finds the loop as after a KILL.
func (r *runner) recordDiskFull(failure error, left []event.Draft) (*loopstate.State, error) {
	r.release()
	opt := r.journalOptions()
	rec, err := journal.FindEnd(r.Dir, opt)
	if err != nil {
		return nil, err
	}
	state, err := loopstate.Rebuild(r.Dir)
	if err != nil {
		return nil, err
	}
	writer, opened, err := journal.Create(r.Dir, rec, max(state.Lifecycle.Iteration, 1), state.Checkpoint(), opt)
	if err != nil {
		return nil, err
	}
	engine := &loop.Engine{Journal: writer, Executor: noExecutor{}, Folded: r.folded, Segment: max(state.Lifecycle.Iteration, 1)}
	engine.Restore(state)
	err = engine.Fold(opened)
	if err == nil {
		err = engine.Step(append(faultInput("the journal", failure).Drafts, left...))
	}
	if do, ok := underWay[engine.State().Phase]; ok && err == nil { // the executor has ended, and no line says how
		err = engine.Step([]event.Draft{event.Encode(executor.Failure(do, failure), "loop")})
	}
	if err = errors.Join(err, finish(writer, engine)); err != nil {
		return nil, err
	}
	if engine.State().Lifecycle.Ended == nil {
		return nil, errors.New("the loop's end waits for an agent whose exit is unknown")
	}
	return engine.State(), nil
}

// underWay is what the executor does in a phase.
var underWay = map[policy.Phase]event.Effect{
	policy.Beginning: event.DoBegin, policy.Starting: event.DoStart, policy.Checking: event.DoCheck, policy.VerifyingDone: event.DoCheck,
	policy.Committing: event.DoCommit, policy.Proving: event.DoProve,
}

// finish closes the journal and folds its last event, the seal of the segment, so that state.json
// of an ended loop equals the fold of the complete journal.
func finish(w *journal.Writer, engine *loop.Engine) error {
	sealed, err := w.Finish()
	return errors.Join(err, engine.Fold(sealed))
}

// stateOnDisk returns the state of the journal after a failed write, which may have written lines
// that were never folded. If the journal cannot be read, it returns the folded state.
func (r *runner) stateOnDisk(folded *loopstate.State) *loopstate.State {
	if state, err := loopstate.Rebuild(r.Dir); err == nil && state.Seq > folded.Seq {
		return &state
	}
	return folded
}

// noExecutor performs no effect: the agent has ended.
type noExecutor struct{}

func (noExecutor) Do(event.Decided, event.Seq, *loopstate.State) {}

// exitTypes are the types that an agent's exit reports and that decisions depend on. Its output is
// not among them: the disk was full.
var exitTypes = map[event.Type]bool{
	event.TypeAgentStarted: true, event.TypeAgentParked: true, event.TypeAgentExited: true,
	event.TypeEffectFailed: true, event.TypeCommandDelivered: true,
}

// closeExecutor ends the agent and the executor. It returns the drafts that report the agent's
// exit.
func (r *runner) closeExecutor() (left []event.Draft) {
	closed := make(chan struct{})
	go func() {
		r.executor.Close()
		close(closed)
	}()
	take := func(in loop.Input) {
		for _, d := range in.Drafts {
			if exitTypes[d.Type] {
				d.Data = slices.Clone(d.Data)
				left = append(left, d)
			}
		}
		if in.Release != nil {
			in.Release()
		}
	}
	for {
		select {
		case in := <-r.driver.Inputs:
			take(in)
		case <-closed:
			for len(r.driver.Inputs) > 0 {
				take(<-r.driver.Inputs)
			}
			return left
		}
	}
}
