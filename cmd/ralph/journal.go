package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

type journalVerb struct {
	Verify  journalVerifyVerb  `cmd:"" help:"Hold everything that a journal says twice against each other."`
	Repair  journalRepairVerb  `cmd:"" help:"Cut off a last line that was never finished, and keep its bytes."`
	Rebuild journalRebuildVerb `cmd:"" help:"Make state.json and iterations/ anew from the journal."`

	Redecode journalRedecodeVerb `cmd:"" help:"Decode the agent's own lines again, and show which come to other events today."`
}

// journalPlace is where a journal lies: what all three are told.
type journalPlace struct {
	placed
	Place string `arg:"" optional:"" name:"name-or-path" help:"A loop, a loop's folder, a copy of one, or for verify one segment; without it the loop of this project."`
	JSON  bool   `help:"Say it as JSON."`
}

// source returns the path that the argument stands for.
func (p journalPlace) source(e *env) (string, error) {
	path, _, err := e.located(p.Place)
	return path, err
}

// folder is source for those who write: only a loop's folder will do.
func (p journalPlace) folder(e *env) (string, error) {
	path, err := p.source(e)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(filepath.Join(path, "journal")); err != nil || !info.IsDir() {
		return "", refuse("name a loop, or the folder that holds its journal/", "%s is not a loop's folder", e.short(path))
	}
	return path, nil
}

// holding keeps runners out of a loop while do works on its files.
func holding(dir string, do func() error) error {
	lock, err := registry.Acquire(dir)
	if live, ok := errors.AsType[*registry.HeldError](err); ok {
		return held(live.Loop, registry.Liveness{Alive: true, PID: live.PID, Host: live.Host, Since: live.Since})
	}
	if err != nil {
		return err
	}
	err = journal.CheckIdle(dir)
	if err == nil {
		err = do()
	} else {
		err = busy(err, filepath.Base(dir))
	}
	return errors.Join(err, lock.Release())
}

// verdict is what verify found.
type verdict struct {
	Journal  string           `json:"journal"`
	OK       bool             `json:"ok"`
	Events   int              `json:"events"`
	Torn     int64            `json:"torn,omitempty"` // bytes of an unfinished last line
	Head     string           `json:"head,omitempty"` // the hash that stands for all of it; none while it is being written
	Segments []segmentVerdict `json:"segments"`
	// Removed is the last iteration whose segments are gone; ByRetention says that journal.keepIterations removed them.
	Removed     int  `json:"removedIterations,omitempty"`
	ByRetention bool `json:"removedByKeepIterations,omitempty"`

	problem error // the first
}

type segmentVerdict struct {
	Segment  string `json:"segment"`
	Packed   bool   `json:"packed,omitempty"`
	FirstSeq uint64 `json:"firstSeq"`
	LastSeq  uint64 `json:"lastSeq"`
	Events   int    `json:"events"`
	Size     int64  `json:"size"` // of the file in bytes
	Torn     int64  `json:"torn,omitempty"`
	Sealed   bool   `json:"sealed"`
	SHA256   string `json:"sha256,omitempty"`
	Blobs    int    `json:"blobs,omitempty"`
	Problem  string `json:"problem,omitempty"`
	Line     int    `json:"line,omitempty"` // of the problem, from 1
}

// verify reads a journal and tells each segment as soon as it is read.
func verify(path string, tell func(segmentVerdict)) verdict {
	v := verdict{Journal: path, Segments: []segmentVerdict{}}
	v.problem = journal.Verify(path, func(r journal.SegmentReport) {
		s := segmentVerdict{
			Segment: r.Name, Packed: r.Packed, FirstSeq: r.FirstSeq, LastSeq: r.LastSeq, Events: r.Events,
			Size: r.Size, Torn: r.Torn, Sealed: r.Sealed, SHA256: r.SHA256, Blobs: r.Blobs,
		}
		if r.Problem != nil {
			s.Problem = r.Problem.Error()
			if damage, ok := errors.AsType[*journal.CorruptError](r.Problem); ok {
				s.Problem, s.Line = damage.Problem, damage.Line
			}
		}
		v.Events += r.Events
		v.Torn += r.Torn
		v.Segments = append(v.Segments, s)
		tell(s)
	})
	v.OK = v.problem == nil
	if dropped, err := journal.DroppedFrom(path); err == nil { // else verify has said it
		v.Removed, v.ByRetention = dropped.Through, dropped.Kept
	}
	if last := len(v.Segments) - 1; v.OK && last >= 0 && v.Segments[last].Sealed {
		v.Head = v.Segments[last].SHA256
	}
	return v
}

type journalVerifyVerb struct {
	journalPlace
	Against string `placeholder:"HASH" help:"Prove that it is the journal of which this hash was told, when it ended or when it was verified before."`
}

