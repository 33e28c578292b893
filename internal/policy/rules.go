package policy

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// SetRule returns the rules with one of them changed: the settings that may
// change while a loop runs. The error says what is wrong with key or value in words for
// the person who typed them.
func SetRule(r event.Rules, key, value string) (event.Rules, error) {
	var err error
	switch key {
	case "maximumIterations":
		r.MaximumIterations, err = positive(value)
	case "restart.max":
		r.RestartMax, err = positive(value)
	case "limits.cost":
		r.LimitCost, err = strconv.ParseFloat(value, 64)
		// What is not finite cannot be written into the journal.
		if err != nil || !(r.LimitCost > 0) || math.IsInf(r.LimitCost, 1) {
			err = fmt.Errorf("%q is not an amount in USD above 0", value)
		}
	case "limits.tokens":
		var n int
		n, err = positive(value)
		r.LimitTokens = int64(n)
	case "limits.duration":
		r.LimitDuration, err = span(value)
	case "limits.idle":
		r.IdleAfter, err = span(value)
	case "limits.iteration":
		r.IterationLimit, err = span(value)
	case "limits.afterResult":
		r.AfterResult, err = span(value)
	case "restart.delay":
		r.RestartDelay, err = span(value)
	default:
		err = fmt.Errorf("%q cannot be changed while the loop runs", key)
	}
	return r, err
}

func positive(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not a whole number above 0", value)
	}
	return n, nil
}

func span(value string) (int64, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d < time.Millisecond {
		return 0, fmt.Errorf("%q is not a duration such as 90s or 10m", value)
	}
	return d.Milliseconds(), nil
}
