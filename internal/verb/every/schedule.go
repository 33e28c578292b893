package every

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/calendar"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/registry"
)

// Overlap says what a run does while the loop of the run before is alive.
type Overlap string

// The policies.
const (
	Skip    Overlap = "skip"    // it does not start
	Queue   Overlap = "queue"   // it starts when that loop has ended; one waits at most
	Replace Overlap = "replace" // as Queue, and that loop is stopped after its iteration
)

// A Schedule says when which loop is started.
type Schedule struct {
	Version    int       `json:"v"`
	Name       string    `json:"name"`
	Expression string    `json:"expression"`
	Zone       string    `json:"timezone,omitempty"` // empty for that of the machine
	Overlap    Overlap   `json:"overlap"`
	Folder     string    `json:"folder"`          // in which 'ralph start' is called
	Start      []string  `json:"start"`           // its arguments
	Named      bool      `json:"named,omitempty"` // they name the loop
	Fresh      bool      `json:"fresh,omitempty"` // they say that it takes the place of the one before
	Made       time.Time `json:"made"`            // times before it are not due

	times calendar.Expression
	zone  *time.Location
}

// maxSchedule bounds the file, in bytes.
const maxSchedule = 1 << 20

// schedules is the folder in ralph's home that has a folder for each schedule.
const schedules = "every"

func folder(home, name string) string { return filepath.Join(home, schedules, name) }

func (s *Schedule) file(home string) string {
	return filepath.Join(folder(home, s.Name), "schedule.json")
}

// read understands the expression and the zone.
func (s *Schedule) read(e *cli.Env) (err error) {
	if s.times, err = calendar.Parse(s.Expression); err != nil {
		return cli.Refuse(calendar.Forms, "%w", err)
	}
	if s.times.Zone != "" {
		if s.Zone != "" && s.Zone != s.times.Zone {
			return cli.Refuse("give one of them", "the expression names the time zone %s, and --timezone is %s", s.times.Zone, s.Zone)
		}
		s.Zone = s.times.Zone
	}
	s.zone = e.Now().Location()
	if s.Zone != "" {
		if s.zone, err = time.LoadLocation(s.Zone); err != nil {
			return cli.Refuse("name it as in Europe/Berlin or UTC; the package tzdata of your system has all of them", "--timezone %q: %w", s.Zone, err)
		}
	}
	return nil
}

// next returns the next times.
func (s *Schedule) next(after time.Time, n int) (all []time.Time) {
	for at := range s.times.Times(after, s.zone) {
		if all = append(all, at); len(all) == n {
			break
		}
	}
	return all
}

// due returns the last time from one to another, and how many there are.
func (s *Schedule) due(since, now time.Time) (last time.Time, n int) {
	for at := range s.times.Times(since, s.zone) {
		if at.After(now) {
			break
		}
		last, n = at, n+1
	}
	return last, n
}

// load reads a schedule.
func load(e *cli.Env, name string) (*Schedule, error) {
	s := &Schedule{Name: name}
	if err := registry.CheckName(name); err != nil {
		return nil, err
	}
	text, err := safefile.Read(s.file(e.Home), maxSchedule)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Refuse("'ralph every list' shows what there is", "there is no schedule %s", name)
	}
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	if err == nil && (s.Name != name || s.Version != 1) {
		err = fmt.Errorf("it is of schedule %q in version %d", s.Name, s.Version)
	}
	if err != nil {
		return nil, fmt.Errorf("read schedule %s: %w", name, err)
	}
	return s, s.read(e)
}

// all reads every schedule; those that cannot be read are reported.
func all(e *cli.Env) (found []*Schedule, err error) {
	entries, err := os.ReadDir(filepath.Join(e.Home, schedules))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the schedules: %w", err)
	}
	for _, entry := range entries {
		s, err := load(e, entry.Name())
		if err != nil {
			cli.Tell(e.Stderr, "%v", err)
			continue
		}
		found = append(found, s)
	}
	return found, nil
}

// save writes a new schedule.
func (s *Schedule) save(e *cli.Env) error {
	text, err := json.Marshal(s)
	if err == nil {
		err = os.MkdirAll(folder(e.Home, s.Name), 0o700)
	}
	if err == nil {
		err = safefile.WriteFile(s.file(e.Home), append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep schedule %s: %w", s.Name, err)
	}
	return nil
}

// forget removes a schedule with the record of its runs.
func (s *Schedule) forget(e *cli.Env) error {
	for _, path := range []string{s.file(e.Home), recordFile(e.Home, s.Name), lockFile(e.Home, s.Name), folder(e.Home, s.Name)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove schedule %s: %w", s.Name, err)
		}
	}
	return nil
}
