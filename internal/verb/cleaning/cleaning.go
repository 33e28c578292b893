// Package cleaning removes loops that have ended, with their folders.
package cleaning

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/effect/keep"
	"github.com/ralph-loop/ralph/internal/effect/repo"
	"github.com/ralph-loop/ralph/internal/effect/sandbox"
	"github.com/ralph-loop/ralph/internal/effect/workspace"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/send"
	"github.com/ralph-loop/ralph/internal/ground/safefile"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render/reading"
)

// A Loop is one that may be removed.
type Loop struct {
	Name     string    `json:"name"`
	Dir      string    `json:"dir"`
	Archived bool      `json:"archived"`
	Status   string    `json:"status"` // died for one whose runner died
	At       time.Time `json:"at"`     // of its last event
	Bytes    int64     `json:"bytes"`
	Removed  bool      `json:"removed"`
	Why      string    `json:"why,omitempty"` // why it stays
	// Lost is what is nowhere else and goes with the loop; nil if there is neither a worktree nor
	// something kept.
	Lost *keep.Losses `json:"lost,omitempty"`

	seq event.Seq
	id  string
}

// lostText says what is lost with a loop, and what stays.
func lostText(l *keep.Losses) string {
	var parts []string
	if l.Changes > 0 {
		parts = append(parts, units.Quantity(l.Changes, "uncommitted file")+" lost")
	}
	if l.Commits > 0 {
		parts = append(parts, fmt.Sprintf("%s not merged: the branch %s stays", units.Quantity(l.Commits, "commit"), l.Branch))
	}
	if l.Left > 0 {
		parts = append(parts, units.Quantity(l.Left, "commit")+" lost that no branch has")
	}
	if len(l.Ignored) > 0 {
		parts = append(parts, "lost that git ignores: "+some(l.Ignored))
	}
	if len(l.Kept) > 0 {
		parts = append(parts, "lost of what was kept: "+some(l.Kept))
	}
	return strings.Join(parts, ", ")
}

