package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// Result says in one line what a loop that is over came to, as far as that is known:
// 3 iterations, 2 files +26 −4, $0.01, 12m3s.
func Result(v projector.View) string {
	count := units.Count{Begun: v.Begun, Refunded: v.Refunded, Maximum: v.MaximumIterations}
	var changed *event.Difference
	if v.Ended != nil {
		changed = v.Ended.Changed
	}
	return cameTo(count, changed, paid(v.Used, v.CostUnknown), v.At.Sub(v.Since))
}

func cameTo(count units.Count, changed *event.Difference, cost string, took time.Duration) string {
	if count.Begun == 0 {
		cost = ""
	}
	parts := []string{count.Iterations(), Changed(changed), cost}
	if took > 0 {
		parts = append(parts, Span(took))
	}
	var known []string
	for _, part := range parts {
		if part != "" {
			known = append(known, part)
		}
	}
	return strings.Join(known, ", ")
}

// Changed says how much differs: 2 files +26 −4. It is empty if that is unknown.
func Changed(d *event.Difference) string {
	switch {
	case d == nil:
		return ""
	case *d == event.Difference{}:
		return "no file changed"
	case d.Files == 0: // all of them differed before
		return fmt.Sprintf("+%d −%d", d.Insertions, d.Deletions)
	}
	return fmt.Sprintf("%s +%d −%d", units.Quantity(d.Files, "file"), d.Insertions, d.Deletions)
}

// paid spells what was paid: nothing where nothing was used.
func paid(u event.Usage, unpriced bool) string {
	switch {
	case u.USD == nil:
		return "cost unknown"
	case unpriced:
		return "at least " + Cost(u.USD)
	case *u.USD == 0 && u.Tokens() == 0:
		return ""
	}
	return Cost(u.USD)
}

// AskResume asks whether a loop that is over is to be resumed. more is what it may use then, as in
// projector.View; withWords says that a typed text is for its next prompt.
func AskResume(loop, more string, withWords bool) string {
	text := strings.TrimSpace("Resume " + Clean(loop) + "? " + more)
	if withWords {
		text += " with these words"
	}
	return text
}
