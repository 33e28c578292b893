package reporting

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/front/cli"
)

// filesMost is how many reports of one loop a folder may have whose names are chosen here.
const filesMost = 1000

// write writes a report to where the options say. base is the name of a page that is written
// because stdout is a terminal.
func write(e *cli.Env, o Options, base string, content func(io.Writer) error) error {
	page := !o.JSON && !o.Markdown && !o.JUnit && !o.Provenance
	switch {
	case o.Output == "-", o.Output == "" && !(page && e.IsTerminal()):
		return cli.Buffered(e.Stdout, content)
	case o.Output != "":
		return e.WriteFile(o.Output, o.Force, content)
	}
	for n := 1; n <= filesMost; n++ {
		path := filepath.Join(e.Cwd, base+".html")
		if n > 1 {
			path = filepath.Join(e.Cwd, fmt.Sprintf("%s-%d.html", base, n))
		}
		if err := e.WriteNewFile(path, content); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return cli.Refuse("remove some of them, or choose a file with -o", "this folder has %d reports of it", filesMost)
}
