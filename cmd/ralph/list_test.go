package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/journal/event"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// machine is a home with loops of every kind.
func machine(t *testing.T) *recorded {
	t.Helper()
	r := threeIterations(t)
	other := record(t, "live")
	other.env.home = r.env.home
	other.iterate(1, "One.")
	other.register()
	other.live()
	dead := record(t, "dead")
	dead.env.home, dead.env.cwd = r.env.home, r.env.cwd
	dead.iterate(1, "One.")
	dead.register()
	gone := registry.Entry{Name: "gone", Dir: filepath.Join(r.env.cwd, ralphFolder, "gone"), Project: r.env.cwd, ID: "x", Agent: "claude", Started: begin}
	r.must(registry.Put(r.env.home, gone))
	return r
}

func TestListShowsHowEachLoopStands(t *testing.T) {
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

// What needs a person comes first, then what runs, then the newest.
func TestListPutsFirstWhatNeedsAPerson(t *testing.T) {
	at := func(days int) registry.Head {
		return registry.Head{Status: "completed", Reason: "promise", Since: begin.AddDate(0, 0, days)}
	}
	loops := []registry.Status{
		{Entry: registry.Entry{Name: "old"}, Head: at(1)},
		{Entry: registry.Entry{Name: "new"}, Head: at(2)},
		{Entry: registry.Entry{Name: "runs"}, Head: registry.Head{Status: "running", Since: begin}, Live: registry.Liveness{Alive: true}},
		{Entry: registry.Entry{Name: "waits"}, Head: registry.Head{Status: "waiting", Waiting: "a person: log in", Since: begin}, Live: registry.Liveness{Alive: true}},
		{Entry: registry.Entry{Name: "blocked"}, Head: registry.Head{Status: "stopped", Reason: "blocked", Since: begin.AddDate(0, 0, 1)}},
		{Entry: registry.Entry{Name: "died"}, Head: registry.Head{Status: "running", Since: begin.AddDate(0, 0, 2)}, Died: true},
	}
	inOrder(loops)
	var names []string
	for _, s := range loops {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "died blocked waits runs new old" {
		t.Errorf("the order is %s", got)
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
		for _, key := range []string{"name", "dir", "project", "alive", "died", "gone", "status", "reason", "iteration", "counted", "refunded", "maximumIterations", "started", "at", "agent", "cost", "tokensIn", "tokensOut", "waiting", "pid", "host"} {
			if _, has := l[key]; !has {
				t.Errorf("%s has no %q", l["name"], key)
			}
		}
		name := l["name"]
		if l["alive"] != (name == "live") || l["died"] != (name == "dead") || l["gone"] != (name == "gone") {
			t.Errorf("%s: alive %v, died %v, gone %v", name, l["alive"], l["died"], l["gone"])
		}
		if name == "live" && l["pid"] != float64(os.Getpid()) {
			t.Errorf("pid %v", l["pid"])
		}
	}
}

func TestListOfNothing(t *testing.T) {
	r := record(t, "night")
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

func TestListReportsWhatIsNoEntry(t *testing.T) {
	r := threeIterations(t)
	r.must(os.WriteFile(filepath.Join(registry.Folder(r.env.home), "--x--y.json"), []byte("{\x1b[2J"), 0o600))
	got := r.printed(&listVerb{})
	if !strings.Contains(got, "night") || !strings.Contains(r.err.String(), "--x--y.json") || strings.Contains(r.err.String(), "\x1b") {
		t.Errorf("stdout %q, stderr %q", got, r.err)
	}
}

func TestTableFitsTheTerminal(t *testing.T) {
	rows := func() *table {
		return &table{head: []string{"NAME", "STATUS", "ITERATION", "AGENT", "PROJECT"}, rows: [][]string{
			{"night", "running", "3/10", "pi", "/home/ada/a/long/way/to/the/shop"},
			{"値段\x1b[2J", "died", "1/10", "claude", "/p"},
		}}
	}
	for _, width := range []int{0, 200, 80, 60, 40, 30, 20, 5} {
		got := string(rows().format(width))
		if strings.Contains(got, "\x1b") {
			t.Errorf("%d columns: an escape came through: %q", width, got)
		}
		for line := range strings.Lines(got) {
			if n := render.Columns(strings.TrimSuffix(line, "\n")); width >= 30 && n > width {
				t.Errorf("%d columns: a line has %d: %q", width, n, line)
			}
		}
		if width >= 30 && !strings.Contains(got, "running") {
			t.Errorf("%d columns: the status is gone:\n%s", width, got)
		}
	}
	if got := string(rows().format(0)); !strings.Contains(got, "/home/ada/a/long/way/to/the/shop") {
		t.Errorf("without a width something is cut:\n%s", got)
	}
}

// Loops of many projects have the same name, the branch's or "run": on eighty columns their project is what
// tells them apart.
func TestTableTellsRowsApart(t *testing.T) {
	for width, want := range map[int]string{
		0:  "NAME  STATUS                ITERATION  STARTED    AGENT   COST    TOKENS  PROJECT\nmain  stopped (iterations)  30/30      2m14s ago  claude  $12.30  1.2M    /home/ada/work/shop/till\nmain  running               3/10       2.0s ago   claude  $0.30   45k     ~/x\n",
		80: "NAME  STATUS                ITERATION  STARTED    AGENT   PROJECT\nmain  stopped (iterations)  30/30      2m14s ago  claude  …me/ada/work/shop/till\nmain  running               3/10       2.0s ago   claude  ~/x\n",
		60: "NAME  STATUS                ITERATION  PROJECT\nmain  stopped (iterations)  30/30      …e/ada/work/shop/till\nmain  running               3/10       ~/x\n",
		50: "NAME  STATUS                ITERATION  PROJECT\nmain  stopped (iterations)  30/30      …/shop/till\nmain  running               3/10       ~/x\n",
		40: "NAME  STATUS                ITERATION\nmain  stopped (iterations)  30/30\nmain  running               3/10\n",
	} {
		table := &table{telling: true, head: []string{"NAME", "STATUS", "ITERATION", "STARTED", "AGENT", "COST", "TOKENS", "PROJECT"}, rows: [][]string{
			{"main", "stopped (iterations)", "30/30", "2m14s ago", "claude", "$12.30", "1.2M", "/home/ada/work/shop/till"},
			{"main", "running", "3/10", "2.0s ago", "claude", "$0.30", "45k", "~/x"},
		}}
		var got strings.Builder
		for line := range strings.Lines(string(table.format(width))) {
			got.WriteString(strings.TrimRight(line, " \n") + "\n")
		}
		if got.String() != want {
			t.Errorf("%d columns:\n%s\nwant\n%s", width, got.String(), want)
		}
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
	state := strings.TrimSuffix(string(projector.Encode(&r.state)), "}\n") // and who runs it
	if got := r.printed(&statusVerb{JSON: true}); !strings.HasPrefix(got, state+fmt.Sprintf(`,"runner":{"alive":true,"pid":%d,"host":"`, os.Getpid())) {
		t.Errorf("as JSON\n%s\nwant\n%s", got, state)
	}
}

func TestStatusOfLoopsThatAreOver(t *testing.T) {
	r := machine(t)
	if got := r.printed(&statusVerb{Name: "night"}); !strings.Contains(got, "status     completed (promise): done\n") || strings.Contains(got, "next ") {
		t.Errorf("ended:\n%s", got)
	}
	r.env.cwd = t.TempDir()
	if got := r.printed(&statusVerb{Name: "dead"}); !strings.Contains(got, "status     died: it was running and no runner has it; 'ralph start dead --resume'") {
		t.Errorf("dead:\n%s", got)
	}
	if err := (&statusVerb{Name: "gone"}).Run(r.env); codeOf(err) != event.ExitUsage {
		t.Errorf("gone: %v", err)
	}
}

// A state.json that is missing, or from before the runner took the loop up, is not what a list shows.
func TestAListReadsTheJournalWhereStateIsBehind(t *testing.T) {
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
			file := filepath.Join(r.dir, projector.StateFile)
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
	r.must(os.RemoveAll(filepath.Join(r.dir, projector.StateFile)))
	if got := squeeze(r.printed(&listVerb{})); !strings.Contains(got, "dead died 1/10 ") {
		t.Errorf("of a loop whose runner was killed before it wrote state.json:\n%s", got)
	}
}
