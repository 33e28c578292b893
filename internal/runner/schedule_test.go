package runner

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/ground/config"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestScheduleRulesFollowSettings(t *testing.T) {
	windows := func(w map[string]string) (s config.Settings) {
		s.Limits.Window = w
		return s
	}
	for name, tt := range map[string]struct {
		settings config.Settings
		when     *event.When
		want     *event.ScheduleRules
	}{
		"nothing":          {config.Settings{}, nil, nil},
		"a start":          {config.Settings{}, &event.When{Quota: 30}, &event.ScheduleRules{}},
		"windows in order": {windows(map[string]string{"7d": "80%", "24h": "15"}), nil, &event.ScheduleRules{Windows: []event.Window{{Name: "24h", Span: event.Duration(24 * time.Hour), USD: 15}, {Name: "7d", Span: event.Duration(7 * 24 * time.Hour), Percent: 80}}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, scheduleRules(tt.settings, tt.when)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The accounts of an observation are those of the agents, in their order; what was spent is what
// the loops of the first one spent within each span.
func TestAccountsAreObserved(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	one, two := config.Agent{Command: "claude"}, config.Agent{Command: "claude", Env: map[string]string{"CLAUDE_CONFIG_DIR": "/two"}}
	r := &runner{Config: Config{Home: t.TempDir()}, clock: func() time.Time { return now }}
	r.Settings.Agents, r.Settings.Agent = map[string]config.Agent{"one": one, "two": two}, config.AgentNames{"one", "two"}
	r.Settings.Limits.Window = map[string]string{"24h": "3", "5h": "40%"}
	windows := []event.QuotaWindow{{Minutes: 300, Used: 91}}
	if err := writeQuota(r.Home, accountID(two, nil), quota{now, windows}); err != nil {
		t.Fatal(err)
	}
	for _, s := range []spending{
		{accountID(one, nil), now.Add(-25 * time.Hour), 8}, {accountID(one, nil), now.Add(-2 * time.Hour), 1}, {accountID(two, nil), now, 4}, {accountID(one, nil), now, 2},
	} {
		if err := recordSpending(r.Home, s); err != nil {
			t.Fatal(err)
		}
	}
	o := observer{runner: r}
	var got event.ScheduleObserved
	o.observe(nil, func(seen event.ScheduleObserved) { got = seen })
	want := event.ScheduleObserved{
		Accounts: []event.AccountObserved{{}, {At: now, Windows: windows}},
		Spent:    []event.Spent{{Window: "24h", USD: 3, Since: now.Add(-2 * time.Hour)}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A line that a full disk cut off costs no other one, and a file that cannot be read is not
// emptied. A clock that was far ahead holds no loop for years.
func TestSpendingIsNotLost(t *testing.T) {
	home, now := t.TempDir(), time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	check := func(want float64) {
		t.Helper()
		all, err := spendings(home)
		if got, first := spentWithin(24*time.Hour, all, "a", now); got != want || err != nil || first.After(now.Add(24*time.Hour)) {
			t.Errorf("spent %v, want %v; the first at %v, %v", got, want, first, err)
		}
	}
	add := func(s spending) {
		t.Helper()
		if err := recordSpending(home, s); err != nil {
			t.Fatal(err)
		}
	}
	add(spending{"a", now, 1})
	if text, err := os.ReadFile(spendingFile(home)); err != nil || os.WriteFile(spendingFile(home), append(text, `{"account":"a","co`...), 0o600) != nil {
		t.Fatal(err)
	}
	add(spending{"a", now, 2})
	add(spending{"a", now.AddDate(9, 0, 0), 4})
	check(3)
	if err := os.Truncate(spendingFile(home), maxSpending); err != nil { // only the oldest line is beyond what is read
		t.Fatal(err)
	}
	add(spending{"a", now, 8})
	add(spending{"a", now, 16})
	check(26)
	moved := filepath.Join(home, "moved")
	if err := errors.Join(os.Rename(spendingFile(home), moved), os.Symlink(moved, spendingFile(home))); err != nil {
		t.Fatal(err)
	}
	trimSpending(home, now) // it opens no link
	if err := os.Rename(moved, spendingFile(home)); err != nil {
		t.Fatal(err)
	}
	check(26)
}

func TestGoneLoopHasEnded(t *testing.T) {
	want := &event.LoopObserved{Name: "gone", Ended: true}
	if diff := cmp.Diff(want, observeLoop(filepath.Join(t.TempDir(), "gone"))); diff != "" {
		t.Error(diff)
	}
}
