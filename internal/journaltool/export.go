package journaltool

import (
	"bufio"
	"io"
	"iter"

	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/jsonscan"
	"github.com/ralph-loop/ralph/journal/event"
)

// ExportOptions say how a journal is exported.
type ExportOptions struct {
	JSONL, CSV, CloudEvents bool   // at most one; without one it is JSONL
	OTLP                    bool   // as well as one of them, which is an error
	Output                  string // a file; empty or - is stdout
	Force                   bool   // Output may exist
}

// Export writes all events of a journal, in order, as lines for other programs. It keeps one event
// in memory at a time. Of a damaged journal it writes the events before the damage, and returns the
// damage as error.
func Export(e *cli.Env, name string, o ExportOptions) error {
	if count(o.JSONL, o.CSV, o.CloudEvents, o.OTLP) > 1 {
		return cli.Refuse("choose one of them", "--jsonl, --csv, --cloudevents and --otlp are different formats")
	}
	toFile := o.Output != "" && o.Output != "-"
	if o.Force && !toFile {
		return cli.Refuse("add -o FILE", "--force is about a file")
	}
	src, err := Open(e, name)
	if err != nil {
		return err
	}
	x := &exporting{src: src, progress: newProgress(e, name), line: o.line(!toFile && e.IsTerminal())}
	if o.CSV {
		x.head = csvHead
	}
	if toFile {
		err = e.WriteFile(o.Output, o.Force, x.write)
	} else {
		err = x.write(x.progress)
	}
	x.progress.clear()
	if err != nil {
		return err
	}
	return x.damage
}

func count(flags ...bool) (n int) {
	for _, set := range flags {
		if set {
			n++
		}
	}
	return n
}

// A lineFormat appends an event of a loop as one line, without its end.
type lineFormat func(dst []byte, loop string, e event.Event) []byte

func (o ExportOptions) line(terminal bool) lineFormat {
	switch {
	case o.CSV:
		return appendCSV
	case o.CloudEvents:
		return appendCloudEvent
	case terminal:
		return func(dst []byte, _ string, e event.Event) []byte {
			return append(cli.AppendEscaped(dst, e.Line()), '\n')
		}
	}
	return func(dst []byte, _ string, e event.Event) []byte { return append(append(dst, e.Line()...), '\n') }
}

// exporting is one export.
type exporting struct {
	src      Source
	head     string
	line     lineFormat
	progress *progress
	damage   error // of the journal, after the last event that was written
}

func (x *exporting) write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	_, _ = out.WriteString(x.head) // its error is that of the next write, too
	var line []byte
	for loop, e := range x.events() {
		x.progress.event()
		line = x.line(line[:0], loop, e)
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// heldMost bounds the events that are read before the id of their loop is known. It is in the first
// or second line of each segment.
const heldMost = 8

// events iterates over the events, each with the id of its loop. The id is empty if the journal
// does not have it.
func (x *exporting) events() iter.Seq2[string, event.Event] {
	return func(yield func(string, event.Event) bool) {
		var loop string
		var held []event.Event
		known := false
		release := func() bool {
			known = true
			for _, e := range held {
				if !yield(loop, e) {
					return false
				}
			}
			held = nil
			return true
		}
		for e, err := range x.src.events(0) {
			if err != nil {
				x.damage = err
				break
			}
			if !known {
				held = append(held, e.Clone())
				loop = loopOf(e)
				if loop == "" && len(held) < heldMost {
					continue
				}
				if !release() {
					return
				}
				continue
			}
			if !yield(loop, e) {
				return
			}
		}
		release()
	}
}

// loopOf is the id of a loop, if an event has it.
func loopOf(e event.Event) string {
	switch e.Type {
	case event.TypeLoopStarted:
		return jsonscan.Unquote(e.Field("id"))
	case event.TypeSegmentOpened:
		return jsonscan.Unquote(jsonscan.Get(e.Field("checkpoint"), "id"))
	}
	return ""
}
