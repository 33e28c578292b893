//go:build unix

package agent_test

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
	"github.com/ralph-loop/ralph/journal/event"
)

// An agent that states in words when its limit ends is waited for: the words are read by the clock
// of the machine that runs it.
func TestLimitInWordsHasEnd(t *testing.T) {
	zone := time.FixedZone("", 2*3600)
	now := time.Date(2026, 11, 22, 23, 0, 0, 0, zone)
	for name, row := range map[string]struct {
		clock func() time.Time
		limit event.AgentLimited
		want  string // until; "none" for no fact at all
	}{
		"in the machine's zone":        {func() time.Time { return now }, event.AgentLimited{Kind: event.KindRate, Text: "try again at 6:04 AM"}, "2026-11-23T04:05:00Z"},
		"what is stated beside counts": {func() time.Time { return now }, event.AgentLimited{Kind: event.KindRate, Text: "try again at 6:04 AM", Until: "2026-11-23T01:00:00Z"}, "2026-11-23T01:00:00Z"},
		"without a clock never":        {nil, event.AgentLimited{Kind: event.KindRate, Text: "try again at 6:04 AM"}, ""},
		"where nothing is said":        {func() time.Time { return now }, event.AgentLimited{Kind: event.KindNetwork, Text: "no"}, ""},
		"a refusal is no limit":        {func() time.Time { return now }, event.AgentLimited{Kind: event.KindRefusal, Text: "try again at 6:04 AM"}, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			limited := answering{echo{facts: func(line string, _ agent.Stream, out *agent.Decoded) {
				out.Limit(row.limit)
				out.Add(event.AgentNoticed{What: line})
			}}}
			c := converse(t, limited, func(cfg *agent.Config) { cfg.Now = row.clock }, "sh", "-c", "echo over; exec sleep 1000")
			c.begin()
			got := "none"
			for {
				d := <-c.events
				if d.Type == event.TypeAgentLimited {
					got = agenttest.Payload[event.AgentLimited](t, d).Until
				}
				if d.Type == event.TypeAgentNoticed {
					break
				}
			}
			if got != row.want {
				t.Errorf("until %q, want %q", got, row.want)
			}
		})
	}
}
