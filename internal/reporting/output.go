package reporting

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/cli"
	"github.com/ralph-loop/ralph/internal/safefile"
)

// filesMost is how many reports of one loop a folder may have whose names are chosen here.
const filesMost = 1000

// write writes a report to where the options say. base is the name of a page that is written
// because stdout is a terminal.
func write(e *cli.Env, o Options, base string, content func(io.Writer) error) error {
	page := !o.JSON && !o.Markdown
	switch {
	case o.Output == "-", o.Output == "" && !(page && e.IsTerminal()):
		return buffered(e.Stdout, content)
	case o.Output != "" && o.Force:
		return replaced(e, e.Abs(o.Output), content)
	case o.Output != "":
		path := e.Abs(o.Output)
		err := created(path, content)
		if errors.Is(err, fs.ErrExist) {
			return cli.Refuse("choose another file, or add --force", "%s exists", e.Short(path))
		}
		return said(e, path, err)
	}
	for n := 1; n <= filesMost; n++ {
		path := filepath.Join(e.Cwd, base+".html")
		if n > 1 {
			path = filepath.Join(e.Cwd, fmt.Sprintf("%s-%d.html", base, n))
		}
		if err := created(path, content); !errors.Is(err, fs.ErrExist) {
			return said(e, path, err)
		}
	}
	return cli.Refuse("remove some of them, or choose a file with -o", "this folder has %d reports of it", filesMost)
}

// said reports the file that was written.
func said(e *cli.Env, path string, err error) error {
	if err == nil {
		cli.Tell(e.Stderr, "wrote %s", e.Short(path))
	}
	return err
}

func buffered(w io.Writer, content func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 64<<10)
	if err := content(b); err != nil {
		return err
	}
	return b.Flush()
}

// created writes a new file. What is there already stays as it is; a file that cannot be completed
// is removed.
func created(path string, content func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	err = buffered(file, content)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(path) // the error before it matters more
	}
	return err
}

// replaced writes a file that may exist: the old content stays until the new one is complete.
func replaced(e *cli.Env, path string, content func(io.Writer) error) error {
	next := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d", filepath.Base(path), os.Getpid()))
	if err := created(next, content); err != nil {
		return err
	}
	if err := safefile.Move(next, path); err != nil {
		_ = os.Remove(next)
		return fmt.Errorf("write the report: %w", err)
	}
	return said(e, path, nil)
}
