package every

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/service"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/registry"
)

// person is the environment of a person on a system, at a time.
func person(t *testing.T, goos string, now time.Time) (e *cli.Env, out, errs *bytes.Buffer) {
	t.Helper()
	before := service.Platform
	service.Platform = goos
	t.Cleanup(func() { service.Platform = before })
	home := t.TempDir()
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	return &cli.Env{
		Stdin: strings.NewReader(""), Stdout: out, Stderr: errs, Home: filepath.Join(home, "ralph"), Cwd: home,
		Now: func() time.Time { return now }, Environ: []string{"HOME=" + home, "USER=nobody-here", "PATH=/usr/bin"},
	}, out, errs
}

func moment(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestOverlapIsDecided has each policy with each state of the loop of the run before.
func TestOverlapIsDecided(t *testing.T) {
	var none, ended, begun, waits registry.Status
	ended.Dir, ended.Name = "/p/.ralph/n", "n"
	waits = ended
	waits.Live.Alive = true
	begun = waits
	begun.Head.Iteration = 3
	after := Decision{Start: true, After: begun.Dir}
	alive, unbegun := Decision{Why: "loop n of the run before is still alive"}, Decision{Why: "loop n of the run before has not begun yet"}
	for _, c := range []struct {
		policy Overlap
		before registry.Status
		want   Decision
	}{
		{Skip, none, Decision{Start: true}}, {Skip, ended, Decision{Start: true}}, {Skip, begun, alive}, {Skip, waits, alive},
		{Queue, none, Decision{Start: true}}, {Queue, ended, Decision{Start: true}}, {Queue, begun, after}, {Queue, waits, unbegun},
		{Replace, none, Decision{Start: true}}, {Replace, ended, Decision{Start: true}},
		{Replace, begun, Decision{Start: true, After: begun.Dir, Stop: true}}, {Replace, waits, unbegun},
	} {
		if got := Decide(c.policy, c.before); got != c.want {
			t.Errorf("%s with %+v: %+v, want %+v", c.policy, c.before.Live, got, c.want)
		}
	}
}

// TestMissedRunsAreCounted follows a machine that was off for three days.
func TestMissedRunsAreCounted(t *testing.T) {
	e, _, _ := person(t, "linux", moment(t, "2026-11-28T08:00:00Z"))
	s := &Schedule{Name: "n", Expression: "daily 01:00", Zone: "UTC", Made: moment(t, "2026-11-24T12:00:00Z")}
	if err := s.read(e); err != nil {
		t.Fatal(err)
	}
	var all []Record
	if last, n := s.due(s.since(all, e.Now()), e.Now()); n != 4 || !last.Equal(moment(t, "2026-11-28T01:00:00Z")) {
		t.Errorf("it is due %d times, last at %s", n, last)
	}
	all = append(all, Record{Due: moment(t, "2026-11-28T01:00:00Z"), Outcome: starting, ID: "A"}, Record{Outcome: refused, ID: "B"})
	if _, n := s.due(s.since(all, e.Now()), e.Now()); n != 0 {
		t.Errorf("what was recorded is due %d times", n)
	}
	if ids := loops(all); !slices.Equal(ids, []string{"A"}) {
		t.Errorf("the loops are %q", ids)
	}
}

// TestWrongClockIsOvercome has a run of a time that has not come: the clock was wrong, as after a
// start without a battery.
func TestWrongClockIsOvercome(t *testing.T) {
	e, _, _ := person(t, "linux", moment(t, "2026-11-28T08:00:00Z"))
	s := &Schedule{Name: "n", Expression: "daily 01:00", Zone: "UTC", Made: moment(t, "2026-11-24T12:00:00Z")}
	if err := s.read(e); err != nil {
		t.Fatal(err)
	}
	all := []Record{{Due: moment(t, "2026-11-27T01:00:00Z"), Outcome: started, ID: "A"}, {Due: moment(t, "2036-01-01T01:00:00Z"), Outcome: started, ID: "B"}}
	if last, n := s.due(s.since(all, e.Now()), e.Now()); n != 1 || !last.Equal(moment(t, "2026-11-28T01:00:00Z")) {
		t.Errorf("it is due %d times, last at %s", n, last)
	}
}

// TestLoopThatRunsCounts has a loop that runs, and after it one that was ended before its turn.
func TestLoopThatRunsCounts(t *testing.T) {
	status := func(name string, alive bool) registry.Status {
		s := registry.Status{Entry: registry.Entry{Name: name}}
		s.Live.Alive = alive
		return s
	}
	for _, c := range []struct {
		loops []registry.Status
		want  string
	}{
		{nil, ""},
		{[]registry.Status{status("a", false), status("b", false)}, "b"},
		{[]registry.Status{status("a", true), status("b", false)}, "a"},
		{[]registry.Status{status("a", true), status("b", true)}, "b"},
	} {
		if got := counts(c.loops).Name; got != c.want {
			t.Errorf("%q counts, want %q", got, c.want)
		}
	}
}

// TestRecordKeepsLastLine reads a record whose end was cut off, and the last line of each run.
func TestRecordKeepsLastLine(t *testing.T) {
	e, _, _ := person(t, "linux", moment(t, "2026-11-28T08:00:00Z"))
	s := &Schedule{Version: 1, Name: "n", Expression: "hourly", Overlap: Skip, Made: e.Now()}
	if err := s.save(e); err != nil {
		t.Fatal(err)
	}
	for _, r := range []Record{{Outcome: starting, ID: "A"}, {Outcome: started, ID: "A"}, {Outcome: skipped}, {Outcome: skipped}} {
		if err := add(e.Home, "n", r); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(recordFile(e.Home, "n"), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString(`{"outco`)
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := add(e.Home, "n", Record{Outcome: started, ID: "B"}); err != nil { // the next run begins a line
		t.Fatal(err)
	}
	all, err := records(e.Home, "n")
	if err != nil || len(all) != 4 || all[0].Outcome != started || all[2].Outcome != skipped || all[3].ID != "B" {
		t.Errorf("it has %+v, %v", all, err)
	}
	if again, err := load(e, "n"); err != nil || again.Expression != "hourly" {
		t.Errorf("the schedule is %+v, %v", again, err)
	}
	if err := s.forget(e); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(e.Home, schedules, "n")); err == nil {
		t.Error("its folder is left")
	}
}

// TestTimerHasItsTimes shows the files for both systems, with lines for clocks that change.
func TestTimerHasItsTimes(t *testing.T) {
	for _, c := range []struct {
		goos, expression, zone string
		want                   []string
		not                    string
	}{
		{"linux", "mon-fri 01:00", "Europe/Berlin", []string{"\nOnCalendar=Mon,Tue,Wed,Thu,Fri *-*-* 01:00:00 Europe/Berlin\n", "\nPersistent=true\n"}, " UTC\n"},
		{"linux", "daily 02:30", "Europe/Berlin", []string{"\nOnCalendar=2027-03-28 01:00:00 UTC\n", " every run n --timer\n", "\nKillMode=process\n"}, "2037"},
		{"darwin", "daily 02:30", "Europe/Berlin", []string{
			"<dict><key>Hour</key><integer>1</integer><key>Minute</key><integer>30</integer></dict>",
			"<dict><key>Hour</key><integer>0</integer><key>Minute</key><integer>30</integer></dict>",
			"<dict><key>Hour</key><integer>1</integer><key>Minute</key><integer>0</integer></dict>", "<string>--timer</string>", "<key>RunAtLoad</key>",
		}, "Weekday"},
		{"darwin", "mon 01:00", "Asia/Tokyo", []string{"<dict><key>Hour</key><integer>16</integer><key>Minute</key><integer>0</integer><key>Weekday</key><integer>0</integer></dict>"}, "Month"},
		{"darwin", "*-12-24 18:00", "UTC", []string{"<integer>18</integer><key>Minute</key><integer>0</integer><key>Month</key><integer>12</integer><key>Day</key><integer>24</integer></dict>"}, "Weekday"},
	} {
		e, out, _ := person(t, c.goos, moment(t, "2026-11-28T08:00:00Z"))
		s := Schedule{Name: "n", Expression: c.expression, Zone: c.zone, Overlap: Skip}
		if err := Make(e, s, &launch.Start{}, true); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s for %s lacks %q:\n%s", c.expression, c.goos, want, out)
			}
		}
		if strings.Contains(out.String(), c.not) {
			t.Errorf("%s for %s has %q:\n%s", c.expression, c.goos, c.not, out)
		}
	}
	e, _, _ := person(t, "darwin", moment(t, "2026-11-28T08:00:00Z"))
	if err := Make(e, Schedule{Name: "n", Expression: "*:*", Overlap: Skip}, &launch.Start{}, true); err == nil || !strings.Contains(err.Error(), "more than 500 times") {
		t.Errorf("each minute for launchd: %v", err)
	}
}

