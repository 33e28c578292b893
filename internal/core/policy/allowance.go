package policy

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
	"github.com/ralph-loop/ralph/journal/event"
)

// Allowance is what a loop that is over may use once it is resumed.
type Allowance struct {
	// Raise are the settings that have to be raised first, because the loop has used them up, with
	// their new values.
	Raise map[string]string
	Text  string // such as "10 more iterations, $2.50 more"
}

// iterationsMore is how many iterations a raised limit allows at most.
const iterationsMore = 10

// Allowance returns what a resumed loop may use. A limit that is used up is raised by half of it,
// that of iterations by itself, at most by iterationsMore.
func (b *Budget) Allowance(r event.Rules) Allowance {
	a := Allowance{}
	var parts []string
	add := func(key, value, text string) {
		if parts = append(parts, text); value == "" {
			return
		}
		if a.Raise == nil {
			a.Raise = map[string]string{}
		}
		a.Raise[key] = value
	}
	if left := r.MaximumIterations - b.Counted; left > 0 {
		add("maximumIterations", "", "up to "+units.Quantity(left, "more iteration"))
	} else {
		more := max(min(r.MaximumIterations, iterationsMore), 1)
		add("maximumIterations", strconv.Itoa(b.Counted+more), units.Quantity(more, "more iteration"))
	}
	used := b.known()
	if limit := r.Limits.Cost; limit > 0 {
		spent := 0.0
		if used.USD != nil {
			spent = *used.USD
		}
		left, value := limit-spent, ""
		if left <= 0 {
			left = limit / 2
			raised := math.Ceil((spent+left)*100) / 100
			left, value = raised-spent, strconv.FormatFloat(raised, 'f', -1, 64)
		}
		add("limits.cost", value, units.Cost(&left)+" more")
	}
	if limit := r.Limits.Tokens; limit > 0 {
		left, value := limit-used.Tokens(), ""
		if left <= 0 {
			left = max(limit/2, 1)
			value = strconv.FormatInt(used.Tokens()+left, 10)
		}
		add("limits.tokens", value, units.Tokens(left)+" tokens more")
	}
	if limit := r.Limits.Duration.Std(); limit > 0 {
		left, value := limit-b.Ran(), ""
		if left <= 0 {
			left = limit / 2
			value = units.Plain((b.Ran() + left).Round(time.Second))
		}
		add("limits.duration", value, units.Plain(left.Round(time.Second))+" more")
	}
	a.Text = strings.Join(parts, ", ")
	return a
}
