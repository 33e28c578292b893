package why

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/journal"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/render"
)

var update = flag.Bool("update", false, "write the golden files again")

// stories are loops, each with the event that is asked about: the last of a type, or for none the
// present state.
var stories = map[string]struct {
	of   event.Type
	play func(t *testing.T) *world
}{
	"refused_claim": {event.TypeCompletionRefused, func(t *testing.T) *world {
		w := start(t, func(r *event.Rules) { r.Guardrails = 1 }, event.Setting{Key: "guardrails", Value: `[{"command":"make test"}]`, From: ".ralph/settings.json:3"})
		w.begin()
		w.said("<promise>COMPLETE</promise>", 0)
		w.answer(event.DoCheck, "loop", event.FolderInspected{Boxes: 2, Ticked: 1, Open: []string{"write the test"}},
			event.GuardrailStarted{Name: "make test"}, event.GuardrailEnded{Name: "make test", Code: 2, Action: "APPEND"}, event.IterationChecked{Guardrails: 1, Failed: 1})
		w.begin()
		return w
	}},
	"refused_for_its_strength": {event.TypeCompletionRefused, func(t *testing.T) *world {
		w := proving(t)
		w.answer(event.DoProve, "loop", event.ProofEnded{Strength: event.Strength{
			Grade:      event.GradeWeak,
			Mutants:    event.Mutants{Survived: 4, Tried: 4},
			Guardrails: []event.GuardrailProof{{Command: "make test", Verdict: event.Vacuous}},
			Survivors:  []event.Mutant{{File: "cart.go", Line: 12, Was: "if n > 3 {", Now: "if n >= 3 {"}},
		}})
		return w
	}},
	"proving": {"", proving},
	"stories_open": {event.TypeCompletionRefused, func(t *testing.T) *world {
		w := overStories(t)
		w.beginStory(event.ModeImplement, event.StoryState{ID: "US-001"})
		w.said("<promise>COMPLETE</promise>", 1)
		w.judged(event.ModeImplement, "US-001: only a review may approve a story", event.StoryState{ID: "US-001", ReviewStatus: event.StoryNeedsReview})
		w.beginStory(event.ModeReview, event.StoryState{ID: "US-001", ReviewStatus: event.StoryNeedsReview})
		w.said("It is wrong.", 1)
		w.judged(event.ModeReview, "", event.StoryState{ID: "US-001", ReviewStatus: event.StoryChangesRequested, ReviewCount: 1})
		w.beginStory(event.ModeReviewFix, event.StoryState{ID: "US-001", ReviewStatus: event.StoryChangesRequested, ReviewCount: 1})
		return w
	}},
	"stories_done": {"", func(t *testing.T) *world {
		w := overStories(t)
		w.beginStory(event.ModeReview, event.StoryState{ID: "US-001", ReviewStatus: event.StoryNeedsReview})
		w.said("It is right.", 1)
		w.judged(event.ModeReview, "", event.StoryState{ID: "US-001", Passes: true, ReviewStatus: event.StoryApproved, ReviewCount: 1})
		w.exits()
		return w
	}},
	"stories_done_before": {event.TypeStoriesRead, func(t *testing.T) *world {
		w := overStories(t)
		w.answer(event.DoBegin, "loop", event.StoriesRead{Mode: event.ModeImplement, Done: true, Stories: []event.StoryState{{ID: "US-001", Passes: true, ReviewStatus: event.StoryApproved}}})
		return w
	}},
	"refused_now": {"", func(t *testing.T) *world {
		w := start(t, nil)
		w.begin()
		w.said("<promise>COMPLETE</promise>", 0)
		w.looked(repo("one"))
		w.begin()
		return w
	}},
	"killed_turn": {event.TypeDecided, func(t *testing.T) *world {
		w := start(t, nil)
		w.begin()
		w.step("inbox:01JD000000000000000000000F", event.CommandReceived{ID: "01JD000000000000000000000F", Kind: event.CommandStopNow, From: "cli:ada@host"})
		return w
	}},
	"empty_environment": {"", func(t *testing.T) *world {
		w := start(t, nil)
		for range 3 {
			w.begin()
			w.step(agent, event.AgentFinished{Outcome: "ok"})
			w.parked()
			w.looked()
			if w.engine.State().Wait != nil {
				w.after(time.Minute, "clock", 0, event.TimerFired{Name: "restart"})
			}
		}
		w.exits()
		return w
	}},
	"present_iteration": {"", func(t *testing.T) *world {
		w := start(t, nil)
		w.begin()
		w.said("I did a part.", 2)
		w.looked(repo("one"))
		w.begin()
		return w
	}},
	"completed": {"", func(t *testing.T) *world {
		w := start(t, nil)
		w.begin()
		w.said("<promise>COMPLETE</promise>", 2)
		w.looked(repo("one"))
		w.exits()
		return w
	}},
	"rate_limit": {"", func(t *testing.T) *world {
		w := start(t, nil)
		w.begin()
		w.step(agent, event.AgentLimited{Kind: event.KindRate, Until: "2026-11-21T02:00:00Z", Text: "this account has used up its requests"})
		w.fails(event.KindRate, "429 too many requests")
		return w
	}},
	"outage": {"", func(t *testing.T) *world {
		w := start(t, nil)
		for range 2 {
			w.begin()
			w.fails(event.KindOverload, "529 overloaded")
			w.after(time.Hour, "clock", 0, event.TimerFired{Name: "limit"})
		}
		w.begin()
		w.fails(event.KindOverload, "529 overloaded")
		return w
	}},
	"restart_delay": {"", func(t *testing.T) *world {
		w := start(t, nil, event.Setting{Key: "restart.delay", Value: "2s", From: ".ralph/settings.json:4"})
		w.begin()
		w.fails(event.KindOther, "the model lost the thread")
		w.looked(repo("one"))
		return w
	}},
	"breaker": {"", func(t *testing.T) *world {
		w := start(t, func(r *event.Rules) { r.Breaker.NoProgress = 3 }, event.Setting{Key: "breaker.noProgress", Value: "3", From: "the command line"})
		for range 4 { // the first one changes something
			w.begin()
			w.said("I think about it.", 1)
			w.looked(repo("one"))
			if w.engine.State().Wait != nil {
				w.after(time.Minute, "clock", 0, event.TimerFired{Name: "breaker"})
			}
		}
		w.exits()
		return w
	}},
	"cost_limit": {"", func(t *testing.T) *world {
		w := start(t, func(r *event.Rules) { r.Limits.Cost = 1 }, event.Setting{Key: "limits.cost", Value: "1", From: ".ralph/settings.json:2"})
		w.step("inbox:01JD000000000000000000000C", event.CommandReceived{ID: "01JD000000000000000000000C", Kind: event.CommandSet, From: "cli:ada@host", Key: "limits.cost", Val: "2"})
		for i, file := range []string{"one", "two", "three"} {
			w.begin()
			w.step(agent, event.AgentUsed{In: 100, Out: 20, USD: usd(0.6 * float64(i+1))})
			w.said("More is to be done.", 1)
			w.looked(repo(file))
			if len(w.todo) > 0 && w.todo[0].do == event.DoAbort {
				break
			}
		}
		w.exits()
		return w
	}},
	"stopped": {"", func(t *testing.T) *world {
		w := start(t, nil)
		w.begin()
		w.step("inbox:01JD000000000000000000000B", event.CommandReceived{ID: "01JD000000000000000000000B", Kind: event.CommandStop, From: "cli:ada@host", Text: "enough for today"})
		w.said("I did a part.", 1)
		w.looked(repo("one"))
		w.exits()
		return w
	}},
	"resumed": {"", func(t *testing.T) *world {
		w := start(t, nil)
		w.begin()
		w.step(agent, event.AgentSaid{Block: "1", Text: event.Plain("I begin."), Final: true})
		w.crash()
		w.begin()
		return w
	}},
	"blocked": {"", func(t *testing.T) *world {
		w := start(t, nil)
		w.begin()
		w.said("I cannot go on.\n<blocked>the password of the test server</blocked>", 1)
		w.looked(repo("one"))
		w.exits()
		return w
	}},
	"failover": {event.TypeAgentReplaced, func(t *testing.T) *world {
		w := start(t, func(r *event.Rules) {
			r.Agents = []event.Agent{{Name: "claude", Protocol: "claude"}, {Name: "codex", Protocol: "codex"}}
		},
			event.Setting{Key: "agent", Value: `["claude","codex"]`, From: ".ralph/settings.json:2"})
		w.begin()
		w.step(agent, event.AgentLimited{Kind: event.KindRate, Until: "2026-11-21T02:00:00Z", Text: "limit reached"})
		w.fails(event.KindRate, "limit reached")
		return w
	}},
	"reviewer": {event.TypeAgentReplaced, func(t *testing.T) *world {
		w := start(t, func(r *event.Rules) {
			r.Stories, r.Review.Cap, r.Reviewers = true, 5, 1
			r.Agents = []event.Agent{{Name: "claude", Protocol: "claude"}, {Name: "codex", Protocol: "codex"}}
		},
			event.Setting{Key: "review.agent", Value: "codex", From: ".ralph/settings.json:2"})
		w.beginStory(event.ModeImplement, event.StoryState{ID: "US-001"})
		w.said("It is written.", 1)
		w.judged(event.ModeImplement, "", event.StoryState{ID: "US-001", ReviewStatus: event.StoryNeedsReview})
		return w
	}},
	"held": {"", func(t *testing.T) *world { return held(t) }},
	"held_no_longer": {event.TypeLoopReleased, func(t *testing.T) *world {
		w := held(t)
		w.after(12*time.Hour, "clock", 0, event.TimerFired{Name: "held"})
		w.answer(event.DoObserve, "loop", event.ScheduleObserved{})
		return w
	}},
	"idle": {event.TypeDecided, func(t *testing.T) *world {
		w := start(t, nil)
		w.begin()
		w.step(agent, event.AgentSaid{Block: "1", Text: event.Plain("Let me think"), Final: true})
		w.after(11*time.Minute, "clock", 0, event.TimerFired{Name: "idle"})
		return w
	}},
	"waits_for_a_person": {"", func(t *testing.T) *world {
		w := start(t, nil)
		w.begin()
		w.step("inbox:01JD000000000000000000000D", event.CommandReceived{ID: "01JD000000000000000000000D", Kind: event.CommandWait, From: "agent", Text: "look at the screenshots"})
		w.said("I wait.", 1)
		w.looked(repo("one"))
		return w
	}},
	"paused": {"", func(t *testing.T) *world {
		w := start(t, nil)
		w.begin()
		w.step("inbox:01JD000000000000000000000E", event.CommandReceived{ID: "01JD000000000000000000000E", Kind: event.CommandPause, From: "cli:ada@host"})
		w.said("I did a part.", 1)
		w.looked(repo("one"))
		return w
	}},
	"outcome_of_a_check": {event.TypeGuardrailStarted, func(t *testing.T) *world {
		w := start(t, func(r *event.Rules) { r.Guardrails = 1 })
		w.begin()
		w.said("I did a part.", 1)
		w.answer(event.DoCheck, "loop", event.FolderInspected{}, event.GuardrailStarted{Name: "make test"}, event.GuardrailEnded{Name: "make test", OK: true}, event.IterationChecked{Guardrails: 1})
		w.begin()
		return w
	}},
}

