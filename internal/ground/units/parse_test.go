package units

import (
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	now := time.Date(2026, 11, 21, 2, 0, 0, 0, zone)
	for s, want := range map[string]time.Time{
		"10m":                  now.Add(-10 * time.Minute),
		"2d":                   now.AddDate(0, 0, -2),
		"-10m":                 now.Add(-10 * time.Minute),
		"01:30":                time.Date(2026, 11, 21, 1, 30, 0, 0, zone),
		"01:30:05":             time.Date(2026, 11, 21, 1, 30, 5, 0, zone),
		"23:30":                time.Date(2026, 11, 20, 23, 30, 0, 0, zone), // it was yesterday
		"2026-11-20":           time.Date(2026, 11, 20, 0, 0, 0, 0, zone),
		"today":                time.Date(2026, 11, 21, 0, 0, 0, 0, zone),
		"yesterday":            time.Date(2026, 11, 20, 0, 0, 0, 0, zone),
		"2026-11-20 23:30":     time.Date(2026, 11, 20, 23, 30, 0, 0, zone),
		"2026-11-20T23:30:01":  time.Date(2026, 11, 20, 23, 30, 1, 0, zone),
		"2026-11-20T23:30:00Z": time.Date(2026, 11, 20, 23, 30, 0, 0, time.UTC),
	} {
		if got, ok := ParseTime(s, now); !ok || !got.Equal(want) {
			t.Errorf("%q: %v, %v, want %v", s, got, ok, want)
		}
	}
	for _, bad := range []string{"", "d", "-1d", "someday", "1:2:3:4"} {
		if _, ok := ParseTime(bad, now); ok {
			t.Errorf("%q is a time", bad)
		}
	}
}
