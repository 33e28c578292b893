package units

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Tokens spells a count in at most four characters and a unit: 999, 1.2k, 45k, 1.2M.
func Tokens(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 9950:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	case n < 999_500:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	case n < 9_950_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n < 999_500_000:
		return fmt.Sprintf("%.0fM", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1fG", float64(n)/1e9)
}

// Cost spells an amount in USD. An unknown amount is not zero.
func Cost(usd *float64) string {
	switch {
	case usd == nil:
		return "unknown"
	case *usd > 0 && *usd < 0.00005:
		return "<$0.0001"
	case *usd != 0 && *usd < 0.01:
		return fmt.Sprintf("$%.4f", *usd)
	}
	return fmt.Sprintf("$%.2f", *usd)
}

// Of spells an amount in USD and its limit.
func Of(usd, limit float64) string { return Cost(&usd) + " of " + Cost(&limit) }

// Span spells a duration with its two largest units: 0.3s, 6m7s, 1h20m, 2d3h.
func Span(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	switch {
	case d < 0:
		return "0s"
	case d < 9950*time.Millisecond:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%ds", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%dh%dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dd%dh", s/86400, s/3600%24)
}

// Ago spells how long ago something was, in whole seconds.
func Ago(d time.Duration) string {
	if d = max(d, 0).Truncate(time.Second); d < 10*time.Second {
		return Plain(d) + " ago"
	}
	return Span(d) + " ago"
}

// Bytes spells a size: 512 B, 2.1 kB, 3.0 MB.
func Bytes(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 999_950:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 999_950_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// Plain spells a duration as a setting has it, without the units that are zero: 10m, not 10m0s.
func Plain(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Took spells how long something took that may have been over in milliseconds: 3ms, 1.2s, 10m.
func Took(d time.Duration) string {
	switch {
	case d >= time.Minute:
		d = d.Round(time.Second)
	case d >= time.Second:
		d = d.Round(10 * time.Millisecond)
	case d >= time.Millisecond:
		d = d.Round(time.Millisecond)
	}
	return Plain(d)
}

// Milliseconds is a duration as events have it.
func Milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
