package fleet

import (
	"context"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// world is all that the agent of a fleet does and sees. Tests have one that is simulated.
type world interface {
	// fleet is what the journal of the fleet's loop says.
	fleet() *policy.Fleet
	// next asks it what to do.
	next() (event.FleetDecided, bool)
	// record returns once the event is in that journal, and in the answers of fleet.
	record(context.Context, event.Payload) error
	// look returns what is to be seen of a loop now.
	look(loop string) (policy.FleetLoop, error)
	// watch ends a later wait when there is news of a loop that runs.
	watch(ctx context.Context, loop string, l policy.FleetLoop)
	// carryOut does what is decided for a task, and records the result. It may have been done
	// before, by an agent that was killed.
	carryOut(context.Context, policy.FleetTask) error
	// wait returns when there is news.
	wait(context.Context) error
	// say tells a person.
	say(format string, args ...any)
}

// drive works through the tasks until nothing else can be done, and returns how it ends. Each step
// is decided from the journal alone, and recorded before it is carried out. What was decided when
// the agent was killed is carried out again.
func drive(ctx context.Context, w world) (event.FleetDecided, error) {
	for {
		if t := w.fleet().Pending(); t != nil {
			if err := w.carryOut(ctx, *t); err != nil {
				return event.FleetDecided{}, err
			}
			continue
		}
		if err := observe(ctx, w); err != nil {
			return event.FleetDecided{}, err
		}
		d, ok := w.next()
		var err error
		if ok {
			err = w.record(ctx, d)
		} else {
			err = w.wait(ctx)
		}
		switch {
		case err != nil:
			return event.FleetDecided{}, err
		case w.fleet().Over != "":
			return d, nil
		case d.Do == event.FleetGiveUp:
			w.say("%s is left to a person: %s", d.Task, d.Why)
		}
	}
}

// observe records what became of the loops that work, and watches those that run.
func observe(ctx context.Context, w world) error {
	for _, t := range w.fleet().Tasks {
		if t.Step != event.FleetWorking || t.Result != "" {
			continue
		}
		l, err := w.look(t.Loop)
		o, news := t.Observe(l)
		if err != nil {
			o, news = event.FleetObserved{Task: t.ID, What: event.FleetLost, Why: err.Error()}, true
		}
		if news {
			if err := w.record(ctx, o); err != nil {
				return err
			}
		}
		if l.Alive {
			w.watch(ctx, t.Loop, l)
		}
	}
	return nil
}
