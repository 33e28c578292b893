package send

import (
	"errors"
	"testing"

	"github.com/ralph-loop/ralph/client"
	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
)

func TestRefusalNamesNextStep(t *testing.T) {
	for key, want := range map[string]string{
		"agent":           "'ralph stop one', then 'ralph start one --resume --set agent=…'",
		"no.such.setting": "these may change: ",
	} {
		f := client.Receipt{Loop: "one", Kind: inbox.Set, Outcome: client.Refused, Why: "no", Key: key}
		refused, ok := errors.AsType[*cli.Failure](show(&cli.Env{}, f, false))
		if !ok || refused.Code != event.ExitUsage || refused.NextStep[:min(len(want), len(refused.NextStep))] != want {
			t.Errorf("%s: %+v", key, refused)
		}
	}
}
