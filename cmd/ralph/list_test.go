package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/loopstate"
	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
)

// machine is a home with loops of every kind.
func machine(t *testing.T) *recorded {
	t.Helper()
	r := threeIterations(t)
	other := record(t, "live")
	other.env.Home = r.env.Home
	other.iterate(1, "One.")
	other.register()
	other.live()
	dead := record(t, "dead")
	dead.env.Home, dead.env.Cwd = r.env.Home, r.env.Cwd
	dead.iterate(1, "One.")
	dead.register()
	gone := registry.Entry{Name: "gone", Dir: filepath.Join(r.env.Cwd, cli.RalphFolder, "gone"), Project: r.env.Cwd, ID: "x", Agent: "claude", Started: begin}
	r.must(registry.Put(r.env.Home, gone))
	return r
}

func TestListShowsStatuses(t *testing.T) {
	r := machine(t)
	got := r.printed(&listVerb{})
	want := strings.Join([]string{
		"NAME   STATUS               ITERATION  STARTED     AGENT   COST     TOKENS",
		"dead   died                 1/10       1h0m ago    pi      $0.25    1.1k",
		"gone   gone                 0          1h0m ago    claude  unknown  unknown",
		"night  completed (promise)  3/10       1h0m ago    pi      $0.75    3.3k",
		"",
	}, "\n")
	if squeeze(got) != squeeze(want) {
		t.Errorf("listed\n%s\nwant\n%s", got, want)
	}
	if all := r.printed(&listVerb{All: true}); !strings.Contains(all, "PROJECT") || !strings.Contains(all, "live ") || strings.Count(all, "\n") != 5 {
		t.Errorf("all:\n%s", all)
	}
}

// squeeze makes runs of blanks one blank.
func squeeze(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
	}
	return strings.Join(lines, "\n")
}

func TestListAsJSON(t *testing.T) {
	r := machine(t)
	var loops []map[string]any
	r.must(json.Unmarshal([]byte(r.printed(&listVerb{All: true, JSON: true})), &loops))
	if len(loops) != 4 {
		t.Fatalf("%d loops", len(loops))
	}
	for _, l := range loops {
		for _, key := range []string{"name", "dir", "project", "alive", "died", "gone", "group", "status", "reason", "iteration", "counted", "maximumIterations", "started", "at", "agent", "cost", "tokensIn", "tokensOut", "waiting", "host", "id", "state", "exitCode"} {
			if _, has := l[key]; !has {
				t.Errorf("%s has no %q", l["name"], key)
			}
		}
		name := l["name"]
		if l["alive"] != (name == "live") || l["died"] != (name == "dead") || l["gone"] != (name == "gone") {
			t.Errorf("%s: alive %v, died %v, gone %v", name, l["alive"], l["died"], l["gone"])
		}
		if runner, _ := l["runner"].(map[string]any); name == "live" && runner["pid"] != float64(os.Getpid()) {
			t.Errorf("the runner is %v", l["runner"])
		}
	}
}

func TestListOfNothing(t *testing.T) {
	r := record(t, "night")
	r.env.Cwd = t.TempDir()
	if got := r.printed(&listVerb{}); got != "" || !strings.Contains(r.err.String(), "there is no loop here") {
		t.Errorf("stdout %q, stderr %q", got, r.err)
	}
	if got := r.printed(&listVerb{JSON: true}); got != "[]\n" {
		t.Errorf("as JSON %q", got)
	}
	if err := (&listVerb{Watch: true}).Run(r.env); codeOf(err) != event.ExitUsage {
		t.Errorf("--watch without a terminal: %v", err)
	}
}

func TestListReportsInvalidEntries(t *testing.T) {
	r := threeIterations(t)
	r.must(os.WriteFile(filepath.Join(registry.Folder(r.env.Home), "--x--y.json"), []byte("{\x1b[2J"), 0o600))
	got := r.printed(&listVerb{})
	if !strings.Contains(got, "night") || !strings.Contains(r.err.String(), "--x--y.json") || strings.Contains(r.err.String(), "\x1b") {
		t.Errorf("stdout %q, stderr %q", got, r.err)
	}
}

