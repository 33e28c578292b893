package every

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/service"
	"github.com/ralph-loop/ralph/internal/ground/units"
)

// A Row is a schedule as it is listed.
type Row struct {
	*Schedule
	Timer  string      `json:"timer"` // absent, installed, outdated or changed
	Next   []time.Time `json:"next"`
	Last   *Record     `json:"last,omitempty"`
	Loop   string      `json:"loop,omitempty"`   // what the loop of the last run does, or why it ended
	Missed int         `json:"missed,omitempty"` // times since the last run at which nothing ran
}

// grace is how late a timer may be before its time counts as missed.
const grace = 5 * time.Minute

// shownNext is how many next times a list has.
const shownNext = 3

// List shows the schedules of this machine.
func List(e *cli.Env, asJSON bool) error {
	found, err := all(e)
	if err != nil {
		return err
	}
	rows := []Row{}
	for _, s := range found {
		r, err := s.row(e)
		if err != nil {
			return err
		}
		rows = append(rows, r)
	}
	if asJSON {
		return cli.PrintJSON(e.Stdout, rows, "")
	}
	if len(rows) == 0 {
		cli.Tell(e.Stderr, "there is no schedule; 'ralph every EXPRESSION -- …' makes one")
		return nil
	}
	w := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tEVERY\tNEXT\tLAST")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Name, cli.Clean(r.Expression), r.nextText(e), cli.Clean(r.lastText(e)))
	}
	return w.Flush()
}

func (s *Schedule) row(e *cli.Env) (Row, error) {
	r := Row{Schedule: s, Timer: service.Absent, Next: s.next(e.Now(), shownNext)}
	if files, err := s.units(e); err == nil {
		if r.Timer, err = files[0].State(); err != nil {
			return r, err
		}
	}
	before, err := records(e.Home, s.Name)
	if err != nil {
		return r, err
	}
	_, r.Missed = s.due(s.since(before, e.Now()), e.Now().Add(-grace))
	if len(before) == 0 {
		return r, nil
	}
	r.Last = &before[len(before)-1]
	found, err := find(e, []string{r.Last.ID})
	loop := counts(found)
	switch {
	case err != nil || loop.Dir == "":
	case loop.Died:
		r.Loop = "died"
	default:
		r.Loop = strings.TrimSuffix(string(loop.Head.Status)+": "+loop.Head.Reason, ": ")
	}
	return r, err
}

func (r Row) nextText(e *cli.Env) string {
	text := "never"
	if len(r.Next) > 0 {
		text = r.moment(e, r.Next[0])
	}
	if r.Timer == service.Absent {
		text += ", but its timer is gone"
	}
	return text
}

// lastText says what became of the last run, and what was missed.
func (r Row) lastText(e *cli.Env) string {
	text := "-"
	if r.Last != nil {
		text = r.moment(e, r.Last.At) + ": " + r.Last.text()
		if r.Loop != "" {
			text += ", " + r.Loop
		}
	}
	if r.Missed > 0 {
		text += fmt.Sprintf("; since then %s missed", units.Quantity(r.Missed, "time"))
	}
	return text
}

// text says what became of a run.
func (r Record) text() string {
	text := strings.TrimSpace(r.Outcome + " " + r.Loop)
	if r.Outcome == starting {
		text = "a loop is being started, or ralph ended in that"
	}
	if late := r.At.Sub(r.Due); !r.Due.IsZero() && late > grace {
		text += fmt.Sprintf(", %s late", units.Plain(late.Truncate(time.Minute)))
	}
	if r.Missed > 0 {
		text += fmt.Sprintf(", %s missed before", units.Quantity(r.Missed, "run"))
	}
	if r.Why != "" {
		text += ": " + r.Why
	}
	return text
}

// say records what became of a run, and prints it.
func (s *Schedule) say(e *cli.Env, r Record, asJSON bool) error {
	if err := add(e.Home, s.Name, r); err != nil {
		return err
	}
	if asJSON {
		return cli.PrintJSON(e.Stdout, r, "")
	}
	if r.Outcome != refused { // which is the error of the verb
		fmt.Fprintln(e.Stdout, cli.Clean(r.text()))
	}
	return nil
}

// Next prints the next times of an expression, or those until a time.
func Next(e *cli.Env, expression, zone string, after, until time.Time, n int, asJSON bool) error {
	s := &Schedule{Expression: expression, Zone: zone}
	if err := s.read(e); err != nil {
		return err
	}
	if after.IsZero() {
		after = e.Now()
	}
	times := []time.Time{}
	for at := range s.times.Times(after, s.zone) {
		if len(times) >= n || !until.IsZero() && at.After(until) {
			break
		}
		times = append(times, at)
	}
	if asJSON {
		return cli.PrintJSON(e.Stdout, times, "")
	}
	for _, at := range times {
		fmt.Fprintln(e.Stdout, s.moment(e, at))
	}
	return nil
}
