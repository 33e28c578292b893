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
// change while a loop runs. A limit is taken away by none. The error says what is wrong with
// key or value in words for the person who typed them.
func SetRule(r event.Rules, key, value string) (event.Rules, error) {
	var err error
	switch key {
	case "maximumIterations":
		err = set(&r.MaximumIterations, positive, value)
	case "restart.max":
		err = set(&r.RestartMax, positive, value)
	case "restart.delay":
		err = set(&r.RestartDelay, span, value)
	case "limits.cost":
		err = limit(&r.LimitCost, money, value)
	case "limits.tokens":
		err = limit(&r.LimitTokens, count, value)
	case "limits.duration":
		err = limit(&r.LimitDuration, span, value)
	case "limits.idle":
		err = limit(&r.IdleAfter, span, value)
	case "limits.tool":
		err = limit(&r.ToolIdleAfter, span, value)
	case "limits.iteration":
		err = limit(&r.IterationLimit, span, value)
	case "limits.iterationCost":
		err = limit(&r.IterationCost, money, value)
	case "limits.iterationTokens":
		err = limit(&r.IterationTokens, count, value)
	case "limits.afterResult":
		err = limit(&r.AfterResult, span, value)
	case "limits.outage":
		err = limit(&r.OutageLimit, span, value)
	default:
		err = fmt.Errorf("%q cannot be changed while the loop runs", key)
		if value == "none" && strings.HasPrefix(key, "limits.") {
			err = fmt.Errorf("there is no %q", key)
		}
	}
	return r, err
}

// set changes a rule to what value says; an unreadable value leaves it.
func set[T any](rule *T, read func(string) (T, error), value string) error {
	v, err := read(value)
	if err == nil {
		*rule = v
	}
	return err
}

// limit is set for a rule of which there may be none.
func limit[T any](rule *T, read func(string) (T, error), value string) error {
	if value == "none" {
		var none T
		*rule = none
		return nil
	}
	return set(rule, read, value)
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

func count(value string) (int64, error) {
	n, err := positive(value)
	return int64(n), err
}

func span(value string) (int64, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d < time.Millisecond {
		return 0, fmt.Errorf("%q is not a duration such as 90s or 10m", value)
	}
	return d.Milliseconds(), nil
}
