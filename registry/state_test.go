package registry

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
)

// The quick scanner knows the spelling of the projector by heart. Where it does not, every
// survey takes the slow way, and nobody notices.
func TestTheQuickScannerReadsWhatTheProjectorWrites(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	cost, digits := 0.1, 0.1+0.7-0.5000000000000001
	states := map[string]projector.State{
		"a loop that runs": {
			Seq: 412, At: noon.Add(123456 * time.Microsecond),
			Life:   policy.Life{Started: noon.Add(time.Microsecond), Iteration: 4, Phase: policy.Turning, Agent: event.Agent{Protocol: "pi"}},
			Budget: policy.Budget{Rules: event.Rules{MaximumIterations: 10}, Total: event.Usage{In: 1 << 40, Out: 3, USD: &cost}},
		},
		"a loop that pauses soon": {
			Seq: 412, At: noon, Life: policy.Life{Started: noon, Iteration: 4, Phase: policy.Turning}, Mail: policy.Mailbox{Pausing: true},
		},
		"whole seconds":          {Seq: 1, At: noon, Life: policy.Life{Started: noon}},
		"a tenth":                {Seq: 1, At: noon.Add(100 * time.Millisecond), Life: policy.Life{Started: noon}},
		"a loop that waits":      {Seq: 9, At: noon, Life: policy.Life{Started: noon, Iteration: 1}, Restart: policy.Restart{NotUntil: noon.Add(time.Minute)}},
		"a price of many digits": {Seq: 9, At: noon, Life: policy.Life{Started: noon}, Budget: policy.Budget{Total: event.Usage{USD: &digits}}},
		"a loop that ended":      {Seq: 9, At: noon, Life: policy.Life{Started: noon, Ended: &event.LoopEnded{Status: event.StatusStopped, Reason: event.ReasonCost, Why: "x"}}},
	}
	for name, s := range states {
		t.Run(name, func(t *testing.T) {
			data := projector.Encode(&s)
			quick, _, ok := scanHead(data)
			if !ok {
				t.Fatalf("not read: %.300s", data)
			}
			slow, ok := decodeHead(data)
			if !ok {
				t.Fatalf("not decoded: %.300s", data)
			}
			if diff := cmp.Diff(slow, quick); diff != "" {
				t.Errorf("(-decoded +scanned)\n%s", diff)
			}
			if quick.Seq != s.Seq || quick.Status != s.Status() || quick.Pending != s.Pending() || !quick.At.Equal(s.At) {
				t.Errorf("read as %+v", quick)
			}
		})
	}
}