// TestSchedulesThatCannotBe are refused before a timer is made.
func TestSchedulesThatCannotBe(t *testing.T) {
	e, _, _ := person(t, "linux", moment(t, "2026-11-28T08:00:00Z"))
	good := Schedule{Name: "n", Expression: "hourly", Overlap: Skip}
	for want, change := range map[string]func(s *Schedule, start *launch.Start){
		"is no expression of times": func(s *Schedule, _ *launch.Start) { s.Expression = "sometimes" },
		"is never due":              func(s *Schedule, _ *launch.Start) { s.Expression = "2-30 01:00" },
		"--timezone \"Moon/Sea\"":   func(s *Schedule, _ *launch.Start) { s.Zone = "Moon/Sea" },
		"the expression names":      func(s *Schedule, _ *launch.Start) { s.Expression, s.Zone = "hourly UTC", "Europe/Berlin" },
		"is too long":               func(s *Schedule, _ *launch.Start) { s.Name = strings.Repeat("n", 60) },
		"loop name":                 func(s *Schedule, _ *launch.Start) { s.Name = "../n" },
		"each run is a loop":        func(_ *Schedule, start *launch.Start) { start.Resume = true },
		"no stdin":                  func(_ *Schedule, start *launch.Start) { start.Prompt = "-" },
		"--after and --overlap":     func(s *Schedule, start *launch.Start) { s.Overlap, start.After = Queue, "n" },
		"--trust is for once":       func(_ *Schedule, start *launch.Start) { start.Trust = true },
		"and --at too":              func(_ *Schedule, start *launch.Start) { start.At = "01:00" },
	} {
		s, start := good, launch.Start{}
		change(&s, &start)
		if err := Make(e, s, &start, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
