package every

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/service"
)

// The timer of a schedule calls 'ralph every run NAME --timer'. It may fire more often than the
// schedule asks for, and must fire at each of its times or soon after.

// ahead is how long after it was made a timer knows when clocks change.
const ahead = 10 * 365 * 24 * time.Hour

// unitName is the name of a schedule's units of systemd, without the ending.
func (s *Schedule) unitName() string { return "ralph-every-" + s.Name }

// label is the name of a schedule's agent of launchd.
func (s *Schedule) label() string { return "io.github.ralph-loop.every." + s.Name }

// units are the files of the timer; the first decides whether it fires.
func (s *Schedule) units(e *cli.Env) ([]service.Unit, error) {
	folder, err := service.Folder(e)
	if err != nil {
		return nil, err
	}
	words := []string{"every", "run", s.Name, "--timer"}
	if service.Platform == "darwin" {
		intervals, err := s.intervals(e.Now().Location())
		if err != nil {
			return nil, err
		}
		text, err := service.LaunchdText(e, s.label(), intervals, words...)
		return []service.Unit{service.NewUnit(filepath.Join(folder, s.label()+".plist"), text, "every")}, err
	}
	text, err := service.SystemdText(e, "Start a loop of ralph by the schedule "+s.Name, words...)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, s.unitName())
	return []service.Unit{service.NewUnit(path+".timer", s.timerText(), "every"), service.NewUnit(path+".service", text, "every")}, nil
}

// timerText is a timer of systemd. It leaves out some times where clocks change: they are lines of
// their own.
func (s *Schedule) timerText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[Unit]\nDescription=Start a loop of ralph by the schedule %s\n\n[Timer]\nOnCalendar=%s\n", s.Name, s.times.OnCalendar(s.Zone))
	for _, at := range s.times.Changed(s.Made, s.Made.Add(ahead), s.zone) {
		fmt.Fprintf(&b, "OnCalendar=%s\n", at.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	b.WriteString("Persistent=true\n\n[Install]\nWantedBy=timers.target\n")
	return b.String()
}

// maxIntervals bounds what launchd has to compare with each minute.
const maxIntervals = 500

// intervals are the times of a year as launchd knows them: by the clock of this machine, whose zone
// may be another one than the schedule's, and as it will be set when clocks have changed.
func (s *Schedule) intervals(here *time.Location) (string, error) {
	seen := map[string]bool{}
	var b strings.Builder
	days, everyDay := s.times.AnyDate(), s.times.AnyDay()
	for at := range s.times.Times(s.Made, s.zone) {
		if at.Sub(s.Made) > 366*24*time.Hour {
			break
		}
		local := at.In(here)
		interval := fmt.Sprintf("\t\t<key>Hour</key><integer>%d</integer><key>Minute</key><integer>%d</integer>", local.Hour(), local.Minute())
		switch {
		case everyDay:
		case days:
			interval += fmt.Sprintf("<key>Weekday</key><integer>%d</integer>", local.Weekday())
		default:
			interval += fmt.Sprintf("<key>Month</key><integer>%d</integer><key>Day</key><integer>%d</integer>", local.Month(), local.Day())
		}
		if !seen[interval] {
			seen[interval] = true
			b.WriteString("\t\t<dict>" + strings.TrimSpace(interval) + "</dict>\n")
		}
		if len(seen) > maxIntervals {
			return "", cli.Refuse("choose fewer times", "%q has more than %d times for launchd", s.Expression, maxIntervals)
		}
	}
	return "\t<key>StartCalendarInterval</key>\n\t<array>\n" + b.String() + "\t</array>\n", nil
}

// print shows the files that would be installed.
func (s *Schedule) print(e *cli.Env) error {
	units, err := s.units(e)
	if err != nil {
		return err
	}
	for i, u := range units {
		if i > 0 {
			fmt.Fprintln(e.Stdout)
		}
		fmt.Fprintf(e.Stdout, "# %s\n%s", cli.Clean(u.Path), u.Text)
	}
	return nil
}

// install writes the files and starts the timer; if that fails, nothing is left of it.
func (s *Schedule) install(e *cli.Env) error {
	units, err := s.units(e)
	if err != nil {
		return err
	}
	for i, u := range units {
		if err := u.Write(e, false); err != nil {
			removeUnits(e, units[:i])
			return err
		}
	}
	if service.Platform == "darwin" {
		err = call("launchctl", "bootstrap", fmt.Sprintf("gui/%d", os.Getuid()), units[0].Path)
	} else if err = call("systemctl", "--user", "daemon-reload"); err == nil {
		err = call("systemctl", "--user", "enable", "--now", s.unitName()+".timer")
	}
	if err != nil {
		removeUnits(e, units)
		return cli.Refuse("call it from a login of your own (ssh or a terminal, not su or a container); --print shows the files",
			"no timer was made, because the services of your session do not answer: %w", err)
	}
	return nil
}

func removeUnits(e *cli.Env, units []service.Unit) {
	for _, u := range units {
		if err := u.Remove(e, true); err != nil {
			cli.Tell(e.Stderr, "%v", err)
		}
	}
}

// call runs a program of the system; the error has what it said.
func call(name string, words ...string) error {
	said, err := exec.Command(name, words...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(words, " "), err, strings.TrimSpace(string(said)))
	}
	return nil
}

// Remove stops the timer and removes the schedule. Its loops go on.
func Remove(e *cli.Env, name string, force bool) error {
	s, err := load(e, name)
	if err != nil {
		return err
	}
	units, err := s.units(e)
	if err != nil {
		return err
	}
	for _, u := range units {
		if err := u.Removable(e, force); err != nil {
			return err
		}
	}
	// Where no session answers, no timer runs either: the files are what is left of it.
	if service.Platform == "darwin" {
		err = call("launchctl", "bootout", fmt.Sprintf("gui/%d/%s", os.Getuid(), s.label()))
	} else {
		err = call("systemctl", "--user", "disable", "--now", s.unitName()+".timer")
	}
	if err != nil {
		cli.Tell(e.Stderr, "the timer may not have been stopped: %v", err)
	}
	removeUnits(e, units)
	if service.Platform == "linux" && err == nil {
		if err := call("systemctl", "--user", "daemon-reload"); err != nil {
			cli.Tell(e.Stderr, "systemd may still have the timer: %v", err)
		}
	}
	if err := s.forget(e); err != nil {
		return err
	}
	cli.Tell(e.Stderr, "removed the schedule %s; its loops go on", name)
	return nil
}

// hints say what a person should know of a timer that was made.
func (s *Schedule) hints(e *cli.Env) {
	if service.Platform == "linux" && !service.Lingers(e) {
		cli.Tell(e.Stderr, "hint: 'loginctl enable-linger' lets timers fire, and loops live on, while you are logged out")
	}
	cli.Tell(e.Stderr, "hint: keys of agents that are not logged in go into %s, as NAME=VALUE lines; give it the mode 0600", e.Short(service.EnvironmentFile(e)))
}
