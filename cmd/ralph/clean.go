package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/safefile"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

type cleanVerb struct {
	placed
	Names     []string `arg:"" optional:"" name:"name" help:"Only these loops, or folders of the archive; without one all that have ended."`
	OlderThan string   `placeholder:"TIME" help:"Only those that ended so long ago: 12h, 30d."`
	Status    []string `placeholder:"STATUS" help:"Only these: completed, stopped, failed, and died, which is in no list unless it is asked for."`
	Archived  *bool    `negatable:"" help:"Archived loops as well; --no-archived leaves them alone."`
	DryRun    bool     `help:"Show what would be removed, and remove nothing."`
	Yes       bool     `short:"y" help:"Do not ask."`
	JSON      bool     `help:"Say it as JSON; nobody is asked, so that nothing is removed without --yes."`
}

// An ended loop is one that clean may remove.
type endedLoop struct {
	Name     string    `json:"name"`
	Dir      string    `json:"dir"`
	Archived bool      `json:"archived"`
	Status   string    `json:"status"` // died for one whose runner died
	At       time.Time `json:"at"`     // of its last event
	Bytes    int64     `json:"bytes"`
	Removed  bool      `json:"removed"`
	Why      string    `json:"why,omitempty"` // why it stays

	seq uint64
	id  string
}

const statusDied = "died"

// Run removes loops that have ended, with their folders. It never removes one that lives, and one whose runner died only where that
// is asked for and nothing of it runs any more.
func (v *cleanVerb) Run(e *env) error {
	if err := e.ownFolders(filepath.Join(e.root(), ralphFolder, "x")); err != nil {
		return err
	}
	chosen, err := v.choose(e)
	if err != nil {
		return err
	}
	e.removeLeftovers()
	if v.DryRun || len(chosen) == 0 || v.JSON && !v.Yes {
		return v.tell(e, chosen)
	}
	if !v.Yes {
		agreed, err := e.agrees("these would be removed, with all that they recorded", endedLines(chosen, e.now()), "Remove them?", "'ralph clean --yes' removes them, --dry-run shows them")
		if err != nil || !agreed {
			return err
		}
	}
	var failed error
	for i := range chosen {
		if err := e.remove(&chosen[i]); err != nil {
			chosen[i].Why = err.Error()
			failed = errors.Join(failed, err)
		}
	}
	return errors.Join(v.tell(e, chosen), failed)
}

// choose finds the loops that are meant. One that is named and cannot be removed is an error; others are passed over.
func (v *cleanVerb) choose(e *env) ([]endedLoop, error) {
	before, err := ago(v.OlderThan, e.now())
	if err != nil {
		return nil, err
	}
	for _, status := range v.Status {
		if !slices.Contains([]string{event.StatusCompleted, event.StatusStopped, event.StatusFailed, statusDied}, status) {
			return nil, refuse("it is completed, stopped, failed or died", "%q is not how a loop ends", status)
		}
	}
	folder := filepath.Join(e.root(), ralphFolder)
	dirs := subfolders(folder, func(name string) bool { return registry.CheckName(name) == nil })
	if v.Archived == nil || *v.Archived {
		dirs = append(dirs, subfolders(filepath.Join(folder, "archive"), func(name string) bool { return !strings.HasPrefix(name, ".") })...)
	}
	var chosen []endedLoop
	seen := map[string]bool{}
	for _, dir := range dirs {
		name := filepath.Base(dir)
		named := slices.Contains(v.Names, name)
		if len(v.Names) > 0 && !named {
			continue
		}
		l, stays := e.overAndDone(name, dir)
		if stays != nil {
			if named {
				return nil, stays
			}
			continue
		}
		seen[name] = true
		asked := slices.Contains(v.Status, l.Status) || len(v.Status) == 0 && (named || l.Status != statusDied)
		if asked && (before.IsZero() || l.At.Before(before)) {
			l.Bytes = sizeOf(dir)
			chosen = append(chosen, l)
		}
	}
	for _, name := range v.Names {
		if !seen[name] {
			return nil, refuse("'ralph list' shows the loops of this project, and .ralph/archive holds the archived ones", "there is no loop %q here", name)
		}
	}
	return chosen, nil
}

// subfolders are the real folders in a folder whose names are right.
func subfolders(folder string, right func(name string) bool) (dirs []string) {
	if info, err := os.Lstat(folder); err != nil || !info.IsDir() {
		return nil
	}
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		if entry.IsDir() && right(entry.Name()) {
			dirs = append(dirs, filepath.Join(folder, entry.Name()))
		}
	}
	return dirs
}

