package fault

import (
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// Until returns when a limit ends by these words, RFC 3339 in UTC, or "" if they do not say or the
// moment is over. now is when the words came, and its zone is that of a moment without one. A time
// of day without a date is the next one. A minute counts with its end. A span below a minute is
// left out: the backoff soon waits longer.
func Until(words string, now time.Time) string {
	r, ok := resetIn(words)
	if !ok || now.IsZero() {
		return ""
	}
	at, ok := r.after(now)
	if !ok {
		return ""
	}
	return at.Add(time.Second - time.Nanosecond).Truncate(time.Second).UTC().Format(time.RFC3339)
}

// Span returns how long to wait by these words, 0 if they state no span.
func Span(words string) time.Duration {
	r, _ := resetIn(words)
	return r.span
}

// States reports whether words say when a limit ends.
func States(words string) bool {
	_, ok := resetIn(words)
	return ok
}

// reset is when a limit ends: after a span, or at a moment whose parts need not all be stated.
type reset struct {
	span time.Duration // 0 for a moment

	year, day    int // 0 for the next such day
	month        time.Month
	hour, minute int
	zone         *time.Location // nil for that of now
}

// spanLeast is the shortest span that is worth stating.
const spanLeast = time.Minute

// after returns the moment; false if it is over, or too near to matter.
func (r reset) after(now time.Time) (time.Time, bool) {
	if r.span > 0 {
		return now.Add(r.span), r.span >= spanLeast
	}
	zone := now.Location()
	if r.zone != nil {
		zone = r.zone
	}
	here := now.In(zone)
	year, month, day := here.Date()
	if r.day > 0 {
		month, day = r.month, r.day
	}
	if r.year > 0 {
		year = r.year
	}
	moment := func(year, day int) time.Time {
		return time.Date(year, month, day, r.hour, r.minute, 0, 0, zone).Add(time.Minute)
	}
	at := moment(year, day)
	switch {
	case at.After(now):
	case r.day == 0:
		at = moment(year, day+1)
	case r.year == 0 && now.Sub(at) > halfYear: // in January, seen from December
		at = moment(year+1, day)
	}
	return at, at.After(now)
}

const halfYear = 183 * 24 * time.Hour

// Patterns of lower-case words. Blanks, commas and full stops between words do not matter.
const (
	sep    = `[^0-9a-z:+(~-]*`
	number = `\d+(?:\.\d+)?`
	phrase = `\b(?:try` + sep + `again|retry|resets?|available` + sep + `again)\b` + sep
	span   = `(?:in|after)\b` + sep + `(~|about\b)?` + sep + `((?:(?:and` + sep + `)?` + number + sep + `[a-z]+` + sep + `)+)`
	date   = `(?:(\d{4})-(\d{1,2})-(\d{1,2})|([a-z]{3,})` + sep + `(\d{1,2})(?:st|nd|rd|th)?` + sep + `(\d{4}\b)?)` + sep + `(?:at\b|t)?` + sep
	clock  = `(\d{1,2})(:\d{2})?(?::` + number + `)?` + sep + `(am\b|pm\b)?`
	zone   = sep + `\(?` + sep + `([a-z_/]+|[+-]\d{2}:\d{2})?`
)

var (
	spanPattern   = units.Pattern(phrase + span)
	unitPattern   = units.Pattern(`(` + number + `)` + sep + `([a-z]+)`)
	momentPattern = units.Pattern(phrase + `(?:(?:at|on)\b` + sep + `)?(?:` + date + `)?` + clock + zone)
)

// resetIn finds the first end of a limit that words state.
func resetIn(words string) (reset, bool) {
	words = strings.ToLower(words)
	spans, moments := spanPattern().FindAllStringSubmatch(words, -1), momentPattern().FindAllStringSubmatch(words, -1)
	for _, m := range spans {
		if d, ok := readSpan(m[1] != "", m[2]); ok {
			return reset{span: d}, true
		}
	}
	for _, m := range moments {
		if r, ok := readMoment(m); ok {
			return r, true
		}
	}
	return reset{}, false
}

var durations = map[string]time.Duration{
	"w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour,
	"h": time.Hour, "hr": time.Hour, "hour": time.Hour,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute,
	"s": time.Second, "sec": time.Second, "second": time.Second,
	"ms": time.Millisecond, "millisecond": time.Millisecond,
}

// spanMost is the longest span that is believed.
const spanMost = 31 * 24 * time.Hour

// readSpan reads "2 hours 5 minutes". A rounded one, as "~42 min", counts a minute more.
func readSpan(rounded bool, words string) (total time.Duration, ok bool) {
	for _, m := range unitPattern().FindAllStringSubmatch(words, -1) {
		n, err := strconv.ParseFloat(m[1], 64)
		unit := durations[m[2]]
		if unit == 0 {
			unit = durations[strings.TrimSuffix(m[2], "s")]
		}
		if err != nil || unit == 0 {
			break
		}
		if n > float64(spanMost/unit) {
			return 0, false
		}
		total += time.Duration(n * float64(unit))
	}
	ok = total > 0 && total <= spanMost
	if rounded {
		total += time.Minute
	}
	return total, ok
}

// readMoment reads the parts of "6:04 am", "nov 25th, 2026 6:04 am", "2026-11-25 06:04 utc".
func readMoment(m []string) (r reset, ok bool) {
	part := func(i int) int {
		n, _ := strconv.Atoi(strings.Trim(m[i], ":"))
		return n
	}
	switch {
	case m[1] != "":
		r.year, r.month, r.day = part(1), time.Month(part(2)), part(3)
	case m[4] != "":
		r.year, r.month, r.day = part(6), monthOf(m[4]), part(5)
	}
	if dated := m[1]+m[4] != ""; dated && (r.month < 1 || r.month > 12 || r.day < 1 || r.day > 31) {
		return reset{}, false
	}
	r.hour, r.minute = part(7), part(8)
	if m[9] != "" {
		if r.hour < 1 || r.hour > 12 {
			return reset{}, false
		}
		r.hour %= 12
		if m[9] == "pm" {
			r.hour += 12
		}
	}
	r.zone, ok = zoneOf(m[10])
	return r, ok && m[8]+m[9] != "" && r.hour < 24 && r.minute < 60
}

// monthOf returns a month by the beginning of its name, 0 if there is none.
func monthOf(name string) time.Month {
	for month := time.January; month <= time.December; month++ {
		if strings.HasPrefix(strings.ToLower(month.String()), name) {
			return month
		}
	}
	return 0
}

// ambiguous are zones that no program knows for sure.
const ambiguous = " pt pst pdt mt mst mdt ct cst cdt et est edt bst ist cet cest jst "

// zoneOf returns a zone by its name in lower case, nil if the words name none. A moment in an
// unknown zone cannot be waited for.
func zoneOf(name string) (zone *time.Location, ok bool) {
	switch {
	case name == "utc", name == "gmt", name == "z":
		return time.UTC, true
	case strings.ContainsAny(name, "+-"):
		at, err := time.Parse("-07:00", name)
		return at.Location(), err == nil
	case strings.Contains(name, "/"):
		zone, err := time.LoadLocation(zoneName(name))
		return zone, err == nil
	}
	return nil, name == "" || !strings.Contains(ambiguous, " "+name+" ")
}

// zoneName returns a zone as the tz database spells it: America/New_York for america/new_york.
func zoneName(lower string) string {
	name := []byte(lower)
	for i, c := range name {
		if (i == 0 || name[i-1] == '/' || name[i-1] == '_') && c >= 'a' && c <= 'z' {
			name[i] = c - 'a' + 'A'
		}
	}
	return string(name)
}
