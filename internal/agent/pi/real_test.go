//go:build realagents && unix

// These tests run the real pi against a scripted model: run tools/agents/install.sh first, then
// go test -tags realagents ./internal/agent/pi
package pi

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/agenttest"
	"github.com/ralph-loop/ralph/internal/agent/agenttest/modelserver"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestRealStreamFaults(t *testing.T) {
	for name, row := range map[string]struct {
		format modelserver.Format
		step   modelserver.Step
		kind   event.FaultKind
	}{
		"a refusal, as responses":           {modelserver.Responses, modelserver.Step{Text: "half", Refused: true}, event.KindRefusal},
		"a refusal, as chat":                {modelserver.Chat, modelserver.Step{Text: "half", Refused: true}, event.KindRefusal},
		"a refusal, as messages":            {modelserver.Messages, modelserver.Step{Text: "half", Refused: true}, event.KindRefusal},
		"a conversation that is too long":   {modelserver.Responses, modelserver.Step{Fault: "context_length_exceeded", Message: "too long"}, event.KindContext},
		"an account that has nothing left":  {modelserver.Responses, modelserver.Step{Fault: "insufficient_quota", Message: "no more"}, event.KindQuota},
		"a model that is out of order":      {modelserver.Responses, modelserver.Step{Fault: "server_is_overloaded", Message: "busy"}, event.KindOverload},
		"a key that is none":                {modelserver.Responses, modelserver.Step{Fault: "invalid_api_key", Message: "no"}, event.KindAuth},
		"a share that is used up":           {modelserver.Responses, modelserver.Step{Fault: "usage_limit_reached", Message: "try again in 2 hours 5 minutes"}, event.KindRate},
		"a request too many":                {modelserver.Responses, modelserver.Step{Fault: "rate_limit_exceeded", Message: "try again in 20s"}, event.KindRate},
		"an answer that was cut at its end": {modelserver.Responses, modelserver.Step{Text: "half", Truncated: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := modelserver.Start(t, func(modelserver.Request) modelserver.Step { return row.step })
			env, _ := modelserver.PiHome(t, server)
			rec, dir, began := agenttest.NewRecorder(t), t.TempDir(), time.Now()
			s, err := agent.Start(agent.Config{
				Name: "pi", Dialect: New(), Env: env, Mark: t.Name() + began.String(), Deliver: rec.Deliver, Now: time.Now,
				Spec: agent.Spec{
					Command: []string{filepath.Join(modelserver.AgentBin(t), "pi")}, Model: modelserver.PiModel(row.format),
					Dir: dir, LoopDir: dir, Iteration: 1,
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				s.Kill()
				<-s.Done()
			})
			s.Begin(agent.Prompt{Text: "go", Iteration: 1}, false, 1)
			finished := agenttest.Payload[event.AgentFinished](t, rec.Await(event.TypeAgentFinished, 1))
			if finished.Kind != row.kind || finished.Outcome == "ok" {
				t.Errorf("%+v, want kind %q", finished, row.kind)
			}
			if row.step.Fault != "usage_limit_reached" {
				return
			}
			limited := agenttest.Payload[event.AgentLimited](t, rec.Of(event.TypeAgentLimited)[0])
			if until, err := time.Parse(time.RFC3339, limited.Until); err != nil || until.Before(began.Add(2*time.Hour)) {
				t.Errorf("%+v is not until two hours from now: %v", limited, err)
			}
		})
	}
}
