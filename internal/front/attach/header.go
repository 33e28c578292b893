package attach

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// Header describes a loop's state in one line.
func Header(e *cli.Env, name string, h registry.Summary, alive bool) string {
	status, until := h.Status.String(), e.Now()
	switch {
	case h.ContinuesOn != "":
		status, until = "continues on "+h.ContinuesOn, h.At
	case h.Reason != "":
		until = h.At
	case !alive:
		status = "died"
	case h.Waiting != "":
		status += ": " + cli.Local(units.FirstLine(h.Waiting), e.Now())
	}
	if alive {
		status = cli.WithPending(status, h.Pending)
	}
	options := e.RenderOptions()
	parts := []string{"loop " + render.Cut(render.Clean(name), options.Width/2), status}
	if h.Iteration > 0 {
		parts = append(parts, "iteration "+cli.CountOf(h).Number())
	}
	if h.Stories > 0 {
		parts = append(parts, fmt.Sprintf("stories %d/%d", h.StoriesDone, h.Stories))
	}
	if !h.Since.IsZero() {
		parts = append(parts, units.Span(until.Sub(h.Since)))
	}
	if h.Agent != "" {
		parts = append(parts, h.Agent)
	}
	switch {
	case h.Cost == nil:
		parts = append(parts, "cost unknown")
	case *h.Cost > 0: // nothing used is no price
		parts = append(parts, units.Cost(h.Cost))
	}
	line := render.Cut(render.Clean(strings.Join(parts, " · ")), options.Width)
	if options.Color {
		line = "\x1b[1m" + line + "\x1b[0m"
	}
	return line
}
