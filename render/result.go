package render

import (
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/render/phrase"
)

// Result says in one line what a loop that is over came to, as far as that is known:
// 3 iterations, 2 files +26 −4, $0.01, 12m3s.
func Result(v projector.View) string {
	count := units.Count{Begun: v.Begun, Refunded: v.Refunded, Maximum: v.MaximumIterations}
	var changed *event.Difference
	if v.Ended != nil {
		changed = v.Ended.Changed
	}
	return CameTo(count, changed, Paid(v.Used, v.CostUnknown), v.At.Sub(v.Since))
}

// CameTo is Result of what is known: iterations, changes, cost and time.
func CameTo(count units.Count, changed *event.Difference, cost string, took time.Duration) string {
	if count.Begun == 0 {
		cost = ""
	}
	parts := []string{count.Iterations(), phrase.Changed(changed), cost}
	if took > 0 {
		parts = append(parts, units.Span(took))
	}
	var known []string
	for _, part := range parts {
		if part != "" {
			known = append(known, part)
		}
	}
	return strings.Join(known, ", ")
}

// Paid spells what was paid: nothing where nothing was used.
func Paid(u event.Usage, unpriced bool) string {
	switch {
	case u.USD == nil:
		return "cost unknown"
	case unpriced:
		return "at least " + units.Cost(u.USD)
	case *u.USD == 0 && u.Tokens() == 0:
		return ""
	}
	return units.Cost(u.USD)
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
