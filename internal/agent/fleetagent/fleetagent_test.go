package fleetagent_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
	"github.com/ralph-loop/ralph/internal/agent/fleetagent"
	"github.com/ralph-loop/ralph/journal/event"
)

// fleet is an agent that prints text alone: the checks of all dialects know no event of a fleet.
var fleet = agenttest.Agent{
	New:  func() agent.Dialect { return fleetagent.New() },
	Spec: func(program string) agent.Spec { return agent.Spec{Command: []string{program, fleetagent.Verb}} },
	Fake: func() agenttest.Fake {
		return func(stdin []byte) [][]byte {
			if !bytes.Contains(stdin, []byte(agenttest.Finish)) && !bytes.Contains(stdin, []byte(agenttest.Wait)) {
				return nil
			}
			return [][]byte{[]byte("a begins"), []byte("<promise>COMPLETE</promise>")}
		}
	},
}

func TestMain(m *testing.M) { agenttest.Main(m, fleet) }

func TestSuite(t *testing.T) { agenttest.Suite(t, fleet) }

// What is not an event of a fleet is text, also a line that looks like another event or a broken
// one.
func TestLines(t *testing.T) {
	for name, row := range map[string]struct {
		line string
		want event.Payload
	}{
		"a decision":      {`{"type":"fleet.decided","data":{"do":"merge","task":"a"}}`, event.FleetDecided{Do: event.FleetMerge, Task: "a"}},
		"a result":        {`{"type":"fleet.observed","data":{"task":"a","what":"died"}}`, event.FleetObserved{Task: "a", What: event.FleetDied}},
		"what it found":   {`{"type":"fleet.opened","data":{"parallel":2,"tasks":[]}}`, event.FleetOpened{Parallel: 2, Tasks: []event.FleetTask{}}},
		"text":            {`a begins`, said("a begins\n")},
		"another event":   {`{"type":"loop.ended","data":{}}`, said(`{"type":"loop.ended","data":{}}` + "\n")},
		"an unknown one":  {`{"type":"fleet.mended","data":{}}`, said(`{"type":"fleet.mended","data":{}}` + "\n")},
		"a broken line":   {`{"type":"fleet.decided","data":{"do":`, said(`{"type":"fleet.decided","data":{"do":` + "\n")},
		"of another kind": {`{"type":"fleet.decided","data":[]}`, said(`{"type":"fleet.decided","data":[]}` + "\n")},
	} {
		var out agent.Decoded
		fleetagent.New().Decode([]byte(row.line+"\n"), agent.Stdout, &out)
		if diff := cmp.Diff([]event.Payload{row.want}, out.Facts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	var pieces agent.Decoded
	dialect := fleetagent.New()
	for _, piece := range []string{`{"ty`, `pe":"fleet.decided","data":{"do":"merge"}}` + "\n", "all is ", `{"type":"fleet.decided","data":{"do":"merge"}}` + "\n", `{"type":`, ""} {
		dialect.Decode([]byte(piece), agent.Stdout, &pieces)
	}
	if diff := cmp.Diff([]event.Payload{
		event.FleetDecided{Do: event.FleetMerge}, said("all is "), said(`{"type":"fleet.decided","data":{"do":"merge"}}` + "\n"), said(`{"type":`),
	}, pieces.Facts); diff != "" {
		t.Errorf("in pieces (-want +got):\n%s", diff)
	}
	var out agent.Decoded
	fleetagent.New().Decode(fleetagent.Line(event.FleetDecided{Do: event.FleetMerge}), agent.Stderr, &out)
	if len(out.Facts) != 1 || out.Facts[0].EventType() != event.TypeAgentNoticed {
		t.Errorf("a line of standard error is %+v", out.Facts)
	}
}

func said(text string) event.Payload { return event.AgentSaid{Block: "1.1", Text: event.Plain(text)} }
