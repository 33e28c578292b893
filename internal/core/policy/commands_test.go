package policy_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/journal/event"
)

// post folds events into Commands.
func post(t testing.TB, m *policy.Commands, story ...event.Payload) *policy.Commands {
	t.Helper()
	var l policy.Lifecycle
	for _, p := range story {
		fold(m, &l, noon, p)
	}
	return m
}

func received(id string, kind event.CommandKind) event.Payload {
	return event.CommandReceived{ID: id, Kind: kind, Text: "text of " + id}
}

func waiting(messages []policy.Message) (ids []string) {
	for _, m := range messages {
		ids = append(ids, m.ID)
	}
	return ids
}

func TestMessagesWaitUntilAnswered(t *testing.T) {
	begin := event.IterationStarted{N: 2, Commands: []string{"a", "b"}}
	steer := event.Decided{Do: event.DoSteer, Command: "a"}
	for name, row := range map[string]struct {
		story []event.Payload
		words []string // for the next prompt
		open  []string
	}{
		"words wait in the order in which they came":                  {nil, []string{"a", "b"}, []string{"a", "b"}},
		"what is sent into the turn waits for its answer only":        {[]event.Payload{steer}, []string{"b"}, []string{"a", "b"}},
		"what the turn did not take waits for the next prompt":        {[]event.Payload{steer, event.EffectFailed{Do: event.DoSteer, Command: "a"}}, []string{"a", "b"}, []string{"a", "b"}},
		"what the turn never confirmed waits for the next prompt":     {[]event.Payload{steer, event.IterationEnded{N: 1}}, []string{"a", "b"}, []string{"a", "b"}},
		"what a prompt holds is not put into another":                 {[]event.Payload{begin}, nil, []string{"a", "b"}},
		"what an unread prompt held goes into the next":               {[]event.Payload{begin, event.IterationEnded{N: 2}}, []string{"a", "b"}, []string{"a", "b"}},
		"what is delivered is done with":                              {[]event.Payload{event.CommandDelivered{ID: "a"}}, []string{"b"}, []string{"b"}},
		"what is refused is done with":                                {[]event.Payload{event.CommandRefused{ID: "b"}}, []string{"a"}, []string{"a"}},
		"an answer to an unknown command changes nothing":             {[]event.Payload{event.CommandDelivered{ID: "z"}, event.CommandRefused{ID: ""}}, []string{"a", "b"}, []string{"a", "b"}},
		"other effects have nothing to do with words":                 {[]event.Payload{event.Decided{Do: event.DoStart, Command: "a"}, event.EffectFailed{Do: event.DoStart, Command: "a"}}, []string{"a", "b"}, []string{"a", "b"}},
		"only words go into a prompt":                                 {[]event.Payload{received("c", event.CommandPause), received("d", event.CommandSet), received("e", event.CommandStop)}, []string{"a", "b"}, []string{"a", "b", "c", "d", "e"}},
		"words outlive the runner":                                    {[]event.Payload{event.LoopResumed{}}, []string{"a", "b"}, []string{"a", "b"}},
		"what a dead runner had sent waits again when its turn ends":  {[]event.Payload{steer, event.LoopResumed{}, event.IterationEnded{N: 1}}, []string{"a", "b"}, []string{"a", "b"}},
		"what a dead runner had put into a prompt waits again, too":   {[]event.Payload{begin, event.LoopResumed{}, event.IterationEnded{N: 2}}, []string{"a", "b"}, []string{"a", "b"}},
		"what was held is held no longer when the iteration is over":  {[]event.Payload{steer, event.EffectFailed{Do: event.DoSteer, Command: "a"}, event.IterationEnded{N: 1}}, []string{"a", "b"}, []string{"a", "b"}},
		"a delivery that comes after the turn still answers the word": {[]event.Payload{steer, event.IterationEnded{N: 1}, event.CommandDelivered{ID: "a", How: "live"}}, []string{"b"}, []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := post(t, &policy.Commands{}, received("a", event.CommandSteer), received("b", event.CommandFollowUp))
			post(t, m, row.story...)
			if diff := cmp.Diff(row.words, waiting(m.Messages())); diff != "" {
				t.Errorf("for the next prompt:\n%s", diff)
			}
			if diff := cmp.Diff(row.open, waiting(m.Open)); diff != "" {
				t.Errorf("open:\n%s", diff)
			}
		})
	}
}

