package policy

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

// SetRule returns the rules with one of them changed: the settings that may
// change while a loop runs. The error says what is wrong with key or value in words for
// the person who typed them.
func SetRule(r event.Rules, key, value string) (event.Rules, error) {
	if value == "none" && strings.HasPrefix(key, "limits.") {
		return unlimited(r, key)
	}
	var err error
	switch key {
	case "maximumIterations":
		r.MaximumIterations, err = positive(value)
	case "restart.max":
		r.RestartMax, err = positive(value)
	case "limits.cost":
		r.LimitCost, err = money(value)
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
	case "limits.tool":
		r.ToolIdleAfter, err = span(value)
	case "limits.outage":
		r.OutageLimit, err = span(value)
	case "limits.iterationCost":
		r.IterationCost, err = money(value)
	case "limits.iterationTokens":
		var n int
		n, err = positive(value)
		r.IterationTokens = int64(n)
	case "restart.delay":
		r.RestartDelay, err = span(value)
	default:
		err = fmt.Errorf("%q cannot be changed while the loop runs", key)
	}
	return r, err
}

// unlimited returns the rules without one of their limits.
func unlimited(r event.Rules, key string) (event.Rules, error) {
	switch key {
	case "limits.cost":
		r.LimitCost = 0
	case "limits.tokens":
		r.LimitTokens = 0
	case "limits.duration":
		r.LimitDuration = 0
	case "limits.idle":
		r.IdleAfter = 0
	case "limits.iteration":
		r.IterationLimit = 0
	case "limits.afterResult":
		r.AfterResult = 0
	case "limits.tool":
		r.ToolIdleAfter = 0
	case "limits.outage":
		r.OutageLimit = 0
	case "limits.iterationCost":
		r.IterationCost = 0
	case "limits.iterationTokens":
		r.IterationTokens = 0
	default:
		return r, fmt.Errorf("there is no %q", key)
	}
	return r, nil
}

// money reads an amount. What is not finite cannot be written into the journal.
func money(value string) (float64, error) {
	usd, err := strconv.ParseFloat(value, 64)
	if err != nil || !(usd > 0) || math.IsInf(usd, 1) {
		return 0, fmt.Errorf("%q is not an amount in USD above 0", value)
	}
	return usd, nil
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
