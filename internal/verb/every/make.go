package every

import (
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/effect/registration"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/registry"
)

// maxName leaves room for the date in the names of loops.
const maxName = registry.MaxName - len("-2006-01-02-99")

// Make makes a schedule with its timer. given are the arguments of the starts, as they were parsed.
// What a start would ask a person for is asked now. With print only the files are shown.
func Make(e *cli.Env, s Schedule, given *launch.Start, print bool) error {
	s.Version, s.Folder, s.Made = 1, e.WorkDir(), e.Now().Truncate(time.Second)
	s.Named, s.Fresh = given.Name != "", given.Fresh
	if s.Name == "" {
		if s.Name = given.Name; s.Name == "" {
			s.Name = launch.DefaultName(e)
		}
		s.Name = registration.SlugName(s.Name[:min(len(s.Name), maxName)])
	}
	if err := s.check(e, given); err != nil {
		return err
	}
	if print {
		return s.print(e)
	}
	if _, err := load(e, s.Name); err == nil {
		return cli.Refuse("'ralph every remove "+s.Name+"' removes it; or choose another --name", "there is a schedule %s", s.Name)
	}
	preview := *given
	if !s.Fresh {
		preview.Name, preview.After = s.loopName(s.Made), ""
	}
	agent, err := preview.Preview(e)
	if err != nil {
		return err
	}
	if agent != "" {
		s.Start = append([]string{"--agent=" + agent}, s.Start...)
	}
	if err := s.save(e); err != nil {
		return err
	}
	if err := s.install(e); err != nil {
		if left := s.forget(e); left != nil {
			cli.Tell(e.Stderr, "%v", left)
		}
		return err
	}
	next := s.next(e.Now(), 1)[0]
	fmt.Fprintf(e.Stdout, "%s: next at %s\n", s.Name, s.moment(e, next))
	s.hints(e)
	return nil
}

// check refuses what no timer can do.
func (s *Schedule) check(e *cli.Env, given *launch.Start) error {
	if err := registry.CheckName(s.Name); err != nil {
		return err
	}
	if err := s.read(e); err != nil {
		return err
	}
	switch {
	case len(s.Name) > maxName:
		return cli.Refuse(fmt.Sprintf("at most %d characters leave room for the date", maxName), "--name %s is too long", s.Name)
	case len(s.next(s.Made, 1)) == 0:
		return cli.Refuse("look at its days and months", "%q is never due", s.Expression)
	case given.Resume, given.ID != "":
		return cli.Refuse("leave it out", "each run is a loop of its own, which --resume and --id do not begin")
	case given.Prompt == "-":
		return cli.Refuse("give the prompt with -p TEXT or -f FILE", "a timer has no stdin for the prompt")
	case given.After != "" && s.Overlap != Skip:
		return cli.Refuse("leave one of them out", "--after and --overlap %s both say what a loop begins after", s.Overlap)
	case given.Trust:
		return cli.Refuse("'ralph trust' trusts the settings as they are", "--trust is for once, and each run would trust whatever the settings are then")
	case given.At != "":
		return cli.Refuse("leave it out", "the schedule says when a loop begins, and --at too")
	case slices.Contains(s.Start, "--"):
		return cli.Refuse("leave it out", "the arguments of 'ralph start' contain --")
	}
	return nil
}

// moment spells a time in the zone of the person and, where that is another one, of the schedule.
func (s *Schedule) moment(e *cli.Env, at time.Time) string {
	const form = "Mon 2006-01-02 15:04"
	here, there := at.In(e.Now().Location()), at.In(s.zone)
	text := here.Format(form)
	if there.Format(form) != text {
		text += there.Format(" (15:04 ") + s.zone.String() + ")"
	}
	return text
}
