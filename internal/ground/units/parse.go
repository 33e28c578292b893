package units

import (
	"strconv"
	"strings"
	"time"
)

// ParseTime reads a time as people write it: 2026-11-21T01:30:00Z, 2026-11-21, 01:30, how long ago
// it was, such as 10m or 30d, or today or yesterday, which is the beginning of that day.
func ParseTime(s string, now time.Time) (at time.Time, ok bool) {
	switch y, m, d := now.Date(); s {
	case "today":
		return time.Date(y, m, d, 0, 0, 0, 0, now.Location()), true
	case "yesterday":
		return time.Date(y, m, d-1, 0, 0, 0, 0, now.Location()), true
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 31)
		return now.AddDate(0, 0, -int(n)), err == nil
	}
	if d, err := time.ParseDuration(s); err == nil {
		return now.Add(-d.Abs()), true
	}
	for _, layout := range []string{
		time.RFC3339, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02", "15:04:05", "15:04",
	} {
		at, err := time.ParseInLocation(layout, s, now.Location())
		if err != nil {
			continue
		}
		if at.Year() == 0 { // a time of day: when the clock showed it last
			y, m, d := now.Date()
			at = time.Date(y, m, d, at.Hour(), at.Minute(), at.Second(), 0, now.Location())
			if at.After(now) {
				at = at.AddDate(0, 0, -1)
			}
		}
		return at, true
	}
	return time.Time{}, false
}
