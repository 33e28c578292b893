package registration

import (
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/registry"
)

// RunnerAmong returns the loop whose runner is the first of these processes. It looks at the
// loops of this home and at the folders dirs; of a loop in such a folder it returns only name
// and folder. A process with a runner among those that it descends from belongs to an agent of
// that loop, or to what the loop runs beside it.
func RunnerAmong(home string, line []process.ID, dirs ...string) (loop registry.Entry, found bool, err error) {
	loops, err := registry.Survey(home, func(e registry.Entry) bool {
		return slices.ContainsFunc(line, func(p process.ID) bool { return p.PID == e.PID })
	})
	if err != nil {
		return loop, false, err
	}
	for _, dir := range dirs {
		loops = append(loops, registry.Status{Entry: registry.Entry{Name: filepath.Base(dir), Dir: dir}})
	}
	first := len(line)
	for _, s := range loops {
		if s.Err != nil {
			continue // it is no entry, or its lock cannot be read
		}
		holder, err := Holder(s.Dir)
		if err != nil {
			continue // it does not run, or not here
		}
		if at := slices.Index(line[:first], process.ID(holder)); at >= 0 {
			loop, first = s.Entry, at
		}
	}
	return loop, first < len(line), nil
}
