package hook

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

const shownDecisions = 10 // of each loop

// Describe returns session loops as text for a person, with their last decisions. The text may
// contain what agents wrote: it is not clean.
func Describe(loops []*SessionLoop, now time.Time) string {
	var text strings.Builder
	for i, l := range loops {
		if i > 0 {
			text.WriteString("\n")
		}
		session := "no session yet"
		if len(l.Sessions) > 0 {
			session = "session " + l.Sessions[0]
		}
		fmt.Fprintf(&text, "%s  %s\n", l.ID, cmp.Or(string(l.Result), "active"))
		fmt.Fprintf(&text, "  %s, started %s\n", session, units.Ago(now.Sub(l.Started)))
		fmt.Fprintf(&text, "  iteration %d of %d, %s, ends with %s\n", l.Iteration, l.MaxIterations, units.Quantity(l.ToolCalls, "tool call"), l.Marker())
		fmt.Fprintf(&text, "  task: %s\n", units.Cut(units.FirstLine(l.Task), 200))
		shown := l.Decisions
		if more := len(shown) - shownDecisions; more > 0 {
			fmt.Fprintf(&text, "  … %s before\n", units.Quantity(more, "decision"))
			shown = shown[more:]
		}
		for _, d := range shown {
			verdict := "stopped"
			if d.Blocked {
				verdict = "sent back"
			}
			fmt.Fprintf(&text, "  %s  %s, promise %s: %s\n", d.At.Local().Format(time.TimeOnly), verdict, d.Promise, d.Why)
		}
	}
	return text.String()
}
