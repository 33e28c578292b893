package fault

import (
	"testing"
	"time"
)

func TestStatedLimitEnds(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 22, 10, 20, 0, berlin) // 21:10:20 UTC
	for words, want := range map[string]string{
		// Codex
		"You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 2:55 AM.": "2026-11-22T01:56:00Z",
		"You’ve hit your usage limit. Try again at 11:04 PM.":                            "2026-11-21T22:05:00Z",
		"You’ve hit your usage limit. Try again at 10:10 PM.":                            "2026-11-21T21:11:00Z", // this very minute
		"You’ve hit your usage limit. Try again at 10:09 PM.":                            "2026-11-22T21:10:00Z", // over: the next day
		"You’ve hit your usage limit. Try again at Nov 25th, 2026 6:04 AM.":              "2026-11-25T05:05:00Z",
		"You've hit your usage limit. Try again at November 25 6:04 AM, or buy more":     "2026-11-25T05:05:00Z",
		"You've hit your usage limit. Try again at Nov 20th, 2026 6:04 AM.":              "", // over
		"You've hit your usage limit. Try again at Nov 20th 6:04 AM.":                    "", // likewise, and not in a year
		"You've hit your usage limit. Try again at Jan 2nd 6:04 AM.":                     "2027-01-02T05:05:00Z",
		"You've hit your usage limit. Try again in 2 hours 5 minutes.":                   "2026-11-21T23:15:20Z",
		"You've hit your usage limit. Try again in 3 days, 4 hours and 1 minute.":        "2026-11-25T01:11:20Z",
		"You've hit your usage limit. Try again later.":                                  "",
		"rate limit exceeded: try again in 0.1s":                                         "",
		"Rate limit reached for gpt-5.5. Please try again in 1m26.5s. Visit the page.":   "2026-11-21T21:11:47Z",
		"You have hit your ChatGPT usage limit (plus plan). Try again in ~42 min.":       "2026-11-21T21:53:20Z",
		"You have hit your ChatGPT usage limit. Try again in ~99999999999999999999 min.": "",
		"You have exhausted your capacity. Your quota will reset after 18h31m7s.":        "2026-11-22T15:41:27Z",
		"You exceeded your current quota. Please retry in 38.5s.":                        "", // the usual delay does
		"Limit reached · resets 3pm (America/New_York)":                                  "2026-11-22T20:01:00Z",
		"Limit reached · resets Nov 25 at 6am (UTC)":                                     "2026-11-25T06:01:00Z",
		"resets at 23:30":                         "2026-11-21T22:31:00Z",
		"resets at 23:30 UTC":                     "2026-11-21T23:31:00Z",
		"available again at 2026-11-25T06:04:30Z": "2026-11-25T06:05:00Z",
		"try again at 2026-11-25 06:04 +02:00":    "2026-11-25T04:05:00Z",
		"try again at 6:04 AM PST":                "", // which of them
		"try again at 6:04 (Nowhere/Land)":        "",
		"try again at 25:04":                      "",
		"try again at 13 pm":                      "",
		"try again at 5":                          "", // a moment of what
		"try again in a few minutes":              "",
		"at 6:04 AM the request failed":           "", // nothing is said of an end
		"please wait":                             "",
		"":                                        "",
		"try again":                               "",
		"try again in":                            "",
		"retry in 5 potatoes":                     "",
		"try again at Nov 25th, 2026":             "",
		"try again at Feb 99th 6:04 AM":           "",
		"try again in 40 days":                    "",
		"resets in 0 minutes":                     "",
		"resets in 2 weeks":                       "2026-12-05T21:10:20Z",
	} {
		if got := Until(words, now); got != want {
			t.Errorf("%q is until %q, want %q", words, got, want)
		}
	}
	if got := Until("try again in 2 hours", time.Time{}); got != "" {
		t.Errorf("without a clock until %q", got)
	}
}

// The hour that a zone leaves out or has twice, and the last day of a year, are moments as well.
func TestLimitEndsAtMidnight(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		now   time.Time
		words string
		want  string
	}{
		"the hour that is left out":   {time.Date(2027, 3, 28, 1, 0, 0, 0, berlin), "try again at 2:30 AM", "2027-03-28T01:31:00Z"},
		"the day after the change":    {time.Date(2027, 3, 27, 3, 0, 0, 0, berlin), "try again at 2:59 AM", "2027-03-28T02:00:00Z"},
		"the night of the new year":   {time.Date(2026, 12, 31, 23, 59, 0, 0, time.UTC), "try again at 12:30 AM", "2027-01-01T00:31:00Z"},
		"the last minute of the year": {time.Date(2026, 12, 31, 23, 0, 0, 0, time.UTC), "try again at Dec 31st 11:59 PM", "2027-01-01T00:00:00Z"},
		"noon":                        {time.Date(2026, 12, 31, 9, 0, 0, 0, time.UTC), "try again at 12:00 PM", "2026-12-31T12:01:00Z"},
	} {
		if got := Until(row.words, row.now); got != row.want {
			t.Errorf("%s: until %q, want %q", name, got, row.want)
		}
	}
}

func FuzzUntil(f *testing.F) {
	for _, words := range []string{"try again at Nov 25th, 2026 6:04 AM.", "resets 3pm (America/New_York)", "retry in 5.5s", "reset after ~1w2d3h4m5s6ms", "try again at 2026-11-25T06:04:30-07:00"} {
		f.Add(words, int64(1795225663))
	}
	f.Fuzz(func(t *testing.T, words string, seconds int64) {
		now := time.Unix(seconds%(1<<36), 0).UTC()
		said := Until(words, now)
		if said == "" {
			return
		}
		if at, err := time.Parse(time.RFC3339, said); err != nil || !at.After(now) || !States(words) {
			t.Errorf("%q said at %s is until %q: %v", words, now, said, err)
		}
	})
}
