package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/journal/event"
)

func TestReplayShowsTheWholeLoopAgain(t *testing.T) {
	r := threeIterations(t)
	got := r.printed(&replayVerb{Source: "night", Speed: "max"})
	for _, want := range []string{"── loop night ── ", "One.", "── iteration 2 of 10 ── ", "- bash  make test\n  ok\n", "Three.", "promise: done"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if account := "3 iterations · 22s · 3.0k tokens in · 300 out · $0.75\n"; !strings.HasSuffix(beforeHash(t, got), account) {
		t.Errorf("it ends with\n%s\nwant %s", got, account)
	}
	if as := r.printed(&replayVerb{Source: "night", Speed: "max", JSON: true}); as != r.printed(&logsVerb{Source: "night", JSON: true}) {
		t.Error("as JSON it prints something else than the journal's lines")
	}
}

// Wherever it begins, the account at the end is of the whole loop.
func TestReplayFromTheMiddle(t *testing.T) {
	r := threeIterations(t)
	account := "3 iterations · 22s · 3.0k tokens in · 300 out · $0.75\n"
	got := r.printed(&replayVerb{Source: "night", Speed: "max", From: 15})
	if strings.Contains(got, "One.") || !strings.Contains(got, "Two.") || !strings.HasSuffix(beforeHash(t, got), account) {
		t.Errorf("from event 15:\n%s", got)
	}
	got = r.printed(&replayVerb{Source: filepath.Join(r.dir, "journal", "000003-i0003.jsonl"), Speed: "max"})
	if strings.Contains(got, "Two.") || !strings.Contains(got, "Three.") || !strings.HasSuffix(beforeHash(t, got), account) {
		t.Errorf("the last segment alone:\n%s", got)
	}
	if got := r.printed(&replayVerb{Source: "night", Speed: "max", From: 1000}); got != "" {
		t.Errorf("from behind the end:\n%s", got)
	}
}

func TestReplayOfADamagedJournalSaysWhere(t *testing.T) {
	r := threeIterations(t)
	segment := filepath.Join(r.dir, "journal", "000002-i0002.jsonl")
	text, err := os.ReadFile(segment)
	r.must(err)
	r.must(os.WriteFile(segment, []byte(strings.Replace(string(text), "Two.", "Too.", 1)), 0o600))
	err = (&replayVerb{Source: "night", Speed: "max"}).Run(r.env)
	if codeOf(err) != event.ExitFailed || !strings.Contains(err.Error(), "000002-i0002.jsonl") {
		t.Errorf("error %v", err)
	}
}

func TestReplayPauses(t *testing.T) {
	for name, c := range map[string]struct {
		speed string
		gap   time.Duration
		want  time.Duration
	}{
		"at once":                    {"max", time.Hour, 0},
		"zero is at once as well":    {"0", time.Hour, 0},
		"as it was":                  {"1", time.Hour, time.Hour},
		"ten times as fast":          {"10", time.Second, 100 * time.Millisecond},
		"with an x":                  {"10x", time.Second, 100 * time.Millisecond},
		"half as fast":               {"0.5", time.Second, 2 * time.Second},
		"no longer than two seconds": {"10", time.Hour, 2 * time.Second},
		"a clock that was set back":  {"1", -time.Hour, -time.Hour}, // which is no pause
	} {
		speed, err := pace(c.speed)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := pause(begin, begin.Add(c.gap), speed); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := pause(time.Time{}, begin, 1); got != 0 {
		t.Errorf("before the first event: %v", got)
	}
	for _, bad := range []string{"", "fast", "-1", "NaN", "Inf"} {
		if _, err := pace(bad); codeOf(err) != event.ExitUsage {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// beforeHash returns the report of a loop that has ended without its last line, the hash of its journal.
func beforeHash(t *testing.T, report string) string {
	t.Helper()
	at := regexp.MustCompile(`journal sha256 [0-9a-f]{64}\n$`).FindStringIndex(report)
	if at == nil {
		t.Fatalf("no hash of the journal ends\n%s", report)
	}
	return report[:at[0]]
}