// overAndDone looks at a loop. The error says why it cannot be removed.
func (e *env) overAndDone(name, dir string) (endedLoop, error) {
	archived := filepath.Base(filepath.Dir(dir)) == "archive"
	s, err := glance(dir)
	switch {
	case err != nil:
		return endedLoop{}, err
	case s.live.Alive:
		return endedLoop{}, refuse(fmt.Sprintf("'ralph stop %s' ends it", name), "loop %s is running", name)
	case s.damage != nil:
		return endedLoop{}, fmt.Errorf("loop %s: %w", name, s.damage)
	case !s.exists:
		return endedLoop{}, refuse("remove "+e.short(dir)+" by hand if nothing in it is needed", "%s holds no loop that began", e.short(dir))
	}
	l := endedLoop{Name: name, Dir: dir, Archived: archived, Status: s.state.Status(), At: s.state.At, seq: s.state.Seq, id: s.state.Life.ID}
	if s.state.Life.Ended == nil {
		l.Status = statusDied
		left, err := leftBy(registry.Status{Entry: registry.Entry{Name: name, Dir: dir, Project: e.root(), ID: l.id}})
		if err != nil {
			return l, err
		}
		if len(left) > 0 {
			return l, refuse(fmt.Sprintf("'ralph kill %s' ends it", name), "loop %s has no runner, and its agent outlived it: %s", name, spellStrays(left))
		}
	}
	return l, nil
}

// removing begins the name of a folder that is being removed. No loop is called so.
const removing = ".removing-"

// remove takes a loop's folder away, whole: it is renamed first, so that no half of it passes for a loop, and links in it are removed, not
// followed.
func (e *env) remove(l *endedLoop) error {
	aside := filepath.Join(e.root(), ralphFolder, removing+l.Name+"-"+strconv.FormatInt(e.now().UnixNano(), 36))
	err := holding(l.Dir, func() error {
		now, err := projector.Open(l.Dir)
		if err != nil {
			return err
		}
		if now.Life.ID != l.id || now.Seq != l.seq {
			return goneOn(l.Name)
		}
		return safefile.Move(l.Dir, aside)
	})
	if err != nil {
		return fmt.Errorf("remove loop %s: %w", l.Name, err)
	}
	l.Removed = true
	if !l.Archived {
		err = registry.Remove(e.home, e.root(), l.Name)
	}
	if err := errors.Join(err, os.RemoveAll(aside)); err != nil {
		return fmt.Errorf("remove loop %s: %w", l.Name, err)
	}
	return nil
}

// removeLeftovers removes what an earlier clean that was killed had put aside. What stays is tried again the next time.
func (e *env) removeLeftovers() {
	for _, dir := range subfolders(filepath.Join(e.root(), ralphFolder), func(name string) bool { return strings.HasPrefix(name, removing) }) {
		_ = os.RemoveAll(dir)
	}
}

// ago reads how long ago, in days as well; the zero time for nothing.
func ago(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, refuse("write it as 12h or 30d", "%q is no time", s)
}

// sizeOf is what the files in a folder hold, in bytes.
func sizeOf(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			if info, err := entry.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size
}

func endedLines(loops []endedLoop, now time.Time) (lines []string) {
	for _, l := range loops {
		lines = append(lines, "  "+l.line(now))
	}
	return lines
}

func (l endedLoop) line(now time.Time) string {
	name := l.Name
	if l.Archived {
		name = "archive/" + name
	}
	return fmt.Sprintf("%s  %s %s ago  %s", name, l.Status, render.Span(now.Sub(l.At).Truncate(time.Second)), render.Bytes(l.Bytes))
}

func (v *cleanVerb) tell(e *env, loops []endedLoop) error {
	if v.JSON {
		if loops == nil {
			loops = []endedLoop{}
		}
		return printJSON(e.stdout, loops, "")
	}
	if len(loops) == 0 {
		tell(e.stderr, "there is nothing to remove")
		return nil
	}
	for _, l := range loops {
		verb := "removed"
		switch {
		case v.DryRun:
			verb = "would remove"
		case !l.Removed:
			continue
		}
		fmt.Fprintf(e.stdout, "%s %s\n", verb, clean(l.line(e.now())))
	}
	return nil
}
