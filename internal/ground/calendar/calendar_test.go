package calendar

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

func load(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Skipf("the machine does not know the zone %s", name)
	}
	return zone
}

func next(x Expression, after time.Time, zone *time.Location, n int) (all []string) {
	for at := range x.Times(after, zone) {
		if len(all) == n {
			break
		}
		all = append(all, at.Format("Mon 2006-01-02T15:04Z07:00"))
	}
	return all
}

// TestTimesOfExpressions has the forms that can be written, with clocks that change.
func TestTimesOfExpressions(t *testing.T) {
	for _, c := range []struct{ text, zone, after, want string }{
		{"mon-fri 01:00", "Europe/Berlin", "2026-11-27T00:30:00Z", "Mon 2026-11-30T01:00+01:00 Tue 2026-12-01T01:00+01:00"},
		{"Monday..Friday 01:00:00", "Europe/Berlin", "2026-11-27T00:30:00Z", "Mon 2026-11-30T01:00+01:00"},
		{"fri-mon 1:00", "UTC", "2026-11-26T00:30:00Z", "Fri 2026-11-27T01:00Z Sat 2026-11-28T01:00Z Sun 2026-11-29T01:00Z Mon 2026-11-30T01:00Z Fri 2026-12-04T01:00Z"},
		{"mon, wed at 9:05", "UTC", "2026-11-30T09:05:00Z", "Wed 2026-12-02T09:05Z"},
		{"daily 03:30", "UTC", "2026-11-28T03:30:00Z", "Sun 2026-11-29T03:30Z"},
		{"daily", "UTC", "2026-11-28T03:30:00Z", "Sun 2026-11-29T00:00Z"},
		{"hourly", "UTC", "2026-11-28T03:30:00Z", "Sat 2026-11-28T04:00Z Sat 2026-11-28T05:00Z"},
		{"*:0/15", "UTC", "2026-11-28T03:30:00Z", "Sat 2026-11-28T03:45Z Sat 2026-11-28T04:00Z"},
		{"weekdays 9-17/4:30", "UTC", "2026-11-28T03:30:00Z", "Mon 2026-11-30T09:30Z Mon 2026-11-30T13:30Z Mon 2026-11-30T17:30Z"},
		{"weekends 8:00", "UTC", "2026-11-27T03:30:00Z", "Sat 2026-11-28T08:00Z Sun 2026-11-29T08:00Z"},
		{"weekly 08:00", "UTC", "2026-11-27T03:30:00Z", "Mon 2026-11-30T08:00Z"},
		{"monthly 09:00", "UTC", "2026-11-28T03:30:00Z", "Tue 2026-12-01T09:00Z"},
		{"*-*~01 09:00", "UTC", "2026-01-31T10:00:00Z", "Sat 2026-02-28T09:00Z Tue 2026-03-31T09:00Z"},
		{"sun *-02-29", "UTC", "2026-11-28T03:30:00Z", "Sun 2032-02-29T00:00Z Sun 2060-02-29T00:00Z"},
		{"12-24,25 18:00", "UTC", "2026-11-28T03:30:00Z", "Thu 2026-12-24T18:00Z Fri 2026-12-25T18:00Z"},
		// The clock goes forward from 02:00 to 03:00, and back from 03:00 to 02:00.
		{"daily 02:30", "Europe/Berlin", "2026-03-28T12:00:00Z", "Sun 2026-03-29T03:00+02:00 Mon 2026-03-30T02:30+02:00"},
		{"*-*-* 2,3:0,30", "Europe/Berlin", "2026-03-28T12:00:00Z", "Sun 2026-03-29T03:00+02:00 Sun 2026-03-29T03:30+02:00 Mon 2026-03-30T02:00+02:00"},
		{"daily 02:30", "Europe/Berlin", "2026-10-24T12:00:00Z", "Sun 2026-10-25T02:30+02:00 Mon 2026-10-26T02:30+01:00"},
		{"daily 02:30", "Europe/Berlin", "2026-10-25T00:30:00Z", "Mon 2026-10-26T02:30+01:00"},
		{"*:30", "Europe/Berlin", "2026-03-29T00:00:00Z", "Sun 2026-03-29T01:30+01:00 Sun 2026-03-29T03:30+02:00"},
		{"*:30", "Europe/Berlin", "2026-10-24T23:45:00Z", "Sun 2026-10-25T02:30+02:00 Sun 2026-10-25T02:30+01:00 Sun 2026-10-25T03:30+01:00"},
		// By half an hour, and at midnight.
		{"daily 02:15", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", "Sun 2026-10-04T02:30+11:00 Mon 2026-10-05T02:15+11:00"},
		{"daily 00:30", "America/Havana", "2026-03-07T12:00:00Z", "Sun 2026-03-08T01:00-04:00 Mon 2026-03-09T00:30-04:00"},
		{"daily 00:30", "America/Havana", "2026-10-31T12:00:00Z", "Sun 2026-11-01T00:30-04:00 Mon 2026-11-02T00:30-05:00"},
		{"daily 12:00", "Pacific/Kiritimati", "2026-11-27T23:00:00Z", "Sun 2026-11-29T12:00+14:00"},
	} {
		x, err := Parse(c.text)
		if err != nil {
			t.Error(err)
			continue
		}
		after, _ := time.Parse(time.RFC3339, c.after)
		if got := strings.Join(next(x, after, load(t, c.zone), len(strings.Fields(c.want))/2), " "); got != c.want {
			t.Errorf("%s in %s after %s\n is %s\nnot %s", c.text, c.zone, c.after, got, c.want)
		}
	}
}

func TestWrongExpressionsAreRefused(t *testing.T) {
	for _, text := range []string{
		"", " ", "sometimes", "25:00", "01:60", "mon-fry 01:00", "01:00 mon", "daily daily", "*-13-01", "*-*-00", "*-*-32", "1-2-3-4", "01:00:30",
		"*:0/0", "9..5:00", "mon 01:00 02:00", ":", "01:", "8", "mon..", "1970-1-1..", "\x00", "*:*:*", "at", "18446744073709551617:00", "7 01:00", "2027-01-01", "2-30~", "daily UTC 01:00",
	} {
		if x, err := Parse(text); err == nil {
			t.Errorf("%q is read as %+v", text, x)
		}
	}
	x, err := Parse("2-30 01:00")
	if err != nil || next(x, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.UTC, 1) != nil {
		t.Errorf("a day that never is: %+v, %v", x, err)
	}
}

// TestSystemdAgrees compares the times with those of systemd, which leaves out some where clocks
// change: they are those of Changed.
func TestSystemdAgrees(t *testing.T) {
	program, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	berlin := load(t, "Europe/Berlin")
	inUTC := regexp.MustCompile(`in UTC\): \w+ (\S+ \S+) UTC`)
	for _, text := range []string{"mon-fri 01:00", "daily 02:30", "*:30", "monthly 09:00", "*-*~02 03:15", "sat,sun 0/6:00", "*-3,10-24..31 2:0/20"} {
		x, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, begin := range []time.Time{time.Date(2026, 3, 24, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 24, 0, 0, 0, 0, time.UTC)} {
			end := begin.AddDate(0, 0, 10)
			ask := exec.Command(program, "calendar", "--base-time="+begin.Format("2006-01-02 15:04:05 UTC"), "--iterations=250", x.OnCalendar(""))
			ask.Env = []string{"TZ=Europe/Berlin"}
			said, err := ask.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", text, err, said)
			}
			theirs := map[string]bool{}
			for _, found := range inUTC.FindAllStringSubmatch(string(said), -1) {
				theirs[found[1]] = true
			}
			for _, at := range x.Changed(begin, end, berlin) {
				theirs[at.UTC().Format(time.DateTime)] = true
			}
			ours := 0
			for at := range x.Times(begin, berlin) {
				if at.After(end) {
					break
				}
				ours++
				if !theirs[at.UTC().Format(time.DateTime)] {
					t.Errorf("%s: systemd does not know %s", text, at)
				}
			}
			if ours == 0 {
				t.Errorf("%s is never due", text)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"mon-fri 01:00", "*-*~1/2 9..17/3:0/15 UTC", "hourly"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(x.OnCalendar(x.Zone))
		if err != nil || again.OnCalendar("") != x.OnCalendar("") {
			t.Errorf("%q is %q, which is read as %+v: %v", text, x.OnCalendar(x.Zone), again, err)
		}
	})
}
