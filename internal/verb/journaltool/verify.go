package journaltool

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/front/logs"
	"github.com/ralph-loop/ralph/internal/verb/launch"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

// verdict is the result of Verify.
type verdict struct {
	Journal string `json:"journal"`
	OK      bool   `json:"ok"`
	Events  int    `json:"events"`
	Torn    int64  `json:"torn,omitempty"` // bytes of an unfinished last line
	// the hash of the complete journal; none while it is being written
	Head     string           `json:"head,omitempty"`
	Segments []segmentVerdict `json:"segments"`
	// Removed is the last iteration whose segments are gone; ByRetention says that
	// journal.keepIterations removed them.
	Removed     int  `json:"removedIterations,omitempty"`
	ByRetention bool `json:"removedByKeepIterations,omitempty"`

	problem error // the first
}

type segmentVerdict struct {
	Segment  string    `json:"segment"`
	Packed   bool      `json:"packed,omitempty"`
	FirstSeq event.Seq `json:"firstSeq"`
	LastSeq  event.Seq `json:"lastSeq"`
	Events   int       `json:"events"`
	Size     int64     `json:"size"` // of the file in bytes
	Torn     int64     `json:"torn,omitempty"`
	Sealed   bool      `json:"sealed"`
	SHA256   string    `json:"sha256,omitempty"`
	Blobs    int       `json:"blobs,omitempty"`
	Problem  string    `json:"problem,omitempty"`
	Line     int       `json:"line,omitempty"` // of the problem, from 1
	// Code is that of the problem in docs/reference/format.md.
	Code journal.Code `json:"code,omitempty"`
}

// verify reads a journal and reports each segment as soon as it is read.
func verify(path string, report func(segmentVerdict)) verdict {
	v := verdict{Journal: path, Segments: []segmentVerdict{}}
	v.problem = journal.Verify(path, func(r journal.SegmentReport) {
		s := segmentVerdict{
			Segment: r.Name, Packed: r.Packed, FirstSeq: r.FirstSeq, LastSeq: r.LastSeq, Events: r.Events,
			Size: r.Size, Torn: r.Torn, Sealed: r.Sealed, SHA256: r.SHA256, Blobs: r.Blobs,
		}
		if r.Problem != nil {
			s.Problem, s.Code = r.Problem.Error(), journal.CodeOf(r.Problem)
			if damage, ok := errors.AsType[*journal.CorruptError](r.Problem); ok {
				s.Problem, s.Line = damage.Problem, damage.Line
			}
		}
		v.Events += r.Events
		v.Torn += r.Torn
		v.Segments = append(v.Segments, s)
		report(s)
	})
	v.OK = v.problem == nil
	if dropped, err := journal.DroppedFrom(path); err == nil { // else it is the problem already
		v.Removed, v.ByRetention = dropped.Through, dropped.Kept
	}
	if last := len(v.Segments) - 1; v.OK && last >= 0 && v.Segments[last].Sealed {
		v.Head = v.Segments[last].SHA256
	}
	return v
}

