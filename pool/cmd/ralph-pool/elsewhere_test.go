package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/inbox"
	"github.com/ralph-loop/ralph/pool/listing"
	"github.com/ralph-loop/ralph/pool/pooltest"
	"github.com/ralph-loop/ralph/projector"
)

// A loop runs on one host of a pool. From another one, its lists show it under its host, it is
// answered through the pool, and it is still listed when the store is gone.
func TestLoopsOfPoolAreListed(t *testing.T) {
	mill, desk, folder := pooltest.NewHost(t), pooltest.NewHost(t), t.TempDir()
	mill.Join(folder, "mill")
	desk.Join(folder, "desk")
	project := mill.Repository("")
	mill.Write(filepath.Join(project, "asks.rehearsal"), "iteration\n  run ralph ask --blocks 'Which licence?'\n  append work.txt {iteration}\n  promise\niteration\n  append work.txt {iteration}\n  promise\n")
	mill.Run(project, "ralph", "start", "asks", "--detach", "-p", "do it", "--agent", "ralph rehearse asks.rehearsal", "--protocol", "rehearsal")
	t.Cleanup(func() { _, _ = mill.Try(project, "ralph", "kill", "asks") }) // it has ended, unless the test fails
	start(t, mill, project, "ralph-pool", "mirror", "--all")

	list := func() (loops []map[string]any) {
		out, err := programOf(desk, "ralph", "list", "--pool", "--json").Output()
		if err == nil {
			err = json.Unmarshal(out, &loops)
		}
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return loops
	}
	becomes(t, "the question is listed", func() bool {
		loops := list()
		return len(loops) == 1 && loops[0]["awaitedQuestion"] == 1.0 && loops[0]["heard"] != nil
	})
	if v := list()[0]; v["call"] != "mill:asks" || v["remote"] != "mill" || v["group"] != "needs you" || !strings.Contains(v["question"].(string), "Which licence?") {
		t.Errorf("the loop is %v", v)
	}
	if out := desk.Run(desk.Dir, "ralph", "list", "--pool"); !strings.Contains(out, "mill:asks") {
		t.Errorf("the list is %s", out)
	}
	for _, c := range [][]string{{"follow-up", "asks", "Later."}, {"pause", "asks"}, {"resume", "asks"}} {
		if out := desk.Run(desk.Dir, "ralph-pool", c...); out != "asks has received it, on host mill" {
			t.Errorf("%s: %s", c, out)
		}
	}
	out, err := exec.Command("sh", "-c", `cd `+desk.Dir+`; touch answers
(printf '%s\n' "$1" "$2" "$3" "$4"; until [ $(grep -c '"result"' answers) -ge 3 ]; do sleep 0.02; done) | env RALPH_HOME=`+desk.Home+` ralph mcp > answers; cat answers`, "sh",
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ralph_list","arguments":{"otherMachines":true}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ralph_answer","arguments":{"loop":"mill:asks","number":1,"text":"MIT"}}}`).CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"call":"mill:asks"`) || !strings.Contains(string(out), "asks has received it, on host mill") {
		t.Errorf("MCP: %v\n%s", err, out)
	}
	becomes(t, "the loop has completed", func() bool { return list()[0]["status"] == "completed" })
	if err := os.Rename(folder, folder+".gone"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Rename(folder+".gone", folder) })
	if out, err := desk.Try(desk.Dir, "ralph", "list", "--pool"); err == nil || !strings.Contains(out, "ralph: error: the pool: ") || !strings.Contains(out, "ralph pool status") {
		t.Errorf("without the store: %v, %s", err, out)
	}
}

func TestOnlyQuestionIsAnswered(t *testing.T) {
	row := func(awaited int, open ...int) listing.Row {
		v := &projector.View{}
		v.Awaited = awaited
		for _, n := range open {
			v.Questions = append(v.Questions, projector.Question{Number: n})
		}
		return listing.Row{Name: "asks", Host: "mill", View: v}
	}
	for want, r := range map[int]listing.Row{3: row(0, 3), 4: row(4, 3, 4), 0: row(0, 3, 4)} {
		c := inbox.Command{Kind: inbox.Answer}
		if err := complete(&c, r); c.Question != want || (err == nil) != (want > 0) {
			t.Errorf("question %d, %v, want %d", c.Question, err, want)
		}
	}
}

func programOf(h *pooltest.Host, name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir, c.Env = h.Dir, h.Environ()
	return c
}

// start runs a program there until the test ends.
func start(t *testing.T, h *pooltest.Host, dir, name string, args ...string) {
	t.Helper()
	c := programOf(h, name, args...)
	c.Dir = dir
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
	})
}

func becomes(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(pooltest.Deadline); !is(); {
		if time.Now().After(end) {
			t.Fatalf("it never came that %s", what)
		}
	}
}
