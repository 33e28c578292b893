//go:build linux || darwin

package runner

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/internal/ground/process"
	"github.com/ralph-loop/ralph/journal/event"
)

// The receipt of a command says whose process dropped it, or why that is not known.
func TestReceiptNamesOrigin(t *testing.T) {
	line, complete := process.Lineage(os.Getpid())
	if !complete {
		t.Fatalf("what this process descends from: %v", line)
	}
	self, gone := inbox.Process(line[0]), inbox.Process{PID: line[0].PID, Start: line[0].Start + 1}
	parent := inbox.Process(line[1])
	r := &runner{Config: Config{Home: filepath.Join(t.TempDir(), "home")}, nested: &nesting{}}
	for name, c := range map[string]struct {
		kind    inbox.Kind
		process []inbox.Process
		origin  event.Origin
		doubt   string
	}{
		"the runner, for a notification":     {inbox.Answer, []inbox.Process{self, parent}, event.OriginPerson, ""},
		"a process beside the runner":        {inbox.Stop, []inbox.Process{parent}, event.OriginPerson, ""},
		"a file of a script":                 {inbox.Stop, nil, event.OriginUnknown, "its file does not say which process wrote it"},
		"a process that ended":               {inbox.Stop, []inbox.Process{gone, parent}, event.OriginUnknown, "the process that gave it has ended"},
		"one that ended, of the agent":       {inbox.Stop, []inbox.Process{gone, self, parent}, event.OriginAgent, ""},
		"an agent's file out of a sandbox":   {inbox.Ask, []inbox.Process{gone}, "", ""},
		"an agent's file that names nothing": {inbox.Wait, nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := r.received(&inbox.Command{Kind: c.kind, Process: c.process})
			if got.Origin != c.origin || got.Doubt != c.doubt {
				t.Errorf("%+v, want %q, %q", got, c.origin, c.doubt)
			}
		})
	}
}