// lastOf returns the number of the last event of a type.
func lastOf(t *testing.T, dir string, of event.Type) (seq event.Seq) {
	t.Helper()
	for e, err := range journal.Read(dir, journal.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == of {
			seq = e.Seq
		}
	}
	if seq == 0 {
		t.Fatalf("there is no %s", of)
	}
	return seq
}

// held is a loop whose account has spent too much.
func held(t *testing.T) *world {
	w := start(t, func(r *event.Rules) {
		r.Schedule = &event.ScheduleRules{Windows: []event.Window{{Name: "24h", Span: event.Duration(24 * time.Hour), USD: 3}}}
	}, event.Setting{Key: "limits.window", Value: `{"24h":"3"}`, From: ".ralph/settings.json:2"})
	w.answer(event.DoObserve, "loop", event.ScheduleObserved{Spent: []event.Spent{{Window: "24h", USD: 4, Since: time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)}}})
	return w
}

func answerTo(t *testing.T, dir string, of event.Type) *Answer {
	t.Helper()
	var a *Answer
	var err error
	if of == "" {
		a, err = explainLast(dir, true, true)
	} else {
		a, err = explainAt(dir, lastOf(t, dir, of))
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// proving is a loop whose claim waits for the proof of the guardrails.
func proving(t *testing.T) *world {
	w := start(t, func(r *event.Rules) {
		r.Guardrails, r.Completion.Require = 1, "proved"
		r.Prove = event.ProveRules{Auto: "end", Time: event.Duration(time.Minute), Mutants: 4, Strong: 70}
	})
	w.begin()
	w.said("<promise>COMPLETE</promise>", 2)
	w.answer(event.DoCheck, "loop", repo("one"), event.GuardrailStarted{Name: "make test"}, event.GuardrailEnded{Name: "make test", OK: true},
		event.IterationChecked{Guardrails: 1})
	return w
}

func TestAnswers(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for name, story := range stories {
		t.Run(name, func(t *testing.T) {
			w := story.play(t)
			a := answerTo(t, w.dir, story.of)
			if a.Differs {
				t.Error("the rule is unknown")
			}
			got := a.text(now, textOptions{Options: render.Options{Width: 100}, chain: story.of != ""})
			golden(t, name, got)
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}

// TestSettingOfUnreadEvent is about a setting that was changed before the part of the journal that
// is read.
func TestSettingOfUnreadEvent(t *testing.T) {
	early := usual()
	tr := newTrace()
	tr.origins.given(2, &event.Settings{Values: []event.Setting{{Key: "limits.cost", Value: "1", From: "a file"}}}, early, early)
	early.Limits.Cost = 1
	tr.early, tr.state.Rules = &early, early
	if got := tr.setting("limits.cost").String(); got != "limits.cost = 1 (a file, since event 2)" {
		t.Error(got)
	}
	tr.state.Rules.Limits.Cost = 2
	if got := tr.setting("limits.cost").String(); got != "limits.cost = 2 (changed in an earlier event)" {
		t.Error(got)
	}
	if got := tr.setting("limits.tokens").String(); got != "limits.tokens = none (built-in)" {
		t.Error(got)
	}
}

// TestEveryEventHasAnswer asks about each event of each story; in the short run about every fourth.
func TestEveryEventHasAnswer(t *testing.T) {
	for name, story := range stories {
		t.Run(name, func(t *testing.T) {
			w := story.play(t)
			var last event.Seq
			for e, err := range journal.Read(w.dir, journal.ReadOptions{}) {
				if err != nil {
					t.Fatal(err)
				}
				last = e.Seq
			}
			step := event.Seq(1)
			if testing.Short() {
				step = 4
			}
			for seq := event.Seq(1); seq <= last; seq += step {
				a, err := explainAt(w.dir, seq)
				if err != nil {
					t.Fatalf("event %d: %v", seq, err)
				}
				if a.Answer == "" || !strings.HasSuffix(a.Question, "?") || a.Event == nil || a.Event.Seq != seq || a.Differs {
					t.Errorf("event %d: %+v", seq, a)
				}
				for _, fact := range a.Facts {
					if fact.Seq >= seq {
						t.Errorf("event %d: fact %d came later", seq, fact.Seq)
					}
				}
			}
		})
	}
}

// Of old iterations not all is folded: the answers are the same.
func TestOldIterationsChangeNothing(t *testing.T) {
	w := start(t, nil)
	const iterations = 7
	for n := range iterations {
		w.begin()
		w.said(fmt.Sprintf("Part %d of it is done.", n), 2)
		w.looked(repo(fmt.Sprint(n / 2)))
	}
	last := w.engine.State().Seq
	partly := 0
	for seq := event.Seq(1); seq <= last; seq++ {
		got, err := explainAt(w.dir, seq)
		if err != nil {
			t.Fatal(err)
		}
		var at trace
		from, err := at.window(w.dir, seq)
		if err != nil {
			t.Fatal(err)
		}
		if at.exactFrom > 0 {
			partly++
		}
		want, err := newTrace().explainAt(w.dir, from, seq)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("event %d (-want +got):\n%s", seq, diff)
		}
	}
	if partly < int(last)/2 {
		t.Errorf("of %d events only %d are explained without the state of old iterations", last, partly)
	}
}
