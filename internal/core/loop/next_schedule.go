package loop

import "github.com/ralph-loop/ralph/journal/event"

// scheduled has observed what the next iteration may have to wait for, once nothing else keeps it
// from beginning, and records what holds the loop or one of its agents.
func scheduled(s *State) []Decision {
	if s.Rules.Schedule == nil || s.Paused || s.Commands.Pausing || waitsOtherwise(s) {
		return nil
	}
	if s.Schedule.Due(&s.Lifecycle, &s.Failover, s.At) {
		if s.Schedule.Observing {
			return wait
		}
		return record(event.Decided{Do: event.DoObserve, Iteration: s.Iteration, Why: "its start or limits.window may hold it"})
	}
	var changes []Decision
	for _, held := range s.Schedule.HeldAgents(&s.Lifecycle, &s.Failover, s.At) {
		changes = append(changes, held)
	}
	switch hold, was := s.Schedule.Hold(&s.Lifecycle, s.At), s.Hold; {
	case hold == nil && was != nil:
		changes = append(changes, event.LoopReleased{})
	case hold != nil && (was == nil || !was.Until.Equal(hold.Until) || was.Why != hold.Why || was.Start != hold.Start):
		changes = append(changes, *hold)
	}
	return changes
}

// waitsOtherwise reports whether the loop waits for something besides its turn. Of several agents
// another one may work, unless that was looked at.
func waitsOtherwise(s *State) bool {
	next, needed := nextWait(s)
	if !needed || next.For == event.WaitHeld {
		return false
	}
	return next.For == event.WaitPerson || !several(s) || s.Wait != nil && s.Wait.For == next.For
}
