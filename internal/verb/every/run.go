package every

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
	"github.com/ralph-loop/ralph/internal/ground/filelock"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/verb/notifying"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// Run starts a loop of a schedule, as its policy lets it. A timer's call does nothing unless a time
// has come since the last run. The exit code is that of a start that is refused.
func Run(e *cli.Env, name string, timer, asJSON bool) error {
	s, err := load(e, name)
	if err != nil {
		return err
	}
	lock, err := safefile.OpenFile(lockFile(e.Home, name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("lock schedule %s: %w", name, err)
	}
	defer lock.Close()
	if alone, err := filelock.TryExclusive(lock); err != nil || !alone {
		return cli.Failed("'ralph every list' shows what became of it", "a run of schedule %s is being started", name)
	}
	before, err := records(e.Home, name)
	if err != nil {
		return err
	}
	r := Record{At: e.Now()}
	if timer {
		due, n := s.due(s.since(before), r.At)
		if n == 0 {
			return nil // it fired once more than the schedule asks for
		}
		r.Due, r.Missed = due, n-1
	}
	last, err := find(e, lastLoop(before))
	if err != nil {
		return err
	}
	return s.run(e, r, last, asJSON)
}

// find returns the loop of a run, as its journal has it; one without a folder where it is gone.
func find(e *cli.Env, id string) (registry.Status, error) {
	if id == "" {
		return registry.Status{}, nil
	}
	found, err := registry.Survey(e.Home, func(entry registry.Entry) bool { return entry.ID == id })
	if err != nil || len(found) == 0 || found[0].Gone {
		return registry.Status{}, err
	}
	loop, err := projector.Load(found[0].Dir)
	if err != nil {
		return registry.Status{}, fmt.Errorf("read loop %s of the run before: %w", found[0].Name, err)
	}
	return loop.ViewOf(found[0]).Found, nil
}

// run does what was decided, and records it before and after.
func (s *Schedule) run(e *cli.Env, r Record, last registry.Status, asJSON bool) error {
	d := Decide(s.Overlap, last)
	if !d.Start {
		r.Outcome, r.Why = skipped, d.Why
		return s.say(e, r, asJSON)
	}
	r.Outcome, r.ID = starting, client.NewID(r.At)
	if err := add(e.Home, s.Name, r); err != nil {
		return err
	}
	err := s.stop(e, d, last)
	if err == nil {
		err = s.start(e, &r, d.After)
	}
	if err != nil {
		r.Outcome, r.Why = refused, err.Error()
		if hinted, ok := errors.AsType[interface {
			error
			Hint() string
		}](err); ok {
			r.Hint = hinted.Hint()
		}
	}
	if recorded := s.say(e, r, asJSON); err == nil || recorded != nil {
		return recorded
	}
	for _, failed := range notifying.Refused(context.Background(), e.At(s.Folder), s.Name, r.Why, r.Hint) {
		cli.Tell(e.Stderr, "%v", failed)
	}
	return err
}

// stop asks the loop of the run before to end after its iteration.
func (s *Schedule) stop(e *cli.Env, d Decision, last registry.Status) error {
	if !d.Stop {
		return nil
	}
	_, err := send.Deliver(e, last, inbox.Command{Kind: inbox.Stop}, 0)
	if _, over := errors.AsType[*client.NotRunningError](err); over {
		return nil
	}
	return err
}

// start runs 'ralph start'.
func (s *Schedule) start(e *cli.Env, r *Record, after string) error {
	if info, err := os.Stat(s.Folder); err != nil || !info.IsDir() {
		return cli.Refuse("'ralph every remove "+s.Name+"' removes the schedule", "the folder %s is not there", s.Folder)
	}
	start, err := e.At(s.Folder).Starter()
	if err != nil {
		return err
	}
	if !s.Named {
		start.Name = s.loopName(r.At)
	}
	start.ID, start.Numbered, start.Flags = r.ID, !s.Fresh, s.Start
	if r.Outcome = started; after != "" {
		r.Outcome, start.Flags = queued, append([]string{"--after=" + after}, s.Start...)
	}
	loop, err := start.Start(context.Background())
	r.Loop, r.Dir = loop.Name, loop.Dir
	return cli.Refusal(err)
}

// loopName names the loop of a run by its date.
func (s *Schedule) loopName(at time.Time) string {
	return s.Name + "-" + at.In(s.zone).Format(time.DateOnly)
}
