package fault

import (
	"strconv"
	"strings"
	"time"
)

// Until returns when words say that a limit ends, RFC 3339 in UTC, or "" where they do not say or the moment is over. now is when they were said;
// a moment that names no zone is meant in now's. A time of day without a date is the next one. A minute is told without its
// seconds, and counts with its end. A span below a minute is none worth stating: who asks again in vain soon waits for longer by himself.
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

// Span returns for how long words say to wait, 0 where they do not say or only until which moment.
func Span(words string) time.Duration {
	r, _ := resetIn(words)
	return r.span
}

// States reports whether words say when a limit ends.
func States(words string) bool {
	_, ok := resetIn(words)
	return ok
}

// reset is when a limit ends: after a span, or at a moment of which not all has to be said.
type reset struct {
	span time.Duration // 0 for a moment

	year, day    int // 0 for the next such day
	month        time.Month
	hour, minute int
	zone         *time.Location // nil for the listener's
}

// spanLeast is the shortest span that is worth waiting for as it was stated.
const spanLeast = time.Minute

// after returns the moment; false where it is not to come, or too near to matter.
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
	case r.year == 0 && now.Sub(at) > halfYear: // said in December of January
		at = moment(year+1, day)
	}
	return at, at.After(now)
}

const halfYear = 183 * 24 * time.Hour

// before are the words behind which the end of a limit stands.
var before = []string{"try again", "retry", "resets", "reset", "available again"}

// resetIn finds the first end of a limit that words state.
func resetIn(words string) (reset, bool) {
	tokens := split(words)
	for i := range tokens {
		for _, phrase := range before {
			rest, ok := past(tokens[i:], phrase)
			if !ok {
				continue
			}
			if r, ok := readReset(rest); ok {
				return r, true
			}
		}
	}
	return reset{}, false
}

// past returns what stands behind a phrase with which tokens begin.
func past(tokens []string, phrase string) ([]string, bool) {
	for word := range strings.FieldsSeq(phrase) {
		if len(tokens) == 0 || tokens[0] != word {
			return nil, false
		}
		tokens = tokens[1:]
	}
	return tokens, true
}

func readReset(tokens []string) (reset, bool) {
	if len(tokens) == 0 {
		return reset{}, false
	}
	switch tokens[0] {
	case "in", "after":
		span, ok := readSpan(tokens[1:])
		return reset{span: span}, ok
	case "at", "on":
		tokens = tokens[1:]
	}
	return readMoment(tokens)
}

// split takes words apart into numbers, words of letters and signs, in lower case. Blanks, commas and full stops behind a word say nothing.
func split(words string) []string {
	var tokens []string
	words = strings.ToLower(words)
	for len(words) > 0 {
		n := len(words) - len(strings.TrimLeft(words, "0123456789"))
		if n > 0 && n+1 < len(words) && words[n] == '.' && words[n+1] >= '0' && words[n+1] <= '9' {
			n += 1 + len(words[n+1:]) - len(strings.TrimLeft(words[n+1:], "0123456789"))
		}
		if n == 0 {
			for n < len(words) && (words[n] >= 'a' && words[n] <= 'z' || n > 0 && (words[n] == '_' || words[n] == '/')) {
				n++
			}
		}
		if n == 0 {
			if strings.IndexByte(":+-(~", words[0]) >= 0 {
				tokens = append(tokens, words[:1])
			}
			words = words[1:]
			continue
		}
		tokens = append(tokens, words[:n])
		words = words[n:]
	}
	return tokens
}

// units are how long each is, by how its name begins in words or as it is written short.
var units = []struct {
	names string
	long  time.Duration
}{
	{" w week weeks ", 7 * 24 * time.Hour},
	{" d day days ", 24 * time.Hour},
	{" h hr hrs hour hours ", time.Hour},
	{" m min mins minute minutes ", time.Minute},
	{" s sec secs second seconds ", time.Second},
	{" ms millisecond milliseconds ", time.Millisecond},
}

// spanMost is the longest span that is believed; policy believes less.
const spanMost = 31 * 24 * time.Hour

// readSpan reads "2 hours 5 minutes" and the like. One that is rounded, as "~42 min" is, counts a minute more.
func readSpan(tokens []string) (span time.Duration, ok bool) {
	var rounded time.Duration
	if len(tokens) > 0 && (tokens[0] == "~" || tokens[0] == "about") {
		rounded, tokens = time.Minute, tokens[1:]
	}
	for len(tokens) >= 2 {
		if tokens[0] == "and" {
			tokens = tokens[1:]
			continue
		}
		n, err := strconv.ParseFloat(tokens[0], 64)
		unit := unitOf(tokens[1])
		if err != nil || unit == 0 {
			break
		}
		if n > float64(spanMost/unit) {
			return 0, false
		}
		span += time.Duration(n * float64(unit))
		tokens = tokens[2:]
	}
	return span + rounded, span > 0 && span <= spanMost
}

