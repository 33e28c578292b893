package phrase

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// What the agent of a fleet sees and decides is quiet: it says the same in its own words.

func fleetOpened(p event.FleetOpened, _ Known) Phrase {
	text := fmt.Sprintf("a fleet of %s, %d at once", units.Quantity(len(p.Tasks), "task"), p.Parallel)
	if p.Closed != "" {
		return quiet(text+", and none may begin", p.Closed)
	}
	return quiet(text, "")
}

func fleetObserved(p event.FleetObserved, _ Known) Phrase {
	return quiet(fmt.Sprintf("task %s: %s", p.Task, p.What), p.Why)
}

func fleetDecided(p event.FleetDecided, _ Known) Phrase {
	return quiet(strings.TrimSpace("next step of the fleet: "+string(p.Do)+" "+p.Task), p.Why)
}

func scheduleObserved(p event.ScheduleObserved, _ Known) Phrase {
	said := quiet("what the next iteration may have to wait for was looked at", "")
	if p.Changed {
		said.Text = "what the loop waits for has changed"
	}
	if a := p.After; a != nil {
		state := "works"
		switch {
		case a.Died:
			state = "died"
		case a.Ended:
			state = "has ended"
		}
		said = said.with("loop " + a.Name + " " + state)
	}
	for _, account := range p.Accounts {
		for _, w := range account.Windows {
			said = said.with(fmt.Sprintf("%.0f%% of %s used", w.Used, units.Span(time.Duration(w.Minutes)*time.Minute)))
		}
	}
	for _, s := range p.Spent {
		said = said.with(units.Cost(&s.USD) + " in " + s.Window)
	}
	return said
}
