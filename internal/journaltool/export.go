package journaltool

import (
	"bufio"
	"io"

	"github.com/ralph-loop/ralph/internal/cli"
)

// Export writes all events of a journal, in order, as its own lines: to stdout if output is empty
// or -, else to a file, which may exist with force. It keeps one event in memory at a time. Of a
// damaged journal it writes the events before the damage, and returns the damage as error.
func Export(e *cli.Env, name, output string, force bool) error {
	toFile := output != "" && output != "-"
	if force && !toFile {
		return cli.Refuse("add -o FILE", "--force is about a file")
	}
	src, err := Open(e, name)
	if err != nil {
		return err
	}
	x := &exporting{src: src, progress: newProgress(e, name), escaped: !toFile && e.IsTerminal()}
	if toFile {
		err = e.WriteFile(output, force, x.write)
	} else {
		err = x.write(x.progress)
	}
	x.progress.clear()
	if err != nil {
		return err
	}
	return x.damage
}

// exporting is one export.
type exporting struct {
	src      Source
	escaped  bool // for a terminal
	progress *progress
	damage   error // of the journal, after the last event that was written
}

func (x *exporting) write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	var line []byte
	for e, err := range x.src.events(0) {
		if err != nil {
			x.damage = err
			break
		}
		x.progress.event()
		if x.escaped {
			line = cli.AppendEscaped(line[:0], e.Line())
		} else {
			line = append(line[:0], e.Line()...)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}