func TestHeldMessagesWaitForPrompt(t *testing.T) {
	m := post(t, &policy.Commands{}, received("a", event.CommandSteer), event.Decided{Do: event.DoSteer, Command: "a"})
	if !m.Open[0].Sent || m.Open[0].Held {
		t.Errorf("after it was sent: %+v", m.Open[0])
	}
	post(t, m, event.EffectFailed{Do: event.DoSteer, Command: "a"})
	if m.Open[0].Sent || !m.Open[0].Held {
		t.Errorf("after it was not taken: %+v", m.Open[0])
	}
	post(t, m, event.IterationEnded{N: 1})
	if m.Open[0].Sent || m.Open[0].Held {
		t.Errorf("after the iteration: %+v", m.Open[0])
	}
}

// granted is a command that was received and answered: only then it takes effect.
func granted(kinds ...event.CommandKind) []event.Payload {
	var story []event.Payload
	for i, kind := range kinds {
		id := string(rune('a' + i))
		story = append(story, received(id, kind), event.CommandDelivered{ID: id})
	}
	return story
}

func fromSignal(kind event.CommandKind) []event.Payload {
	return []event.Payload{event.CommandReceived{ID: "s", Kind: kind, From: policy.FromSignal}}
}

func TestStrongestStopWins(t *testing.T) {
	answered := event.CommandDelivered{ID: "s"}
	for name, row := range map[string]struct {
		story    []event.Payload
		stopping event.CommandKind
		signal   bool
	}{
		"no end is requested":        {nil, "", false},
		"stop":                       {granted(event.CommandStop), event.CommandStop, false},
		"stop grows into stop --now": {granted(event.CommandStop, event.CommandStopNow), event.CommandStopNow, false},
		"and into kill":              {granted(event.CommandStop, event.CommandKill), event.CommandKill, false},
		"kill does not shrink":       {granted(event.CommandKill, event.CommandStopNow, event.CommandStop), event.CommandKill, false},
		"a command takes effect when it is answered":    {[]event.Payload{received("a", event.CommandStop)}, "", false},
		"a resume takes no stop back":                   {granted(event.CommandStop, event.CommandResume), event.CommandStop, false},
		"a signal says that it is one":                  {append(fromSignal(event.CommandStop), answered), event.CommandStop, true},
		"a person's command after a signal replaces it": {append(append(fromSignal(event.CommandStop), answered), granted(event.CommandKill)...), event.CommandKill, true},
		"only an end comes from a signal":               {append(fromSignal(event.CommandSteer), answered), "", false},
		"a loop that is resumed stops no longer":        {append(granted(event.CommandKill), event.LoopResumed{}), "", false},
		"the next runner answers an unanswered stop": {
			[]event.Payload{received("a", event.CommandStop), event.LoopResumed{Died: true}, event.CommandDelivered{ID: "a"}}, event.CommandStop, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := post(t, &policy.Commands{}, row.story...)
			if m.Stopping != row.stopping || m.Signal != row.signal {
				t.Errorf("stopping %q by signal %v, want %q %v", m.Stopping, m.Signal, row.stopping, row.signal)
			}
		})
	}
}

func TestSignalIsStaleAfterResume(t *testing.T) {
	m := post(t, &policy.Commands{}, append(fromSignal(event.CommandStop), received("a", event.CommandStop), event.LoopResumed{Died: true})...)
	if !m.Open[0].Stale || m.Open[1].Stale {
		t.Errorf("after a new runner: %+v", m.Open)
	}
}

func TestPausing(t *testing.T) {
	for name, row := range map[string]struct {
		story []event.Payload
		want  bool
	}{
		"a pause is requested":           {granted(event.CommandPause), true},
		"a resume takes it back":         {append(granted(event.CommandPause), event.LoopUnpaused{}), false},
		"the loop pauses":                {[]event.Payload{event.LoopPaused{}}, true},
		"the loop goes on":               {[]event.Payload{event.LoopPaused{}, event.LoopUnpaused{}}, false},
		"a loop that is resumed goes on": {append(granted(event.CommandPause), event.LoopPaused{}, event.LoopResumed{}), false},
	} {
		t.Run(name, func(t *testing.T) {
			if m := post(t, &policy.Commands{}, row.story...); m.Pausing != row.want {
				t.Errorf("pausing is %v", m.Pausing)
			}
		})
	}
}

