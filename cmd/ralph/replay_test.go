package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render/playback"
)

func TestReplayShowsCompleteLoop(t *testing.T) {
	r := threeIterations(t)
	got := r.printed(&replayVerb{Source: "night", Speed: "max"})
	for _, want := range []string{"── loop night started ── ", "One.", "── iteration 2 of 10 ── ", "- bash  make test\n  ok\n", "Three.", "promise: done"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if account := "3 iterations, $0.75, 22s\npromise: done\n3 tools · 3.0k tokens in · 300 out\n"; !strings.HasSuffix(beforeHash(t, got), account) {
		t.Errorf("it ends with\n%s\nwant %s", got, account)
	}
	if as := r.printed(&replayVerb{Source: "night", Speed: "max", JSON: true}); as != r.printed(&logsVerb{Source: "night", JSON: true}) {
		t.Error("as JSON it does not print the journal's lines")
	}
}

// Wherever the replay begins, the summary at the end is of the whole loop.
func TestReplayFromTheMiddle(t *testing.T) {
	r := threeIterations(t)
	account := "3 iterations, $0.75, 22s\npromise: done\n3.0k tokens in · 300 out\n"
	got := r.printed(&replayVerb{Source: "night", Speed: "max", From: 15})
	if strings.Contains(got, "One.") || !strings.Contains(got, "Two.") || !strings.HasSuffix(beforeHash(t, got), account) {
		t.Errorf("from event 15:\n%s", got)
	}
	got = r.printed(&replayVerb{Source: filepath.Join(r.dir, "journal", "000003-i0003.jsonl"), Speed: "max"})
	if strings.Contains(got, "Two.") || !strings.Contains(got, "Three.") || !strings.HasSuffix(beforeHash(t, got), account) {
		t.Errorf("the last segment alone:\n%s", got)
	}
	if got := r.printed(&replayVerb{Source: "night", Speed: "max", From: 1000}); got != "" {
		t.Errorf("from after the end:\n%s", got)
	}
}

// Every verb that reads from the beginning shows everything before the damage.
func TestDamagedJournalIsShownPartly(t *testing.T) {
	r := threeIterations(t)
	segment := filepath.Join(r.dir, "journal", "000002-i0002.jsonl")
	text, err := os.ReadFile(segment)
	r.must(err)
	r.must(os.WriteFile(segment, []byte(strings.Replace(string(text), "Two.", "Too.", 1)), 0o600))
	for name, c := range map[string]struct {
		verb interface{ Run(*cli.Env) error }
		want string
	}{
		"replay":         {&replayVerb{Source: "night", Speed: "max"}, "One."},
		"replay as JSON": {&replayVerb{Source: "night", Speed: "max", JSON: true}, `"iteration.started"`},
		"logs":           {&logsVerb{Source: "night"}, "One."},
		"the last logs":  {&logsVerb{Source: r.copied("000003-i0003.jsonl"), Lines: 5}, "iteration.started"},
	} {
		r.out.reset()
		err = c.verb.Run(r.env)
		if codeOf(err) != event.ExitFailed || !strings.Contains(err.Error(), "000002-i0002.jsonl: line ") || !regexp.MustCompile(`; it can be read up to event \d+$`).MatchString(err.Error()) {
			t.Errorf("%s: error %v", name, err)
		}
		if shown := r.out.String(); !strings.Contains(shown, c.want) || strings.Contains(shown, "Three.") {
			t.Errorf("%s: shown is\n%s", name, shown)
		}
	}
}

// copied is a copy of the loop's folder without one of its segments.
func (r *recorded) copied(without string) (dir string) {
	r.t.Helper()
	dir = filepath.Join(r.t.TempDir(), "copy")
	r.must(os.CopyFS(dir, os.DirFS(r.dir)))
	r.must(os.Remove(filepath.Join(dir, "journal", without)))
	return dir
}

// A segment may have any name, or come from stdin.
func TestReplayOfRenamedSegment(t *testing.T) {
	r := threeIterations(t)
	segment := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(r.dir, "journal", name))
		r.must(err)
		return text
	}
	first, second := segment("000001-i0001.jsonl"), segment("000002-i0002.jsonl")
	renamed := filepath.Join(t.TempDir(), "yesterday")
	r.must(os.WriteFile(renamed, second, 0o600))
	if got := r.printed(&replayVerb{Source: renamed}); strings.Contains(got, "One.") || !strings.Contains(got, "Two.") {
		t.Errorf("a renamed segment:\n%s", got)
	}
	for _, both := range []string{string(first) + string(second), string(first) + string(second) + `{"v":1,"se`} {
		r.env.Stdin = strings.NewReader(both)
		if got := r.printed(&replayVerb{Source: "-"}); !strings.Contains(got, "One.") || !strings.Contains(got, "Two.") {
			t.Errorf("two segments from stdin:\n%s", got)
		}
	}
	r.env.Stdin = strings.NewReader(string(first))
	if got := r.printed(&logsVerb{Source: "-", Lines: 1}); strings.Count(got, "\n") != 1 || !strings.Contains(got, "segment.sealed") {
		t.Errorf("the last line of stdin:\n%s", got)
	}
	r.env.Stdin = strings.NewReader(string(first) + strings.Replace(string(second), "Two.", "Too.", 1))
	if err := (&replayVerb{Source: "-"}).Run(r.env); codeOf(err) != event.ExitFailed || !strings.Contains(err.Error(), "journal stdin: line ") {
		t.Errorf("damage in stdin: %v", err)
	}
}

