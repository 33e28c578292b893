package logs

import (
	"io"

	"github.com/ralph-loop/ralph/internal/front/cli"
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
	p := newProgress(e, name)
	escaped := !toFile && e.IsTerminal()
	return p.write(output, force, func(w io.Writer) (damage, err error) {
		var line []byte
		for e, damage := range src.Events(0) {
			if damage != nil {
				return damage, nil
			}
			p.event()
			if line = append(line[:0], e.Line()...); escaped {
				line = cli.AppendEscaped(nil, line)
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
}

// Write writes what is made of the journal that a person named: to stdout if output is empty or -,
// else to a file. The damage of a journal is an error after all before it is written.
func Write(e *cli.Env, name, output string, force bool, write func(io.Writer) (damage, err error)) error {
	return newProgress(e, name).write(output, force, write)
}

func (p *progress) write(output string, force bool, write func(io.Writer) (damage, err error)) (err error) {
	var damage error
	all := func(w io.Writer) (err error) {
		damage, err = write(w)
		return err
	}
	if output == "" || output == "-" {
		err = cli.Buffered(p, all)
	} else {
		err = p.env.WriteFile(output, force, all)
	}
	p.clear()
	if err != nil {
		return err
	}
	return damage
}
