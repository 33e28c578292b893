package rehearsal_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
	"github.com/ralph-loop/ralph/internal/agent/rehearsal"
	"github.com/ralph-loop/ralph/internal/agent/rehearsal/player"
)

var suite = agenttest.Agent{
	New:  func() agent.Dialect { return rehearsal.New("/usr/bin/ralph", player.Check) },
	Spec: func(program string) agent.Spec { return agent.Spec{Command: []string{program, "rehearse", "demo"}} },
	Fake: newFake,
	Stranger: func() agenttest.Fake {
		return func(stdin []byte) [][]byte {
			if stdin == nil {
				return [][]byte{[]byte(`{"type":"ready","scenario":"x","version":2}`)}
			}
			return [][]byte{[]byte(`{"type":"begun","iteration":1}`), []byte(`{"type":"said","block":1}`), []byte(`{"type":"finished","outcome":"ok"}`)}
		}
	},
	Streams: map[string][]byte{"every word": []byte(everyWord)},
}

// everyWord is what a player can print, once each.
const everyWord = `{"type":"ready","scenario":"x","version":1}
{"type":"begun","iteration":1}
{"type":"said","block":"1.1","text":"I will look ","final":false}
{"type":"said","block":"1.1","text":"at <b>.","final":true}
{"type":"thought","block":"2.1","text":"Hm.","final":true}
{"type":"called","id":"t1","name":"bash","input":{"command":"make"}}
{"type":"progressed","id":"t1","text":"cc main.c\n"}
{"type":"returned","id":"t1","ok":true,"output":"cc main.c\n","took":300}
{"type":"called","id":"t2","name":"read"}
{"type":"returned","id":"t2","ok":false,"output":"no such file"}
{"type":"planned","todos":[{"text":"a","status":"done"},{"text":"b","status":"active"},{"text":"c","status":"pending"}]}
{"type":"used","in":10,"out":3,"cacheRead":2,"cacheWrite":1,"usd":0.25,"model":"m"}
{"type":"used","in":10,"out":3,"cacheRead":0,"cacheWrite":0}
{"type":"limited","kind":"rate","until":"2026-11-22T00:00:01.000Z","text":"wait"}
{"type":"retried","attempt":1,"max":3,"delay":2000,"text":"busy"}
{"type":"compacted","before":180000,"after":24000}
{"type":"noticed","what":"late","text":"no turn is running: c1"}
{"type":"steered","id":"nobody"}
{"type":"stale","why":"a turn is running"}
{"type":"fresh"}
{"type":"finished","outcome":"error","kind":"rate","error":"429"}
{"type":"finished","outcome":"ok"}
`

// newFake plays a player by the words of its protocol.
func newFake() agenttest.Fake {
	waiting := false
	finish := func(outcome string) []byte {
		waiting = false
		return fmt.Appendf(nil, `{"type":"finished","outcome":%q}`, outcome)
	}
	return func(stdin []byte) [][]byte {
		if stdin == nil {
			return [][]byte{[]byte(`{"type":"ready","scenario":"fake","version":1}`)}
		}
		var in struct{ Do, Prompt, ID string }
		if err := json.Unmarshal(stdin, &in); err != nil {
			panic(err)
		}
		said := []byte(`{"type":"said","block":"1.1","text":"On it.","final":true}`)
		switch {
		case in.Do == "begin" && strings.Contains(in.Prompt, agenttest.Wait):
			waiting = true
			return [][]byte{said}
		case in.Do == "begin":
			return [][]byte{said, finish("ok")}
		case in.Do == "steer" && waiting:
			return [][]byte{fmt.Appendf(nil, `{"type":"steered","id":%q}`, in.ID), finish("ok")}
		case in.Do == "abort" && waiting:
			return [][]byte{finish("aborted")}
		case in.Do == "reset":
			return [][]byte{[]byte(`{"type":"fresh"}`)}
		}
		return nil
	}
}

func TestMain(m *testing.M) {
	if os.Getenv(playVariable) != "" {
		os.Exit(playScenario())
	}
	agenttest.Main(m, suite)
}

func TestSuite(t *testing.T) { agenttest.Suite(t, suite) }

func FuzzDialect(f *testing.F) { agenttest.Fuzz(f, suite) }
