package attach

import (
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// Distant is a loop whose files are on another machine.
type Distant struct {
	Name string // as it is named here
	View *projector.View
	// Past calls show with the last events, and Follow with those after them, until the loop has
	// ended or its runner died. Follow calls flush when no event waits. A signal is ErrSignal.
	Past, Follow func(show func(event.Event) error, flush func() error) error
}

// Show is Run for a distant loop, as text.
func Show(e *cli.Env, d Distant, o Options) error {
	if !o.JSON {
		fmt.Fprintln(e.Stdout, Header(e, d.Name, d.View.Summary, d.View.Alive))
	}
	a := newSession(e, d.Name, *d.View, o)
	err := d.Past(a.show, func() error { return nil })
	if err == nil {
		err = a.openPast()
	}
	if err == nil && d.View.Alive {
		err = d.Follow(a.show, a.flush)
	}
	switch {
	case errors.Is(err, ErrSignal):
		return a.leave()
	case err != nil:
		return errors.Join(a.view.Flush(), err)
	}
	if err := a.view.Close(); err != nil {
		return err
	}
	if a.ended == nil {
		return cli.Failed(fmt.Sprintf("'ralph start %s --resume' resumes it", d.Name), "the runner of loop %s died", d.Name)
	}
	return exitOf(a.ended)
}