func unitOf(name string) time.Duration {
	for _, unit := range units {
		if strings.Contains(unit.names, " "+name+" ") {
			return unit.long
		}
	}
	return 0
}

// readMoment reads "6:04 am", "nov 25th, 2026 6:04 am", "2026-11-25 06:04 utc" and the like.
func readMoment(tokens []string) (r reset, ok bool) {
	tokens = r.readDate(tokens)
	if len(tokens) > 0 && (tokens[0] == "at" || tokens[0] == "t") {
		tokens = tokens[1:]
	}
	tokens, ok = r.readClock(tokens)
	if !ok {
		return reset{}, false
	}
	return r, r.readZone(tokens)
}

// readDate takes a date off the front, if there is one.
func (r *reset) readDate(tokens []string) []string {
	if len(tokens) >= 5 && len(tokens[0]) == 4 && tokens[1] == "-" && tokens[3] == "-" {
		year, month, day := number(tokens[0], 9999), number(tokens[2], 12), number(tokens[4], 31)
		if year > 0 && month > 0 && day > 0 {
			r.year, r.month, r.day = year, time.Month(month), day
			return tokens[5:]
		}
	}
	if len(tokens) < 2 || len(tokens[0]) < 3 {
		return tokens
	}
	for month := time.January; month <= time.December; month++ {
		if !strings.HasPrefix(strings.ToLower(month.String()), tokens[0]) {
			continue
		}
		day := number(tokens[1], 31)
		if day <= 0 {
			return tokens
		}
		r.month, r.day = month, day
		tokens = tokens[2:]
		if len(tokens) > 0 && strings.Contains(" st nd rd th ", " "+tokens[0]+" ") {
			tokens = tokens[1:]
		}
		if len(tokens) > 0 && len(tokens[0]) == 4 {
			if year := number(tokens[0], 9999); year > 0 {
				r.year, tokens = year, tokens[1:]
			}
		}
		break
	}
	return tokens
}

// readClock takes a time of day off the front: with minutes, with am or pm, or with both.
func (r *reset) readClock(tokens []string) (rest []string, ok bool) {
	if len(tokens) == 0 {
		return nil, false
	}
	r.hour, tokens = number(tokens[0], 23), tokens[1:]
	if len(tokens) >= 2 && tokens[0] == ":" && len(tokens[1]) == 2 {
		r.minute, ok, tokens = number(tokens[1], 59), true, tokens[2:]
	}
	if len(tokens) >= 2 && tokens[0] == ":" && number(whole(tokens[1]), 60) >= 0 { // seconds
		tokens = tokens[2:]
	}
	if len(tokens) > 0 && (tokens[0] == "am" || tokens[0] == "pm") {
		if r.hour < 1 || r.hour > 12 {
			return nil, false
		}
		r.hour %= 12
		if tokens[0] == "pm" {
			r.hour += 12
		}
		ok, tokens = true, tokens[1:]
	}
	return tokens, ok && r.hour >= 0 && r.minute >= 0
}

// readZone takes a zone off the front, if there is one. One that is not known makes the moment none that can be waited for.
func (r *reset) readZone(tokens []string) (ok bool) {
	if len(tokens) > 0 && tokens[0] == "(" {
		tokens = tokens[1:]
	}
	switch {
	case len(tokens) == 0:
		return true
	case tokens[0] == "utc", tokens[0] == "gmt", tokens[0] == "z":
		r.zone = time.UTC
		return true
	case strings.Contains(ambiguous, " "+tokens[0]+" "):
		return false
	case strings.Contains(tokens[0], "/"):
		zone, err := time.LoadLocation(zoneName(tokens[0]))
		r.zone = zone
		return err == nil
	case (tokens[0] == "+" || tokens[0] == "-") && len(tokens) >= 4 && tokens[2] == ":":
		hours, minutes := number(tokens[1], 14), number(tokens[3], 59)
		if hours < 0 || minutes < 0 {
			return false
		}
		east := hours*3600 + minutes*60
		if tokens[0] == "-" {
			east = -east
		}
		r.zone = time.FixedZone("", east)
	}
	return true
}

// ambiguous are zones of which no program knows for sure which one is meant.
const ambiguous = " pt pst pdt mt mst mdt ct cst cdt et est edt bst ist cet cest jst "

// zoneName spells a zone of the tz database as it does: america/new_york becomes America/New_York.
func zoneName(lower string) string {
	name := []byte(lower)
	for i, c := range name {
		if (i == 0 || name[i-1] == '/' || name[i-1] == '_') && c >= 'a' && c <= 'z' {
			name[i] = c - 'a' + 'A'
		}
	}
	return string(name)
}

// whole is a number without its fraction.
func whole(number string) string {
	number, _, _ = strings.Cut(number, ".")
	return number
}

// number reads digits, and returns -1 for what is none or is above most.
func number(digits string, most int) int {
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n > most {
		return -1
	}
	return n
}