func TestReplayOfSomeIterations(t *testing.T) {
	r := threeIterations(t)
	for _, span := range []string{"2", "2..2", "2-2"} {
		got := r.printed(&replayVerb{Source: "night", Iteration: span})
		if strings.Contains(got, "One.") || !strings.Contains(got, "Two.") || strings.Contains(got, "Three.") {
			t.Errorf("%s:\n%s", span, got)
		}
	}
	if got := r.printed(&replayVerb{Source: "night", Iteration: "2.."}); strings.Contains(got, "One.") || !strings.Contains(got, "Three.") {
		t.Errorf("from the second on:\n%s", got)
	}
}

// A decision that today's rules would not make is reported with both sides.
func TestReplayVerifyReportsDifference(t *testing.T) {
	r := record(t, "night") // whose decisions the test makes up
	r.iterate(1, "One.")
	err := (&replayVerb{Source: "night", Verify: true}).Run(r.env)
	if codeOf(err) != event.ExitFailed || !strings.Contains(err.Error(), "decide something else at event 3,") {
		t.Errorf("error %v", err)
	}
	for _, want := range []string{"event 3\n", "recorded  no decision\n", `today     decided {"do":"iteration.begin"`, "because   otherwise the next iteration begins\n"} {
		if got := r.out.String(); !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	r.out.reset()
	err = (&replayVerb{Source: "night", Verify: true, JSON: true}).Run(r.env)
	if want := `"ok":false,"events":3,"decisions":0,"seq":3,"rule":"otherwise the next iteration begins","decided":{"type":"decided","data":{"do":"iteration.begin"`; err == nil || !strings.Contains(r.out.String(), want) {
		t.Errorf("%v\n%s", err, r.out.String())
	}
}

func TestReplayInColour(t *testing.T) {
	r := threeIterations(t)
	if got := r.printed(&replayVerb{Source: "night", Color: "always"}); !strings.Contains(got, "\x1b[") {
		t.Errorf("there is no colour in\n%s", got)
	}
	if got := r.printed(&replayVerb{Source: "night", Color: "auto"}); strings.Contains(got, "\x1b[") {
		t.Errorf("there is colour outside of a terminal: %q", got)
	}
}

func TestReplaySpeed(t *testing.T) {
	for name, c := range map[string]struct {
		verb     replayVerb
		terminal bool
		want     float64
	}{
		"for a person":       {replayVerb{}, true, playback.DefaultSpeed},
		"for a file":         {replayVerb{}, false, playback.NoDelay},
		"lines for a person": {replayVerb{JSON: true}, true, playback.NoDelay},
		"as asked for":       {replayVerb{Speed: "max"}, true, playback.NoDelay},
	} {
		if got, err := c.verb.speed(c.terminal); got != c.want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// beforeHash returns the report of an ended loop without its last line, the journal's hash.
func beforeHash(t *testing.T, report string) string {
	t.Helper()
	at := regexp.MustCompile(`journal sha256 [0-9a-f]{64}\n$`).FindStringIndex(report)
	if at == nil {
		t.Fatalf("no hash of the journal ends\n%s", report)
	}
	return report[:at[0]]
}