func TestRepeatedCommandIsKnown(t *testing.T) {
	m := &policy.Commands{}
	id := func(n int) string { return fmt.Sprintf("%026d", n) }
	for n := range 3000 {
		if m.Has(id(n)) {
			t.Fatalf("command %d is known before it came", n)
		}
		post(t, m, received(id(n), event.CommandSteer), event.CommandDelivered{ID: id(n)})
		if !m.Has(id(n)) {
			t.Fatalf("command %d is not known though it was answered", n)
		}
		// The inbox may still contain one pass, whose files the runner has not removed yet.
		if oldest := max(0, n-inbox.PassLimit); !m.Has(id(oldest)) {
			t.Fatalf("after command %d, command %d is forgotten", n, oldest)
		}
	}
	if len(m.Seen) != 1024 || m.Has(id(0)) {
		t.Errorf("%d ids are kept", len(m.Seen))
	}
	if again := throughJSON(t, m); !again.Has(id(2999)) || len(again.Seen) != len(m.Seen) {
		t.Error("ids were lost on the way through JSON")
	}
}

func TestResumeKeepsOpenCommands(t *testing.T) {
	m := post(t, &policy.Commands{}, received("a", event.CommandSteer), event.LoopResumed{})
	if !m.Has("a") {
		t.Error("a command whose file outlived the runner would be taken twice")
	}
}

// A person's messages are not lost with a refunded iteration, whose agent's context is gone.
func TestRefundRepeatsMessages(t *testing.T) {
	said := event.CommandReceived{ID: "a", Kind: event.CommandSteer, Text: "mind the gap", From: "cli"}
	begun, reached := event.IterationStarted{N: 1}, event.CommandDelivered{ID: "a", How: "prompt", Iteration: 1}
	back := event.IterationEnded{N: 1, Outcome: event.OutcomeLimited, Refunded: true}
	started, killed := event.AgentStarted{Tools: true}, event.AgentExited{Code: -1, Signal: "killed"}
	word := says("1", "API error")
	failed := event.IterationEnded{N: 1, Outcome: event.OutcomeFailed, Error: "killed"}
	gap := []policy.Message{{ID: "a", Kind: event.CommandSteer, Text: "mind the gap", From: "cli"}}
	for name, row := range map[string]struct {
		story []event.Payload
		want  []policy.Message
	}{
		"after a refunded iteration it is":                  {[]event.Payload{said, begun, reached, back}, gap},
		"also after two of them":                            {[]event.Payload{said, begun, reached, back, begun, back}, gap},
		"after one whose agent worked it is not":            {[]event.Payload{said, begun, reached, event.IterationEnded{N: 1, Outcome: event.OutcomeFailed, Tools: 1}}, nil},
		"nor after one that is done":                        {[]event.Payload{said, begun, reached, event.IterationEnded{N: 1, Outcome: event.OutcomeDone}}, nil},
		"it is after one that was killed before it worked":  {[]event.Payload{said, begun, started, reached, killed, failed}, gap},
		"nor after a word of one that shows no tools":       {[]event.Payload{said, begun, event.AgentStarted{}, reached, word, failed}, nil},
		"it is after a mere word of one that shows tools":   {[]event.Payload{said, begun, started, reached, word, failed}, gap},
		"it is after one that could not be started":         {[]event.Payload{event.AgentStarted{}, word, said, begun, reached, event.EffectFailed{Do: event.DoStart}, failed}, gap},
		"nor in the one after the next":                     {[]event.Payload{said, begun, reached, back, begun, event.IterationEnded{N: 2, Outcome: event.OutcomeDone}}, nil},
		"what was refused is not repeated":                  {[]event.Payload{said, begun, event.CommandRefused{ID: "a"}, back}, nil},
		"a command of the loop is not sent to agents":       {[]event.Payload{event.CommandReceived{ID: "a", Kind: event.CommandPause}, begun, reached, back}, nil},
		"what came into the running turn is repeated too":   {[]event.Payload{begun, said, event.CommandDelivered{ID: "a", How: "live", Iteration: 1}, back}, gap},
		"while the next iteration runs it is not due again": {[]event.Payload{said, begun, reached, back, begun}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, post(t, &policy.Commands{}, row.story...).Again); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A file in the inbox may name any sender, but not the one that only the runner may use.
func TestFileCannotPoseAsSignal(t *testing.T) {
	for by, signal := range map[string]bool{"loop": true, "inbox:s": false} {
		var m policy.Commands
		for _, p := range append(fromSignal(event.CommandStop), event.CommandDelivered{ID: "s", How: "loop"}) {
			m.Apply(by, p, &policy.Lifecycle{})
		}
		if m.Stopping != event.CommandStop || m.Signal != signal {
			t.Errorf("by %s: stopping %q, signal %v", by, m.Stopping, m.Signal)
		}
	}
}
