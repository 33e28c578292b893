package calendar

import (
	"iter"
	"slices"
	"time"
)

// most is how many years a time is looked for: 29 February is a Sunday once in 40 years at most.
const most = 41

// Times yields the times after one, in their order, in the zone that is given.
func (x Expression) Times(after time.Time, zone *time.Location) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		local := after.In(zone)
		day := time.Date(local.Year(), local.Month(), local.Day()-1, 0, 0, 0, 0, time.UTC)
		for last := day.AddDate(most, 0, 0); day.Before(last); day = day.AddDate(0, 0, 1) {
			if !x.onDay(day) {
				continue
			}
			for _, at := range x.ofDay(day, zone) {
				if !at.After(after) {
					continue
				}
				if !yield(at) {
					return
				}
				last = day.AddDate(most, 0, 0)
			}
		}
	}
}

func (x Expression) onDay(day time.Time) bool {
	n := day.Day()
	if x.fromEnd {
		n = day.AddDate(0, 1, -n).Day() - n + 1
	}
	return x.months.has(int(day.Month())) && x.days.has(n) && x.weekdays.has(int(day.Weekday()))
}

// ofDay returns the times of a day, whose date is given in UTC.
func (x Expression) ofDay(day time.Time, zone *time.Location) (all []time.Time) {
	always := x.hours == span(0, 23)
	for hour := range 24 {
		for minute := range 60 {
			if !x.hours.has(hour) || !x.minutes.has(minute) {
				continue
			}
			first, second, skipped := moments(day.Add(time.Duration(hour)*time.Hour+time.Duration(minute)*time.Minute), zone)
			if !skipped || !always {
				all = append(all, first)
			}
			if always && !second.IsZero() {
				all = append(all, second)
			}
		}
	}
	slices.SortFunc(all, time.Time.Compare)
	return slices.CompactFunc(all, time.Time.Equal)
}

// moments returns when the clocks of a zone show a time, which is given as if they showed UTC:
// once, or twice where they are put back. For a time that they skip it is when they are put
// forward.
func moments(shown time.Time, zone *time.Location) (first, second time.Time, skipped bool) {
	moment := func(near time.Duration) (at time.Time, valid bool) {
		_, offset := shown.Add(near).In(zone).Zone()
		at = shown.Add(-time.Duration(offset) * time.Second).In(zone)
		_, there := at.Zone()
		return at, there == offset
	}
	// The clocks differ from UTC by 14 hours at most, and are not changed twice in two days.
	before, is := moment(-24 * time.Hour)
	after, too := moment(24 * time.Hour)
	switch {
	case is && too && !before.Equal(after):
		return before, after, false
	case is:
		return before, time.Time{}, false
	case too:
		return after, time.Time{}, false
	}
	begin, _ := before.ZoneBounds()
	return begin, time.Time{}, true
}

// Changed returns the times, from one to another, that are within two hours after the clocks of the
// zone were changed, where systemd leaves some out.
func (x Expression) Changed(from, to time.Time, zone *time.Location) (all []time.Time) {
	for at := from; ; {
		_, change := at.In(zone).ZoneBounds()
		if change.IsZero() || change.After(to) {
			return all
		}
		for due := range x.Times(change.Add(-time.Second), zone) {
			if due.Sub(change) > 2*time.Hour {
				break
			}
			all = append(all, due)
		}
		at = change
	}
}
