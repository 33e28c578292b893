package logs

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
)

// A Source is where a journal is read from.
type Source struct {
	Path string    // its folder or file; empty for a pipe
	Loop bool      // it is a loop that may be running
	pipe io.Reader // instead of a path
}

// Open finds the source that a person names: a loop, else a folder or file; - is stdin. If
// iterations were removed from the journal, it reports them on stderr.
func Open(e *cli.Env, name string) (Source, error) {
	if name == "-" {
		return Source{pipe: e.Stdin}, nil
	}
	path, loop, err := e.FindPath(name)
	if err != nil {
		return Source{}, err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() { // a single segment may begin anywhere
		if dropped, err := journal.DroppedFrom(path); err == nil && dropped.Through > 0 { // else reading reports it
			cli.Tell(e.Stderr, "%s", RemovedIterations(dropped))
		}
	}
	return Source{Path: path, Loop: loop}, nil
}

// Folder finds the folder of the loop that a person names. Any other folder is an error.
func Folder(e *cli.Env, name string) (string, error) {
	path, _, err := e.FindPath(name)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(filepath.Join(path, "journal")); err != nil || !info.IsDir() {
		return "", cli.Refuse("name a loop, or the folder that holds its journal/", "%s is not a loop's folder", e.Short(path))
	}
	return path, nil
}

// Events reads the journal from an event on, 0 for all that it has. The error of a damaged journal
// says up to where it can be read.
func (s Source) Events(from event.Seq) iter.Seq2[event.Event, error] {
	return s.events(journal.ReadOptions{FromSeq: from})
}

func (s Source) events(from journal.ReadOptions) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		events := journal.Read(s.Path, from)
		if s.pipe != nil {
			events = journal.ReadStream(s.pipe, "stdin")
		}
		read := max(from.FromSeq, 1) - 1
		for e, err := range events {
			if err == nil {
				read = e.Seq
			}
			if !yield(e, ReadableUpTo(err, read)) {
				return
			}
		}
	}
}

// ReadableUpTo adds to the error of a damaged journal the last event that could be read. All events
// up to it were shown.
func ReadableUpTo(err error, seq event.Seq) error {
	if _, damaged := errors.AsType[*journal.CorruptError](err); !damaged || seq == 0 {
		return err
	}
	return fmt.Errorf("%w; it can be read up to event %d", err, seq)
}

// RemovedIterations says which iterations a journal does not have any more.
func RemovedIterations(d journal.Dropped) string {
	what, were := fmt.Sprintf("iterations 1 to %d", d.Through), "were"
	if d.Through == 1 {
		what, were = "iteration 1", "was"
	}
	if d.Kept {
		return fmt.Sprintf("%s %s removed by journal.keepIterations; the journal begins with event %d", what, were, d.First)
	}
	return fmt.Sprintf("%s: the segments are not there; the journal begins with event %d", what, d.First)
}
