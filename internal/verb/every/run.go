package every

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
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
		due, n := s.due(s.since(before, r.At), r.At)
		if n == 0 {
			return nil // it fired once more than the schedule asks for
		}
		r.Due, r.Missed = due, n-1
	}
	found, err := find(e, loops(before))
	if err != nil {
		return err
	}
	return s.run(e, r, counts(found), asJSON)
}

// find returns those loops of runs that are there, in their order: the last one, and those before
// it that are alive, as their journals have them.
func find(e *cli.Env, ids []string) (there []registry.Status, err error) {
	found, err := registry.Survey(e.Home, func(entry registry.Entry) bool { return entry.ID != "" && slices.Contains(ids, entry.ID) })
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		at := slices.IndexFunc(found, func(s registry.Status) bool { return s.ID == id && !s.Gone && (i == len(ids)-1 || s.Live.Alive) })
		if at < 0 {
			continue
		}
		loop, err := projector.Load(found[at].Dir)
		if err != nil {
			return nil, fmt.Errorf("read loop %s of the run before: %w", found[at].Name, err)
		}
		there = append(there, loop.ViewOf(found[at]).Found)
	}
	return there, nil
}

// counts is the loop of the run before: the last one that is alive, else the last one. One that
// waited for its turn may be gone while that before it runs.
func counts(there []registry.Status) (last registry.Status) {
	for _, loop := range there {
		if loop.Live.Alive || !last.Live.Alive {
			last = loop
		}
	}
	return last
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
