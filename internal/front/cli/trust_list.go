package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ralph-loop/ralph/internal/ground/trust"
	"github.com/ralph-loop/ralph/render"
)

// ListTrusted prints the projects whose settings are trusted.
func (e *Env) ListTrusted(asJSON bool) error {
	records, bad := trust.List(e.Home)
	for _, err := range bad {
		Tell(e.Stderr, "%v", err)
	}
	if asJSON {
		if records == nil {
			records = []trust.Record{}
		}
		return PrintJSON(e.Stdout, records, "")
	}
	if len(records) == 0 {
		Tell(e.Stderr, "no project's settings are trusted")
	}
	for _, r := range records {
		gone := ""
		if _, err := os.Stat(r.Project); errors.Is(err, fs.ErrNotExist) {
			gone = "  (it is gone)"
		}
		fmt.Fprintf(e.Stdout, "%s  %s%s\n", r.At.Local().Format("2006-01-02 15:04"), render.Clean(r.Project), gone)
	}
	return nil
}