// some names the first of many things.
func some(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Lines describes loops to a person, one in each line, in columns.
func Lines(loops []Loop, now time.Time) []string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, l := range loops {
		name := l.Name
		if l.Archived {
			name = archive + "/" + name
		}
		ago := units.Span(now.Sub(l.At).Truncate(time.Second))
		fmt.Fprintf(w, "%s\t%s %s ago\t%s", cli.Clean(name), l.Status, ago, units.Bytes(l.Bytes))
		if l.Lost.Any() {
			fmt.Fprintf(w, "\t%s", cli.Clean(lostText(l.Lost)))
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // into memory
	return strings.FieldsFunc(text.String(), func(r rune) bool { return r == '\n' })
}

// Kept counts the loops that were not named and that stay, whatever else was asked for.
type Kept struct {
	Running int
	Died    int // they need their name or a status
	Work    int // they have work that is nowhere else: they need their name
}

// Nothing says to a person that there is nothing to remove, and what stays.
func (k Kept) Nothing() string {
	text := "there is nothing to remove"
	if k.Running > 0 {
		text += "; " + units.Quantity(k.Running, "loop") + " running"
	}
	if k.Work > 0 {
		text += "; " + k.WithWork()
	}
	if k.Died > 0 {
		text += "; " + units.Quantity(k.Died, "loop") + " died: --status died removes what is left"
	}
	return text
}

// WithWork says to a person which loops stay because of their work.
func (k Kept) WithWork() string {
	return units.Quantity(k.Work, "loop") + " with work that is nowhere else: 'ralph clean NAME' shows it before it removes it, 'ralph merge NAME' merges commits"
}

// A Choice says which loops are removed.
type Choice struct {
	Names     []string // only these and the loops that they started; if empty, all that have ended
	OlderThan string   // as a person writes it: 12h or 30d
	Status    []string // only these
	Archived  bool     // archived ones as well
	Larger    string   // only those of more than this size, as a person writes it: 100MB
}

const (
	archive       = "archive"
	statusDied    = "died"
	statusRunning = "running"
)

// Choose finds the loops that a choice means. It skips loops that cannot be removed; one that is
// named is an error.
func (c Choice) Choose(e *cli.Env) (chosen []Loop, kept Kept, err error) {
	before, ok := units.ParseTime(c.OlderThan, e.Now())
	if !ok && c.OlderThan != "" {
		return nil, kept, cli.Refuse("write it as 12h or 30d", "%q is no time", c.OlderThan)
	}
	larger, ok := units.ParseBytes(c.Larger)
	if !ok && c.Larger != "" {
		return nil, kept, cli.Refuse("write it as 500kB, 100MB or 1.5GB", "%q is no size", c.Larger)
	}
	for _, status := range c.Status {
		if !event.Status(status).Ended() && status != statusDied {
			return nil, kept, cli.Refuse("say completed, stopped, failed or died", "%q is not how a loop ends", status)
		}
	}
	folder := filepath.Join(e.Root(), cli.RalphFolder)
	if err := launch.OwnFolders(e, filepath.Join(folder, "x")); err != nil {
		return nil, kept, err
	}
	dirs := subfolders(folder, func(name string) bool { return registry.CheckName(name) == nil })
	if c.Archived {
		dirs = append(dirs, subfolders(filepath.Join(folder, archive), func(name string) bool { return !strings.HasPrefix(name, ".") })...)
	}
	inner, err := within(e, c.Names)
	if err != nil {
		return nil, kept, err
	}
	found := map[string]bool{}
	for _, dir := range dirs {
		name := filepath.Base(dir)
		named := slices.Contains(c.Names, name)
		if len(c.Names) > 0 && !named && !inner[name] {
			continue
		}
		l, stays := inspect(e, name, dir)
		if stays != nil {
			if named {
				return nil, kept, stays
			}
			if l.Status == statusRunning {
				kept.Running++
			}
			continue
		}
		found[name] = true
		if !named && len(c.Status) == 0 && l.Status == statusDied {
			kept.Died++
			continue
		}
		wanted := slices.Contains(c.Status, l.Status) || len(c.Status) == 0
		if wanted && (before.IsZero() || l.At.Before(before)) {
			if l.Lost.Any() && !named {
				kept.Work++
				continue
			}
			if l.Bytes = sizeOf(dir); c.Larger == "" || l.Bytes > larger {
				chosen = append(chosen, l)
			}
		}
	}
	for _, name := range c.Names {
		if !found[name] {
			return nil, kept, cli.Refuse("'ralph list' shows the loops of this project, and .ralph/archive holds the archived ones",
				"there is no loop %q here", name)
		}
	}
	removeLeftovers(folder)
	return chosen, kept, nil
}

// within returns the names of the loops that the named ones have started, such as those of a fleet.
// They go with it, unless they have work that is nowhere else.
func within(e *cli.Env, names []string) (map[string]bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	loops, err := registry.Survey(e.Home, func(entry registry.Entry) bool { return entry.Project == e.Root() })
	if err != nil {
		return nil, err
	}
	inner := map[string]bool{}
	for again := true; again; {
		again = false
		for _, l := range loops {
			started := l.Parent != "" && slices.ContainsFunc(loops, func(o registry.Status) bool {
				return o.ID == l.Parent && (inner[o.Name] || slices.Contains(names, o.Name))
			})
			if started && !inner[l.Name] {
				inner[l.Name], again = true, true
			}
		}
	}
	return inner, nil
}

// subfolders are the folders in a folder, without links, whose names are right.
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

// inspect reads how a loop ended. The error says why it cannot be removed.
func inspect(e *cli.Env, name, dir string) (Loop, error) {
	s, err := launch.InspectLoop(dir)
	switch {
	case err != nil:
		return Loop{}, err
	case s.Live.Alive:
		return Loop{Status: statusRunning}, cli.Refuse(fmt.Sprintf("'ralph stop %s' ends it", name), "loop %s is running", name)
	case s.Damage != nil:
		return Loop{}, fmt.Errorf("loop %s: %w", name, s.Damage)
	case !s.Exists:
		return Loop{}, cli.Refuse("remove "+e.Short(dir)+" by hand if nothing in it is needed", "%s holds no loop that began", e.Short(dir))
	}
	l := Loop{
		Name: name, Dir: dir, Archived: filepath.Base(filepath.Dir(dir)) == archive,
		Status: s.State.Status().String(), At: s.State.At, seq: s.State.Seq, id: s.State.Lifecycle.ID,
	}
	if l.Lost, err = lostWith(e, dir, l.id); err != nil {
		return l, fmt.Errorf("loop %s: %w", name, err)
	}
	if s.State.Lifecycle.Ended != nil {
		return l, nil
	}
	l.Status = statusDied
	left, err := send.LeftBy(registry.Status{Entry: registry.Entry{Name: name, Dir: dir, Project: e.Root(), ID: l.id}})
	if err == nil && len(left) > 0 {
		err = cli.Refuse(fmt.Sprintf("'ralph kill %s' ends it", name), "loop %s has no runner, and its agent outlived it: %s", name, send.SpellStrays(left))
	}
	return l, err
}

// lostWith returns the work in the worktree of a loop, and what was kept for a person; nil if there
// is neither.
func lostWith(e *cli.Env, dir, id string) (*keep.Losses, error) {
	ctx := context.Background()
	refs, files, err := keep.Kept(ctx, e.Root(), id, dir, e.Environ...)
	if err != nil {
		return nil, err
	}
	w, err := workspace.Read(dir)
	if err != nil {
		return nil, err
	}
	var l keep.Losses
	if w != nil && w.Check() == nil {
		if l, err = w.Losses(ctx, e.Root(), e.Environ...); err != nil {
			return nil, err
		}
	} else if len(refs)+len(files) == 0 {
		return nil, nil
	}
	l.Kept = append(refs, files...)
	return &l, nil
}

// removing begins the name of a folder that is being removed. No loop has such a name.
const removing = ".removing-"

// Remove removes a loop's folder. It is renamed first, so that a half removed folder does not look
// like a loop. Links in it are removed, not followed.
func (l *Loop) Remove(e *cli.Env) error {
	aside := filepath.Join(e.Root(), cli.RalphFolder, removing+l.Name+"-"+strconv.FormatInt(e.Now().UnixNano(), 36))
	err := launch.WithLock(l.Dir, func() error {
		now, err := loopstate.Open(l.Dir)
		if err != nil {
			return err
		}
		if now.Lifecycle.ID != l.id || now.Seq != l.seq {
			return launch.ChangedMeanwhile(l.Name)
		}
		if err := l.removeVM(e); err != nil {
			return err
		}
		if err := l.removeWorktree(e); err != nil {
			return err
		}
		return safefile.Move(l.Dir, aside)
	})
	if err == nil {
		l.Removed = true
		if !l.Archived {
			err = registry.Remove(e.Home, e.Root(), l.Name)
		}
		// The refs that keep its work trees.
		err = errors.Join(err, reading.Forget(e.Home, l.id), keep.ForgetLoop(context.Background(), e.Root(), l.id, e.Environ...), os.RemoveAll(aside))
	}
	if err != nil {
		err = fmt.Errorf("remove loop %s: %w", l.Name, err)
		l.Why = err.Error()
	}
	return err
}

// removeVM removes the virtual machine of the loop's worktree, or that of the project with the last
// loop that works there.
func (l *Loop) removeVM(e *cli.Env) error {
	worktree, err := workspace.Read(l.Dir)
	if err != nil {
		return err
	}
	place := e.Root()
	if worktree != nil {
		place = worktree.Path
	} else if l.others(e) {
		return nil
	}
	tree, err := repo.WorkTree(place)
	if err != nil { // the folder is gone
		tree = place
	}
	return sandbox.RemoveVM(context.Background(), e.Home, tree)
}

// others reports whether the project has other loops that work in its folder.
func (l *Loop) others(e *cli.Env) bool {
	entries, _ := os.ReadDir(filepath.Join(e.Root(), cli.RalphFolder))
	return slices.ContainsFunc(entries, func(entry os.DirEntry) bool {
		dir := filepath.Join(e.Root(), cli.RalphFolder, entry.Name())
		worktree, err := workspace.Read(dir)
		return entry.Name() != l.Name && registry.CheckName(entry.Name()) == nil && cli.Exists(filepath.Join(dir, "journal")) && (err != nil || worktree == nil)
	})
}

// removeWorktree removes the worktree, unless it has more work than a person was shown.
func (l *Loop) removeWorktree(e *cli.Env) error {
	now, err := lostWith(e, l.Dir, l.id)
	if err != nil {
		return err
	}
	if now.Any() && !reflect.DeepEqual(now, l.Lost) {
		return launch.ChangedMeanwhile(l.Name)
	}
	w, err := workspace.Read(l.Dir)
	if err != nil || w == nil {
		return err
	}
	if err := keep.DropWorktree(context.Background(), e.Root(), filepath.Join(l.Dir, workspace.MergeFolder), e.Environ...); err != nil {
		return err
	}
	return w.Remove(context.Background(), e.Root(), e.Environ...)
}

// removeLeftovers removes the folders that a killed clean had renamed. If that fails, the next
// clean tries again.
func removeLeftovers(folder string) {
	for _, dir := range subfolders(folder, func(name string) bool { return strings.HasPrefix(name, removing) }) {
		_ = os.RemoveAll(dir)
	}
}

// sizeOf is the size of the files in a folder, in bytes.
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
