package rehearsal_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/rehearsal"
	"github.com/ralph-loop/ralph/internal/agent/rehearsal/player"
	"github.com/ralph-loop/ralph/internal/testkit/testfile"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestTheCommandStartsThisRalph(t *testing.T) {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "b.rehearsal"), "say hi")
	for name, row := range map[string]struct{ command, flags, want []string }{
		"ralph by its name":           {[]string{"ralph", "rehearse", "demo"}, nil, []string{"/self", "rehearse", "demo"}},
		"the scenario among flags":    {[]string{"ralph", "rehearse"}, []string{"demo"}, []string{"/self", "rehearse", "demo"}},
		"a ralph of one's own":        {[]string{"./bin/ralph", "rehearse", "its-own"}, nil, []string{"./bin/ralph", "rehearse", "its-own"}},
		"a program in front of it":    {[]string{"env", "X=1", "ralph", "rehearse", "demo"}, nil, []string{"env", "X=1", "/self", "rehearse", "demo"}},
		"the verb alone":              {[]string{"rehearse", "demo"}, nil, []string{"/self", "rehearse", "demo"}},
		"a scenario alone":            {[]string{"b.rehearsal"}, nil, []string{"/self", "rehearse", "b.rehearsal"}},
		"ralph by its name elsewhere": {[]string{"ralph.exe", "rehearse", "demo"}, nil, []string{"/self", "rehearse", "demo"}},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, err := rehearsal.New("/self", player.Check).Command(agent.Spec{Command: row.command, Flags: row.flags, Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(agent.Command{Argv: row.want, ParentDeath: true}, cmd); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInvalidScenarioIsRefused(t *testing.T) {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "typo.rehearsal"), "say hi\nfinsh\n")
	for want, command := range map[string][]string{
		"no scenario: say 'ralph rehearse demo'":        {"ralph", "rehearse"},
		"built in are crash, demo":                      {"ralph", "rehearse", "nowhere"},
		`typo.rehearsal:2: "finsh" is no step: did you`: {"ralph", "rehearse", "typo.rehearsal"},
	} {
		cmd, err := rehearsal.New("/self", player.Check).Command(agent.Spec{Command: command, Dir: dir})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, %v", command, cmd.Argv, err)
		}
	}
}

// ready is what a player says first.
const ready = `{"type":"ready","scenario":"x","version":1}`

func TestCommitMessageTurnHasPurpose(t *testing.T) {
	for purpose, want := range map[string]string{
		"":                   `{"do":"begin","iteration":3,"prompt":"go"}`,
		agent.PurposeMessage: `{"do":"begin","iteration":3,"purpose":"message","prompt":"go"}`,
	} {
		d, out := rehearsal.New("/self", player.Check), agent.Decoded{}
		d.Decode([]byte(ready), agent.Stdout, &out)
		lines := d.Open(agent.Prompt{Text: "go", Iteration: 3, Purpose: purpose})
		if len(lines) != 1 || string(lines[0]) != want {
			t.Errorf("%q, want %s", lines, want)
		}
	}
}

func TestSessionName(t *testing.T) {
	d, out := rehearsal.New("/self", player.Check), agent.Decoded{}
	turn := func(iteration int, want string) {
		t.Helper()
		d.Open(agent.Prompt{Text: "go", Iteration: iteration})
		if got := d.Session(); got != want {
			t.Errorf("iteration %d is in %q, want %q", iteration, got, want)
		}
		d.Decode([]byte(`{"type":"finished","outcome":"ok"}`), agent.Stdout, &out)
	}
	d.Decode([]byte(ready), agent.Stdout, &out)
	turn(3, "rehearsal-3")
	turn(4, "rehearsal-3") // in the same context
	d.Reset()
	d.Decode([]byte(`{"type":"fresh"}`), agent.Stdout, &out)
	turn(5, "rehearsal-5")
}

func TestTurnWaitsForPlayer(t *testing.T) {
	d, out := rehearsal.New("/self", player.Check), agent.Decoded{}
	if lines := d.Open(agent.Prompt{Text: "go", Iteration: 1}); len(lines) > 0 {
		t.Errorf("begun with %q", lines)
	}
	if lines, live := d.Steer("c1", "left"); !live || len(lines) > 0 {
		t.Errorf("steered with %q: %v", lines, live)
	}
	d.Decode([]byte(ready), agent.Stdout, &out)
	if !out.Own || len(out.Reply) != 2 || !strings.HasPrefix(string(out.Reply[0]), `{"do":"begin"`) || !strings.HasPrefix(string(out.Reply[1]), `{"do":"steer"`) {
		t.Errorf("own %v, reply %q", out.Own, out.Reply)
	}
}

