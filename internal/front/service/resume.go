package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// Result is what became of one loop.
type Result struct {
	Name    string `json:"name"`
	Dir     string `json:"dir"`
	Resumed bool   `json:"resumed"`
	Why     string `json:"why,omitempty"` // why it was not resumed

	id     string
	failed bool // it was tried
}

func (r Result) text(e *cli.Env, good string) string {
	what := good
	if r.Why != "" {
		what = r.Why
	}
	return fmt.Sprintf("%s (%s): %s", r.Name, cli.Clean(e.Short(r.Dir)), strings.TrimSpace(cli.Clean(what)))
}

// maxTries is how often a loop that does not come back is tried.
const maxTries = 2

// maxAge is how long a loop may be dead: one that died a month ago is no longer expected to run.
const maxAge = 7 * 24 * time.Hour

// find returns the loops whose runner died, with the reason for those that stay as they are. A loop
// within another one is a matter of that one's agent.
func find(e *cli.Env) ([]Result, error) {
	all, err := registry.Survey(e.Home, func(entry registry.Entry) bool { return entry.Parent == "" && !entry.Found })
	if err != nil {
		return nil, err
	}
	tries, err := readTries(e.Home)
	if err != nil {
		return nil, err
	}
	found := []Result{}
	for _, s := range all {
		if !s.Died || s.Err != nil || s.Gone {
			continue
		}
		r := Result{Name: s.Name, Dir: s.Dir, id: s.ID}
		r.Why = reason(s, tries[s.ID], e.Now())
		found = append(found, r)
	}
	return found, nil
}

// reason returns why a dead loop stays as it is; empty if it does not. It reads the journal,
// because state.json may be older than what a person did last.
func reason(s registry.Status, tries int, now time.Time) string {
	loop, err := projector.Load(s.Dir)
	if err != nil {
		return err.Error()
	}
	switch state := loop.View(); {
	case state.Ended != nil:
		return "it has ended" // and died before state.json said so
	case state.Status == event.StatusPaused:
		return "it was paused"
	case state.Status == event.StatusStopping && !state.Signalled: // a shutdown sends a signal
		return "a person had stopped it"
	case now.Sub(state.At) > maxAge:
		return "it died more than a week ago"
	case tries >= maxTries:
		return fmt.Sprintf("it failed to come back %d times; 'ralph start %s --resume' tries again", tries, s.Name)
	}
	return ""
}

// Resume continues the loops that ran when the machine was switched off, one after another. The
// exit code is 3 if one that should run does not.
func Resume(e *cli.Env, dry, asJSON bool) error {
	found, err := find(e)
	if err != nil {
		return err
	}
	failed := false
	for i := range found {
		r := &found[i]
		if r.Why == "" && !dry {
			r.resume(e)
			failed = failed || r.failed
			if err := countTry(e.Home, r.id, r.failed); err != nil {
				return err
			}
		}
	}
	if asJSON {
		err = cli.PrintJSON(e.Stdout, found, "")
	} else {
		good := "resumed"
		if dry {
			good = "would be resumed"
		}
		for _, r := range found {
			fmt.Fprintln(e.Stdout, r.text(e, good))
		}
		if len(found) == 0 {
			cli.Tell(e.Stderr, "no loop has died")
		}
	}
	if err == nil && failed {
		err = cli.Exit(event.ExitFailed)
	}
	return err
}

func (r *Result) resume(e *cli.Env) {
	start, err := e.Starter()
	if err == nil {
		start.Notes = nil // the report has one line for each loop
		_, err = start.Resume(context.Background(), registry.Status{Entry: registry.Entry{Dir: r.Dir, Project: filepath.Dir(filepath.Dir(r.Dir))}})
	}
	if err != nil {
		r.Why, r.failed = fmt.Sprintf("not resumed: %v; 'ralph start %s --resume' says more", err, r.Name), true
		return
	}
	r.Resumed = true
}

// triesName is the file in ralph's home that counts how often each loop did not come back.
const triesName = "service.json"

// maxTriesFile bounds it, in bytes.
const maxTriesFile = 1 << 20

func readTries(home string) (map[string]int, error) {
	text, err := safefile.Read(filepath.Join(home, triesName), maxTriesFile)
	tries := map[string]int{}
	if errors.Is(err, fs.ErrNotExist) {
		return tries, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &tries)
	}
	if err != nil {
		return nil, fmt.Errorf("read which loops failed to come back (%s): %w", triesName, err)
	}
	return tries, nil
}

func countTry(home, id string, failed bool) error {
	tries, err := readTries(home)
	if err != nil {
		return err
	}
	if failed {
		tries[id]++
	} else {
		delete(tries, id)
	}
	text, err := json.Marshal(tries)
	if err == nil {
		err = safefile.WriteFile(filepath.Join(home, triesName), append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("count which loops failed to come back: %w", err)
	}
	return nil
}