func TestStatus(t *testing.T) {
	r := record(t, "night")
	r.live()
	r.iterate(1, "One.")
	r.append(event.IterationStarted{N: 2, Prompt: event.Blob{Text: "do it", Bytes: 5}}, event.Decided{Do: event.DoStart, Iteration: 2})
	r.append(event.AgentStarted{PID: 7, Live: true})
	r.append(event.ToolCalled{ID: "1", Name: "bash"}, event.ToolReturned{ID: "1", OK: true})
	r.append(event.CommandReceived{ID: "01JDC", Kind: "follow-up", From: "cli:ada", Text: "then the \x1b[2Jdocs"})
	r.register()
	got := r.printed(&statusVerb{})
	for _, want := range []string{
		"status     running\n", "iteration  2 of 10, the agent works; began ", "           1 tool (0 failed) · 0 tokens in",
		"last one   1 done in 6.0s · 1 tool (0 failed) · 1.0k tokens in · 100 out · $0.25\n",
		"next       limits.idle cuts the iteration short at ", "agent      pi, pid 7, can be steered in mid-turn\n",
		"limits     10 iterations, idle 10m\n", "open       follow-up: then the docs (cli:ada), waits for the next prompt\n",
		"folder     " + r.dir + "\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	var v projector.View
	r.must(json.Unmarshal([]byte(r.printed(&statusVerb{JSON: true})), &v))
	if v.Name != "night" || v.Seq != r.state.Seq || !v.Alive || v.Runner.PID != os.Getpid() || v.Group != projector.Working || v.Last == nil || v.Commands[0].Text != "then the docs" {
		t.Errorf("as JSON: %+v", v)
	}
}

func TestStatusOfEndedLoops(t *testing.T) {
	r := machine(t)
	if got := r.printed(&statusVerb{Name: "night"}); !strings.Contains(got, "status     completed (promise): done\n") || strings.Contains(got, "next ") {
		t.Errorf("ended:\n%s", got)
	}
	r.env.Cwd = t.TempDir()
	if got := r.printed(&statusVerb{Name: "dead"}); !strings.Contains(got, "status     died: it was running and no runner has it; 'ralph start dead --resume'") {
		t.Errorf("dead:\n%s", got)
	}
	if err := (&statusVerb{Name: "gone"}).Run(r.env); codeOf(err) != event.ExitUsage {
		t.Errorf("gone: %v", err)
	}
}

// If state.json is missing, or older than the live runner, list reads the journal.
func TestStaleStateReadsJournal(t *testing.T) {
	for name, state := range map[string]string{
		"missing":        "",
		"of a beginning": `{"seq":1,"status":"starting","reason":"","iteration":0,"maximumIterations":10}`,
		"of an end":      `{"seq":1,"status":"stopped","reason":"stop","iteration":0,"maximumIterations":10}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := record(t, "live")
			r.iterate(1, "One.")
			r.iterate(2, "Two.")
			r.register()
			file := filepath.Join(r.dir, loopstate.StateFile)
			r.must(os.RemoveAll(file))
			if state != "" {
				r.must(os.WriteFile(file, []byte(state), 0o600))
			}
			r.live()
			if got := squeeze(r.printed(&listVerb{})); !strings.Contains(got, "live running 2/10 ") {
				t.Errorf("listed\n%s", got)
			}
		})
	}
	r := record(t, "dead")
	r.iterate(1, "One.")
	r.register()
	r.must(os.RemoveAll(filepath.Join(r.dir, loopstate.StateFile)))
	if got := squeeze(r.printed(&listVerb{})); !strings.Contains(got, "dead died 1/10 ") {
		t.Errorf("of a loop whose runner was killed before it wrote state.json:\n%s", got)
	}
}
