package listing

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/front/cli"
	"github.com/ralph-loop/ralph/projector"
	"github.com/ralph-loop/ralph/registry"
	"github.com/ralph-loop/ralph/render"
)

// Loops that need a person come first, then those that run, then the newest.
func TestUrgentLoopsComeFirst(t *testing.T) {
	begin := time.Date(2026, 11, 21, 1, 52, 28, 0, time.UTC)
	at := func(days int) registry.Summary {
		return registry.Summary{Status: "completed", Reason: "promise", Since: begin.AddDate(0, 0, days)}
	}
	loops := []registry.Status{
		{Entry: registry.Entry{Name: "old"}, Head: at(1)},
		{Entry: registry.Entry{Name: "new"}, Head: at(2)},
		{Entry: registry.Entry{Name: "runs"}, Head: registry.Summary{Status: "running", Since: begin}, Live: registry.Liveness{Alive: true}},
		{Entry: registry.Entry{Name: "waits"}, Head: registry.Summary{Status: "waiting", Waiting: "a person: log in", Since: begin}, Live: registry.Liveness{Alive: true}},
		{Entry: registry.Entry{Name: "blocked"}, Head: registry.Summary{Status: "stopped", Reason: "blocked", Since: begin.AddDate(0, 0, 1)}},
		{Entry: registry.Entry{Name: "died"}, Head: registry.Summary{Status: "running", Since: begin.AddDate(0, 0, 2)}, Died: true},
	}
	views := views(loops...)
	sortByUrgency(views)
	var names []string
	for _, v := range views {
		names = append(names, v.Name)
	}
	if got := strings.Join(names, " "); got != "died blocked waits runs new old" {
		t.Errorf("the order is %s", got)
	}
}

func views(loops ...registry.Status) (all []*projector.View) {
	for _, s := range loops {
		all = append(all, projector.Brief(s))
	}
	return all
}

// A loop that tries its guardrails does not say that it runs.
func TestProvingIsSaid(t *testing.T) {
	loop := registry.Status{Entry: registry.Entry{Name: "shop"}, Head: registry.Summary{Status: "running", Proving: true}, Live: registry.Liveness{Alive: true}}
	v := projector.Brief(loop)
	if got := string(Table(&cli.Env{Now: time.Now}, views(loop), false)); v.State != "proving" || !strings.Contains(got, "proving ") || strings.Contains(got, "running") {
		t.Errorf("%s: %s", v.State, got)
	}
	loop.Head.Pending = "stopping"
	if v := projector.Brief(loop); v.State != "proving, stopping" {
		t.Error(v.State)
	}
}

func TestStoriesHaveAColumn(t *testing.T) {
	e := &cli.Env{Now: time.Now}
	loops := []registry.Status{
		{Entry: registry.Entry{Name: "notes"}, Head: registry.Summary{Status: "running", Stories: 12, StoriesDone: 7}},
		{Entry: registry.Entry{Name: "night"}, Head: registry.Summary{Status: "running"}},
	}
	got := string(Table(e, views(loops...), false))
	for _, want := range []string{"ITERATION  STORIES  STARTED", "7/12 "} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got := string(Table(e, views(loops[1:]...), false)); strings.Contains(got, "STORIES") {
		t.Errorf("no loop works on stories:\n%s", got)
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

// Loops of many projects have the same name, the branch's or "run": on eighty columns their project
// distinguishes them.
func TestTableDistinguishesSameNames(t *testing.T) {
	for width, want := range map[int]string{
		0:  "NAME  STATUS                ITERATION  STARTED    AGENT   COST    TOKENS  PROJECT\nmain  stopped (iterations)  30/30      2m14s ago  claude  $12.30  1.2M    /home/ada/work/shop/till\nmain  running               3/10       2.0s ago   claude  $0.30   45k     ~/x\n",
		80: "NAME  STATUS                ITERATION  STARTED    COST    PROJECT\nmain  stopped (iterations)  30/30      2m14s ago  $12.30  …me/ada/work/shop/till\nmain  running               3/10       2.0s ago   $0.30   ~/x\n",
		60: "NAME  STATUS                ITERATION  PROJECT\nmain  stopped (iterations)  30/30      …e/ada/work/shop/till\nmain  running               3/10       ~/x\n",
		50: "NAME  STATUS                ITERATION  PROJECT\nmain  stopped (iterations)  30/30      …/shop/till\nmain  running               3/10       ~/x\n",
		40: "NAME  STATUS                ITERATION\nmain  stopped (iterations)  30/30\nmain  running               3/10\n",
	} {
		table := &table{paths: true, head: []string{"NAME", "STATUS", "ITERATION", "STARTED", "AGENT", "COST", "TOKENS", "PROJECT"}, rows: [][]string{
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

// On eighty columns the cost matters more than the agent or how long ago a loop started.
func TestTableKeepsTheCost(t *testing.T) {
	for width, want := range map[int]string{
		80: "NAME   STATUS                ITERATION          STRENGTH  STARTED    COST",
		60: "NAME   STATUS                ITERATION          COST",
		40: "NAME   STATUS                ITERATION",
	} {
		table := &table{head: strings.Fields("NAME STATUS ITERATION STRENGTH STARTED AGENT COST TOKENS"), rows: [][]string{
			{"night", "failed (environment)", "3/10 (2 refunded)", "-", "2m14s ago", "claude", "$12.30", "1.2M"},
		}}
		if got, _, _ := strings.Cut(string(table.format(width)), "\n"); strings.TrimRight(got, " ") != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

// Loops within others follow them. Entries that name each other as parents are listed once, too.
func TestNestedLoopsFollow(t *testing.T) {
	loop := func(name, parent string) registry.Status {
		return registry.Status{Entry: registry.Entry{Name: name, Dir: "/" + name, ID: name, Parent: parent}}
	}
	var names []string
	for _, s := range nest(views(loop("inner", "fleet"), loop("a", "b"), loop("fleet", ""), loop("deep", "inner"), loop("b", "a"), loop("orphan", "gone"))) {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "fleet inner deep orphan a b" {
		t.Errorf("listed as %s", got)
	}
}