// Verify checks the checksums and cross-references of a journal, also of a running loop. With a
// hash, it proves that the journal is the one whose hash was reported. Damage is exit code 3.
func Verify(e *cli.Env, name, hash string, asJSON bool) error {
	hash = strings.ToLower(hash)
	if sum, err := hex.DecodeString(hash); hash != "" && (err != nil || len(sum) != sha256.Size) {
		return cli.Refuse("take it as 'ralph journal verify' or the end of the loop reports it",
			"--against %.80q: want %d hexadecimal digits", hash, 2*sha256.Size)
	}
	path, _, err := e.FindPath(name)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	done := e.Busy("reading " + path)
	found := verify(path, func(s segmentVerdict) {
		if !asJSON {
			fmt.Fprintln(w, s.row())
		}
	})
	done()
	var proved event.Seq
	if hash != "" && found.OK {
		proved, found.problem = found.provedBy(hash)
		found.OK = found.problem == nil
	}
	if asJSON {
		err = cli.PrintJSON(e.Stdout, found, "")
	} else {
		err = w.Flush()
	}
	if err = cmp.Or(err, found.damage()); err != nil || asJSON {
		return err
	}
	fmt.Fprintf(e.Stdout, "%d events in %d segments, all as they were written\n", found.Events, len(found.Segments))
	if found.Removed > 0 {
		fmt.Fprintln(e.Stdout, logs.RemovedIterations(journal.Dropped{Through: found.Removed, First: found.Segments[0].FirstSeq, Kept: found.ByRetention}))
	}
	if found.Head != "" {
		fmt.Fprintf(e.Stdout, "sha256 %s covers all of it\n", found.Head)
	}
	if hash != "" {
		fmt.Fprintf(e.Stdout, "up to event %d it is the journal whose hash %s was reported\n", proved, hash)
	}
	if found.Torn > 0 {
		cli.Tell(e.Stderr, "the last line is unfinished: a writer is at work, or died; the next start cuts it off")
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

// provedBy returns the last event that a hash covers: each segment contains the hash of the one
// before it. If the loop was resumed since, the hash is in the middle of the journal.
func (v verdict) provedBy(hash string) (seq event.Seq, err error) {
	for _, s := range v.Segments {
		if s.SHA256 == hash {
			return s.LastSeq, nil
		}
	}
	return 0, &cli.Failure{
		Err: fmt.Errorf("journal %s: none of its segments has the SHA-256 %s", v.Journal, hash), Code: event.ExitFailed,
		NextStep: "it is another journal, or its events up to then were changed; the hash of a segment that journal.keepIterations removed is unknown",
	}
}

// damage is the error of a journal that does not contain what was written.
func (v verdict) damage() error {
	hint := "ralph does not skip it: everything before it can be read; take the segment from a copy, or begin again with 'ralph start --fresh'"
	if v.problem == nil {
		return nil
	}
	if errors.Is(v.problem, journal.ErrNoSegment) {
		hint = "put the files back from a copy, or begin the loop with 'ralph start'"
	}
	if failure, ok := errors.AsType[*cli.Failure](v.problem); ok {
		return failure
	}
	return &cli.Failure{Err: v.problem, Code: event.ExitFailed, NextStep: hint}
}

// repaired is the result of Repair.
type repaired struct {
	Journal string    `json:"journal"`
	Cut     int64     `json:"cut"`            // bytes
	Segment string    `json:"segment"`        // the last one
	Kept    string    `json:"kept,omitempty"` // where the bytes are
	NextSeq event.Seq `json:"nextSeq"`
}

// Repair cuts off a last line that was never finished, as the next start would. Damage before the
// last line is an error.
func Repair(e *cli.Env, name string, asJSON bool) error {
	dir, err := logs.Folder(e, name)
	if err != nil {
		return err
	}
	r := repaired{Journal: dir}
	if err := launch.WithLock(dir, r.repair); err != nil {
		return err
	}
	switch {
	case asJSON:
		return cli.PrintJSON(e.Stdout, r, "")
	case r.Cut == 0:
		fmt.Fprintln(e.Stdout, "nothing to repair: the journal ends with a complete line")
	default:
		fmt.Fprintf(e.Stdout, "cut %d bytes of an unfinished line off %s, kept in %s\n", r.Cut, r.Segment, cli.Clean(e.Short(r.Kept)))
	}
	return nil
}

func (r *repaired) repair() error {
	before := verify(r.Journal, func(segmentVerdict) {})
	if err := before.damage(); err != nil && !before.unbegun() {
		return err
	}
	rec, err := journal.Recover(r.Journal, journal.Options{})
	if err != nil {
		return err
	}
	r.Segment, r.NextSeq = rec.Segment, rec.NextSeq
	// Recover reports an earlier repair until the loop continues. Leave that out.
	if rec.Lost != nil && (before.Torn > 0 || before.unbegun()) {
		r.Segment, r.Cut, r.Kept = rec.Lost.Segment, rec.Lost.Bytes, filepath.Join(r.Journal, rec.Lost.Kept)
	}
	return nil
}

// unbegun reports whether the only problem is a last segment without a complete line: its writer
// died before the first one, and repair removes it.
func (v verdict) unbegun() bool {
	for i, s := range v.Segments {
		if last := i == len(v.Segments)-1; s.Problem != "" && !(last && s.Events == 0) {
			return false
		}
	}
	return len(v.Segments) > 0 && v.problem != nil
}