// Run reads the whole journal, of a running loop as well. Damage is exit code 3.
func (v *journalVerifyVerb) Run(e *env) error {
	v.Against = strings.ToLower(v.Against)
	if v.Against != "" && !isHash(v.Against) {
		return refuse("take it as 'ralph journal verify' or the end of the loop told it", "--against %.80q: want %d hexadecimal digits", v.Against, 2*sha256.Size)
	}
	path, err := v.source(e)
	if err != nil {
		return err
	}
	if v.JSON {
		found := verify(path, func(segmentVerdict) {})
		if v.Against != "" && found.OK {
			_, found.problem = found.proved(v.Against)
			found.OK = found.problem == nil
		}
		if err := printJSON(e.stdout, found, ""); err != nil {
			return err
		}
		return found.damage()
	}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	found := verify(path, func(s segmentVerdict) { fmt.Fprintln(w, s.row()) })
	if err := w.Flush(); err != nil {
		return err
	}
	if err := found.damage(); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%d events in %d segments, all as they were written\n", found.Events, len(found.Segments))
	if found.Removed > 0 {
		fmt.Fprintln(e.stdout, removedIterations(journal.Dropped{Through: found.Removed, First: found.Segments[0].FirstSeq, Kept: found.ByRetention}))
	}
	if found.Head != "" {
		fmt.Fprintf(e.stdout, "sha256 %s stands for all of it\n", found.Head)
	}
	if v.Against != "" {
		seq, err := found.proved(v.Against)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.stdout, "up to event %d it is the journal of which %s was told\n", seq, v.Against)
	}
	if found.Torn > 0 {
		tell(e.stderr, "the last line is unfinished: a writer is at work, or died; the next start cuts it off")
	}
	return nil
}

func (s segmentVerdict) row() string {
	how := "open"
	switch {
	case s.Packed:
		how = "packed"
	case s.Sealed:
		how = "sealed"
	}
	state := "ok"
	switch {
	case s.Line > 0:
		state = fmt.Sprintf("DAMAGED at line %d: %s", s.Line, render.Clean(s.Problem))
	case s.Problem != "":
		state = "DAMAGED: " + render.Clean(s.Problem)
	case s.Torn > 0:
		state = fmt.Sprintf("ok, and %d bytes of an unfinished line", s.Torn)
	}
	return fmt.Sprintf("%s\t%d events\t%d–%d\t%d bytes\t%s\t%s", s.Segment, s.Events, s.FirstSeq, s.LastSeq, s.Size, how, state)
}

func isHash(text string) bool {
	sum, err := hex.DecodeString(text)
	return err == nil && len(sum) == sha256.Size
}

// proved returns the last event that a hash stands for: each segment names the hash of the one before it. A journal that
// was written on since has the hash in its middle.
func (v verdict) proved(hash string) (seq uint64, err error) {
	for _, s := range v.Segments {
		if s.SHA256 == hash {
			return s.LastSeq, nil
		}
	}
	return 0, &failure{
		err: fmt.Errorf("journal %s: none of its segments has the SHA-256 %s", v.Journal, hash), code: event.ExitFailed,
		hint: "it is another journal, or somebody has changed what was written by then; a segment that journal.keepIterations dropped has no hash any more",
	}
}

// damage is the error of a journal that does not hold what was written.
func (v verdict) damage() error {
	if v.problem == nil {
		return nil
	}
	if errors.Is(v.problem, journal.ErrNoSegment) {
		return &failure{err: v.problem, code: event.ExitFailed, hint: "put the files back from a copy, or begin the loop with 'ralph start'"}
	}
	if told, ok := errors.AsType[*failure](v.problem); ok {
		return told
	}
	return &failure{
		err: v.problem, code: event.ExitFailed,
		hint: "nothing of it is passed over: what stands before can be read; take the segment from a copy, or begin anew with 'ralph start --fresh'",
	}
}

type journalRepairVerb struct{ journalPlace }

// repaired is what repair did.
type repaired struct {
	Journal string `json:"journal"`
	Cut     int64  `json:"cut"`            // bytes
	Segment string `json:"segment"`        // the last one
	Kept    string `json:"kept,omitempty"` // where the bytes are
	NextSeq uint64 `json:"nextSeq"`
}

// Run does what the next start would do by itself. Damage before the last line is
// nobody's to cut.
func (v *journalRepairVerb) Run(e *env) error {
	dir, err := v.folder(e)
	if err != nil {
		return err
	}
	return holding(dir, func() error { return v.repair(e, dir) })
}

func (v *journalRepairVerb) repair(e *env, dir string) error {
	before := verify(dir, func(segmentVerdict) {})
	if err := before.damage(); err != nil && !before.unbegun() {
		return err
	}
	rec, err := journal.Recover(dir, journal.Options{})
	if err != nil {
		return err
	}
	r := repaired{Journal: dir, Segment: rec.Segment, NextSeq: rec.NextSeq}
	// An earlier repair is told again by Recover until the loop goes on; here it is old news.
	if rec.Lost != nil && (before.Torn > 0 || before.unbegun()) {
		r.Segment, r.Cut, r.Kept = rec.Lost.Segment, rec.Lost.Bytes, filepath.Join(dir, rec.Lost.Kept)
	}
	if v.JSON {
		return printJSON(e.stdout, r, "")
	}
	if r.Cut == 0 {
		fmt.Fprintln(e.stdout, "nothing to repair: the journal ends with a whole line")
		return nil
	}
	fmt.Fprintf(e.stdout, "cut %d bytes of an unfinished line off %s, kept in %s\n", r.Cut, r.Segment, clean(e.short(r.Kept)))
	return nil
}

// unbegun says whether all that is wrong is a last segment without a whole line: its
// writer died before the segment was one, and repair takes it away.
func (v verdict) unbegun() bool {
	for i, s := range v.Segments {
		if last := i == len(v.Segments)-1; s.Problem != "" && !(last && s.Events == 0) {
			return false
		}
	}
	return len(v.Segments) > 0 && v.problem != nil
}
