package send

import (
	"fmt"
	"os"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// Marks returns the marks of the loop's processes; none if its id is not known.
func Marks(s registry.Status) []string {
	id := s.ID
	if id == "" {
		if v, err := cli.View(s); err == nil {
			id = v.ID
		}
	}
	home, err := registry.Home(os.Getenv)
	if id == "" || err != nil {
		return nil
	}
	return process.LoopMarks(home, id)
}

// LeftBy returns the running processes of a loop that has no runner.
func LeftBy(s registry.Status) ([]process.Stray, error) {
	all, err := process.Marked()
	if err != nil {
		return nil, err
	}
	return LeftOf(all, s), nil
}

// LeftOf returns a loop's processes from those of all loops.
func LeftOf(all map[string][]process.Stray, s registry.Status) []process.Stray {
	if s.Live.Alive || len(all) == 0 {
		return nil
	}
	var left []process.Stray
	for _, mark := range Marks(s) {
		left = append(left, all[mark]...)
	}
	return left
}

// straysShown is how many processes are named.
const straysShown = 8

// SpellStrays names processes for a person. Their command lines may contain secrets: only the
// beginning is shown.
func SpellStrays(left []process.Stray) string {
	var names []string
	for _, s := range left[:min(len(left), straysShown)] {
		names = append(names, fmt.Sprintf("pid %d (%s)", s.PID, render.Cut(render.Clean(s.Command), 40)))
	}
	if more := len(left) - straysShown; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
