package fault

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
)

// example is a fault as an agent was seen to report it, or as it or its provider documents it.
type example struct {
	agent Agent
	fault Fault
	kind  event.FaultKind
}

func named(name string) Fault { return Fault{Names: []string{name}} }

func words(words string) Fault { return Fault{Words: words} }

// Each row is reached in each of its columns, and nothing else says the same in its place: without
// it some example would have another kind.
func TestRowsAreNeeded(t *testing.T) {
	for i := range table {
		row := &table[i]
		if row.in == (columns{}) || !slices.Contains(precedence, row.kind) {
			t.Errorf("row %q: kind %q, in no column or of no precedence", row.text, row.kind)
		}
		for agent, how := range row.in {
			for bit := is; bit <= holds; bit <<= 1 {
				if how&bit == 0 {
					continue
				}
				row.in[agent] &^= bit
				needed := slices.ContainsFunc(examples, func(e example) bool { return e.agent == Agent(agent) && e.agent.Kind(e.fault) != e.kind })
				row.in[agent] = how
				if !needed {
					t.Errorf("row %q, %s, column %d, way %d: no example needs it", row.text, row.kind, agent, bit)
				}
			}
		}
	}
}

func TestExamplesHaveTheirKinds(t *testing.T) {
	for _, e := range examples {
		if got := e.agent.Kind(e.fault); got != e.kind {
			t.Errorf("column %d, %+v: %q, want %q", e.agent, e.fault, got, e.kind)
		}
	}
}

func TestTableIsSorted(t *testing.T) {
	if !slices.IsSortedFunc(table, func(a, b row) int { return strings.Compare(a.text+" "+string(a.kind), b.text+" "+string(b.kind)) }) {
		t.Error("the rows are not sorted by their texts")
	}
	for _, row := range table {
		for agent, how := range row.in {
			if how&(begins|holds) != 0 && row.text != strings.ToLower(row.text) {
				t.Errorf("row %q, column %d: words are compared in lower case", row.text, agent)
			}
		}
	}
}

func TestKindsOfStatuses(t *testing.T) {
	for status, want := range map[int]event.FaultKind{
		400: event.KindOther, 401: event.KindAuth, 402: event.KindQuota, 403: event.KindAuth, 404: event.KindOther, 408: event.KindNetwork,
		413: event.KindContext, 429: event.KindRate, 500: event.KindOverload, 503: event.KindOverload, 529: event.KindOverload,
	} {
		for agent := range agents {
			if got := agent.Kind(Fault{Status: status}); got != want {
				t.Errorf("column %d, status %d: %q, want %q", agent, status, got, want)
			}
		}
	}
}

func TestPrecedence(t *testing.T) {
	for name, row := range map[string]struct {
		agent Agent
		fault Fault
		want  event.FaultKind
	}{
		"a name that says what to do, before the status":     {Claude, Fault{Names: []string{"billing_error"}, Status: 400}, event.KindQuota},
		"the status, before a name that says whose fault":    {Claude, Fault{Names: []string{"server_error"}, Status: 500}, event.KindOverload},
		"what waiting does not mend":                         {ACP, words("429 rate limit: insufficient_quota"), event.KindQuota},
		"a status that says nothing, before words":           {Pi, Fault{Status: 400, Words: "Connection error."}, event.KindOther},
		"no words of a provider's answer that only complain": {Pi, Fault{Words: "connection lost", Quoted: true}, ""},
		"but those that say more":                            {Pi, Fault{Words: "prompt is too long: 5", Quoted: true}, event.KindContext},
		"a quota that comes back by itself is a rate":        {ACP, words("You exceeded your current quota. Please retry in 38.5s"), event.KindRate},
		"nothing": {ACP, Fault{}, ""},
	} {
		if got := row.agent.Kind(row.fault); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

func TestBodies(t *testing.T) {
	for message, want := range map[string]Fault{
		`429: {"error":{"code":"insufficient_quota","type":"x","message":"no"}}`:               {Names: []string{"x", "insufficient_quota"}, Words: "no", Quoted: true},
		`{"error":{"code":503,"status":"UNAVAILABLE","message":"busy"}}`:                       {Names: []string{"UNAVAILABLE"}, Status: 503, Words: "busy", Quoted: true},
		`{"message":"flat","code":42}`:                                                         {Words: "flat", Quoted: true},
		`the model wrote so much in front of it that this is quoted and no body: {"code":"x"}`: {},
		`{"cut off`: {},
		`none`:      {},
	} {
		got, _, ok := InBody(message)
		if ok != want.Quoted || !slices.Equal(got.Names, want.Names) || got.Status != want.Status || got.Words != want.Words {
			t.Errorf("%s: %+v, want %+v", message, got, want)
		}
	}
}
