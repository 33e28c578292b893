package calendar

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// An Expression is a set of times, to the minute.
type Expression struct {
	weekdays, months, days, hours, minutes set // the numbers that match; Sunday is 0

	fromEnd bool   // days count from the end of the month; 1 is its last day
	Zone    string // that the expression names; empty for none
}

// A set of numbers below 64.
type set uint64

func (s set) has(n int) bool { return s&(1<<n) != 0 }

// span is the set of the numbers from one to another.
func span(from, to int) set { return (1<<(to-from+1) - 1) << from }

// words are what may be written in place of days, with the time that they mean without one.
var words = map[string][2]string{
	"minutely": {"*-*", "*:*"}, "hourly": {"*-*", "*:0"}, "daily": {"*-*", "0:0"}, "weekly": {"mon", "0:0"},
	"monthly": {"*-1", "0:0"}, "quarterly": {"1,4,7,10-1", "0:0"}, "semiannually": {"1,7-1", "0:0"},
	"yearly": {"1-1", "0:0"}, "annually": {"1-1", "0:0"}, "weekdays": {"mon-fri", "0:0"}, "weekends": {"sat,sun", "0:0"},
}

var weekdays = []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// Forms is a next step for a person whose expression cannot be read.
const Forms = "write it as 'daily 03:30', 'mon-fri 01:00', 'hourly', '*:0/15', 'monthly 09:00' or as OnCalendar of systemd"

// Parse reads an expression: days of the week, a date, a time and a zone, in this order and each
// where it is needed. It means the same as in OnCalendar of systemd; more than that are a word
// such as daily before a time, "at", and a hyphen for a range. Years and seconds cannot be chosen.
func Parse(text string) (Expression, error) {
	x := Expression{weekdays: span(0, 6), months: span(1, 12), days: span(1, 31)}
	err := x.parse(strings.Fields(strings.ReplaceAll(text, ", ", ",")))
	if err != nil {
		err = fmt.Errorf("%q is no expression of times: %w", text, err)
	}
	return x, err
}

func (x *Expression) parse(fields []string) (err error) {
	if len(fields) == 0 {
		return errors.New("it is empty")
	}
	clock, before := "0:0", 0
	if word, ok := words[strings.ToLower(fields[0])]; ok {
		fields[0], clock = word[0], word[1]
	}
	for _, field := range fields {
		lower, kind := strings.ToLower(field), 0
		switch {
		case lower == "at" && before > 0:
			continue
		case strings.Contains(field, ":"):
			kind, clock = 3, lower
		case strings.ContainsAny(field[:1], "*0123456789"):
			kind, err = 2, x.date(lower)
		case lower == "utc":
			kind, x.Zone = 4, "UTC"
		case strings.Contains(field, "/"):
			kind, x.Zone = 4, field
		default:
			kind = 1
			x.weekdays, err = read(lower, 0, 6, weekday)
		}
		if err == nil && kind <= before {
			err = fmt.Errorf("%q is at the wrong place", field)
		}
		if before = kind; err != nil {
			return err
		}
	}
	hours, minutes, _ := strings.Cut(strings.ReplaceAll(strings.TrimSuffix(clock, ":00"), "-", ".."), ":")
	if minutes == "" && strings.HasSuffix(clock, ":00") {
		minutes = "0" // of 01:00
	}
	if x.hours, err = read(hours, 0, 23, number); err == nil {
		x.minutes, err = read(minutes, 0, 59, number)
	}
	return err
}

// date reads MONTH-DAY, or MONTH~DAY where days count from the end, after a year that is any.
func (x *Expression) date(text string) (err error) {
	parts := strings.Split(strings.Replace(text, "~", "-~", 1), "-")
	if len(parts) == 3 && parts[0] == "*" {
		parts = parts[1:]
	}
	if len(parts) != 2 {
		return fmt.Errorf("%q is no date such as *-*-1 or 12-24", text)
	}
	if x.months, err = read(parts[0], 1, 12, number); err == nil {
		parts[1], x.fromEnd = strings.CutPrefix(parts[1], "~")
		x.days, err = read(parts[1], 1, 31, number)
	}
	return err
}

func number(text string) (int, bool) {
	n, err := strconv.ParseUint(text, 10, 16)
	return int(n), err == nil
}

func weekday(text string) (int, bool) {
	for n, day := range weekdays {
		if text == day || text == day[:3] {
			return n, true
		}
	}
	return 0, false
}

// read reads a list of numbers, ranges a..b and steps a/n or a..b/n. A range of days of the week
// may have a hyphen, and go over the end of the week.
func read(text string, least, most int, value func(string) (int, bool)) (all set, err error) {
	if most == 6 {
		text = strings.ReplaceAll(text, "-", "..")
	}
	for part := range strings.SplitSeq(text, ",") {
		numbers, steps, stepped := strings.Cut(part, "/")
		from, to, step, ok := least, most, 1, true
		if numbers != "*" {
			first, last, isRange := strings.Cut(numbers, "..")
			from, ok = value(first)
			valid := true
			switch {
			case isRange:
				to, valid = value(last)
			case !stepped:
				to = from
			}
			ok = ok && valid
		}
		if stepped && ok {
			step, ok = number(steps)
		}
		if ok && most == 6 && from > to {
			all, from = all|span(from, most), least
		}
		if !ok || step == 0 || from < least || to > most || from > to {
			return 0, fmt.Errorf("%q is not in the form or the range that is expected there", part)
		}
		for n := from; n <= to; n += step {
			all |= 1 << n
		}
	}
	return all, nil
}

// AnyDate reports whether the expression is due on each date, or on those of some days of the week.
func (x Expression) AnyDate() bool { return x.months == span(1, 12) && x.days == span(1, 31) }

// AnyDay reports whether it is due on each day.
func (x Expression) AnyDay() bool { return x.AnyDate() && x.weekdays == span(0, 6) }

// OnCalendar spells the expression as systemd reads it, in a zone; "" is that of the machine.
func (x Expression) OnCalendar(zone string) string {
	var days []string
	for n, day := range weekdays {
		if x.weekdays != span(0, 6) && x.weekdays.has(n) {
			days = append(days, strings.ToUpper(day[:1])+day[1:3])
		}
	}
	between := "-"
	if x.fromEnd {
		between = "~"
	}
	return strings.TrimSpace(strings.Join(days, ",") + " *-" + x.months.list(1, 12) + between + x.days.list(1, 31) + " " +
		x.hours.list(0, 23) + ":" + x.minutes.list(0, 59) + ":00 " + zone)
}

func (s set) list(least, most int) string {
	if s == span(least, most) {
		return "*"
	}
	var words []string
	for n := least; n <= most; n++ {
		if s.has(n) {
			words = append(words, fmt.Sprintf("%02d", n))
		}
	}
	return strings.Join(words, ",")
}
