package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/ralph-loop/ralph/internal/loop"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// A full disk is the one failure of the journal after which something can still be
// recorded: why the loop ended. The room for it is taken when the loop begins and given back when
// there is no other. Without it, whoever comes back in the morning would find a loop whose
// runner died without a word.

// reserveFile holds that room, in the loop's folder, for as long as the runner lives.
const reserveFile = "reserve"

// reserveSize is room for a segment with its checkpoint, the projections and runner.log.
const reserveSize = 256 << 10

// reserve takes the room. What lies there from a runner before is taken over.
func (r *runner) reserve() error {
	path := filepath.Join(r.Dir, reserveFile)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() == reserveSize {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reserve room for the end: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("reserve room for the end: %w", err)
	}
	if !allocate(f, reserveSize) {
		_, err = f.Write(make([]byte, reserveSize))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("reserve room for the end: %w", err)
	}
	return nil
}

// release gives the room back. What cannot be removed takes it away from nobody but the loop.
func (r *runner) release() { _ = os.Remove(filepath.Join(r.Dir, reserveFile)) }

// full says whether an error is the end of the room for a write. One of a sync is not
// meant: after it nobody knows what is on the disk.
func full(err error) bool {
	path, ok := errors.AsType[*fs.PathError](err)
	if !ok || path.Op != "write" {
		return false
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// lastWord records in a segment of its own that the loop ended, and why. left is what the
// agent's end still brought. It returns the state that then is; an error says that
// nothing more can be recorded, and the next runner finds the loop as after a KILL.
func (r *runner) lastWord(failure error, left []event.Draft) (*projector.State, error) {
	r.release()
	opt := r.journalOptions()
	rec, err := journal.Standing(r.Dir, opt)
	if err != nil {
		return nil, err
	}
	state, err := projector.Rebuild(r.Dir)
	if err != nil {
		return nil, err
	}
	writer, opened, err := journal.Create(r.Dir, rec, max(state.Life.Iteration, 1), state.Checkpoint(), opt)
	if err != nil {
		return nil, err
	}
	engine := &loop.Engine{Journal: writer, Hands: nobody{}, Folded: r.folded, Segment: max(state.Life.Iteration, 1)}
	engine.Restore(state)
	err = engine.Fold(opened)
	if err == nil {
		err = engine.Step(append(fault("the journal", failure).Drafts, left...))
	}
	if err = errors.Join(err, finish(writer, engine)); err != nil {
		return nil, err
	}
	if engine.State().Life.Ended == nil {
		return nil, errors.New("the loop's end has to wait for an agent that nobody sees any more")
	}
	return engine.State(), nil
}

// finish closes the journal and folds its last event, which seals the segment: state.json of an ended loop says what the
// whole journal adds up to.
func finish(w *journal.Writer, engine *loop.Engine) error {
	sealed, err := w.Finish()
	return errors.Join(err, engine.Fold(sealed))
}

// recorded is the state that the journal adds up to behind a write that failed: the lines before the one that
// failed are in it and were never folded. Where the journal cannot be read it is what was folded.
func (r *runner) recorded(folded *projector.State) *projector.State {
	if state, err := projector.Rebuild(r.Dir); err == nil && state.Seq > folded.Seq {
		return &state
	}
	return folded
}

// nobody does nothing: there is no agent any more.
type nobody struct{}

func (nobody) Do(event.Decided, uint64, *projector.State) {}

// telling are the types that the end of an agent still brings and that decisions depend on. What it
// said is not among them: for that there was no room.
var telling = map[event.Type]bool{
	event.TypeAgentStarted: true, event.TypeAgentRested: true, event.TypeAgentExited: true,
	event.TypeEffectFailed: true, event.TypeCommandDelivered: true,
}

// empty ends what the hands still hold. Of what they report it returns what tells how
// the agent ended.
func (r *runner) empty() (left []event.Draft) {
	closed := make(chan struct{})
	go func() {
		r.hands.Close()
		close(closed)
	}()
	take := func(in loop.Input) {
		for _, d := range in.Drafts {
			if telling[d.Type] {
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
			for {
				select {
				case in := <-r.driver.Inputs:
					take(in)
				default:
					return left
				}
			}
		}
	}
}
