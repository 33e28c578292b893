//go:build unix

package launch

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/internal/ground/config"
)

// A guardrail that takes longer than the trial can run; one that takes longer than its timeout has
// failed.
func TestTrialEndsLongGuardrails(t *testing.T) {
	was := trialTime
	t.Cleanup(func() { trialTime = was })
	trialTime = 100 * time.Millisecond
	var printed bytes.Buffer
	e := &cli.Env{Stderr: &printed, Cwd: t.TempDir(), Environ: os.Environ(), Now: time.Now}
	settings := config.Settings{Guardrails: []config.Guardrail{
		{Command: "exec sleep 300"}, {Command: "exec sleep 301", Timeout: config.Duration(time.Millisecond)},
	}}
	p := Plan{Start: Start{Name: "one", Dir: e.Cwd}, loaded: config.Loaded{Settings: settings}}
	if err := p.tryGuardrails(e); err != nil {
		t.Error(err)
	}
	want := `ralph: guardrails that fail now, as they may before the work is done: "exec sleep 301" (timed out after 1ms)
ralph: guardrails that can run, and were ended since they take longer: "exec sleep 300"
`
	if !strings.HasSuffix(printed.String(), want) { // after what is printed on a slow machine
		t.Errorf("printed\n%s\twant\n%s", &printed, want)
	}
	for name, v := range map[string]Start{
		"a resumed loop":                {Resume: true},
		"--anyway":                      {Options: Options{Anyway: true}},
		"a loop that waits for another": {After: "other"},
	} {
		p := Plan{Start: v, loaded: config.Loaded{Settings: config.Settings{Guardrails: []config.Guardrail{{Command: "./nosuch"}}}}}
		if err := p.tryGuardrails(e); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