func TestAbortBeforeReady(t *testing.T) {
	d, out := rehearsal.New("/self", player.Check), agent.Decoded{}
	d.Open(agent.Prompt{Text: "go", Iteration: 1})
	if lines := d.Abort(); len(lines) > 0 {
		t.Errorf("aborted with %q", lines)
	}
	d.Decode([]byte(ready), agent.Stdout, &out)
	if finished, ok := out.Facts[len(out.Facts)-1].(event.AgentFinished); !ok || finished.Outcome != "aborted" || len(out.Reply) > 0 {
		t.Errorf("%+v, reply %q", out.Facts, out.Reply)
	}
}

func TestEachLineIsOneFact(t *testing.T) {
	usd := 0.25
	for line, want := range map[string]event.Payload{
		`{"type":"said","block":"1.1","text":"a\"b","final":true}`:        event.AgentSaid{Block: "1.1", Text: event.Plain(`a"b`), Final: true},
		`{"type":"thought","block":"2.1","text":"Hm."}`:                   event.AgentThought{Block: "2.1", Text: event.Plain("Hm.")},
		`{"type":"called","id":"t1","name":"bash","input":{"a":1}}`:       event.ToolCalled{ID: "t1", Name: "bash", Input: []byte(`{"a":1}`)},
		`{"type":"progressed","id":"t1","text":"x"}`:                      event.ToolProgressed{ID: "t1", Text: event.Plain("x")},
		`{"type":"returned","id":"t1","ok":true,"output":"x","took":3}`:   event.ToolReturned{ID: "t1", OK: true, Output: event.Plain("x"), Took: 3},
		`{"type":"used","in":10,"out":3,"usd":0.25,"model":"m"}`:          event.AgentUsed{In: 10, Out: 3, USD: &usd, Model: "m"},
		`{"type":"used","cacheRead":1,"cacheWrite":2}`:                    event.AgentUsed{CacheRead: 1, CacheWrite: 2},
		`{"type":"planned","todos":[{"text":"a","status":"done"}]}`:       event.AgentPlanned{Todos: []event.Todo{{Text: "a", Status: "done"}}},
		`{"type":"limited","kind":"quota","until":"u","text":"t"}`:        event.AgentLimited{Kind: "quota", Until: "u", Text: "t"},
		`{"type":"retried","attempt":1,"max":3,"delay":9,"text":"t"}`:     event.AgentRetried{Attempt: 1, Max: 3, Delay: 9, Text: "t"},
		`{"type":"compacted","before":2,"after":1}`:                       event.AgentCompacted{Before: 2, After: 1},
		`{"type":"noticed","what":"late","text":"t"}`:                     event.AgentNoticed{What: "late", Text: "t"},
		`{"type":"steered","id":"c9"}`:                                    event.AgentNoticed{What: "steered", Text: "not asked for: c9"},
		`{"type":"fresh"}`:                                                event.AgentNoticed{What: "fresh"},
		`{"type":"finished","outcome":"error","kind":"auth","error":"e"}`: event.AgentFinished{Outcome: "error", Kind: "auth", Error: "e"},
		`{"type":"from the future"}`:                                      event.AgentNoticed{What: "from the future"},
		`{"type":"said","block":"1.1"}`:                                   event.AgentUnparsed{},
		`{"type":"said","block":1,"text":"x"}`:                            event.AgentUnparsed{},
		`{"type":"said","block":"1.1","text":"x","final":1}`:              event.AgentUnparsed{},
		`{"type":"used","in":-1}`:                                         event.AgentUnparsed{},
		`{"type":"used","in":1.5}`:                                        event.AgentUnparsed{},
		`{"type":"used","usd":1e999}`:                                     event.AgentUnparsed{},
		`{"type":"planned","todos":[7]}`:                                  event.AgentUnparsed{},
		`{"type":"limited","kind":"speed"}`:                               event.AgentUnparsed{},
		`{"type":"finished","outcome":"great"}`:                           event.AgentUnparsed{},
		`{"type":"planned","todos":[{"text":"a","status":"maybe"}]}`:      event.AgentUnparsed{},
		`[]`:               event.AgentUnparsed{},
		`no JSON`:          event.AgentUnparsed{Line: event.Plain("no JSON")},
		"{\"a\":\"\xff\"}": event.AgentUnparsed{Line: event.Plain("{\"a\":\"\xff\"}")},
	} {
		d, out := rehearsal.New("/self", player.Check), agent.Decoded{}
		d.Open(agent.Prompt{Iteration: 1})
		d.Decode([]byte(line), agent.Stdout, &out)
		if diff := cmp.Diff([]event.Payload{want}, out.Facts); diff != "" {
			t.Errorf("%s\n%s", line, diff)
		}
	}
}
