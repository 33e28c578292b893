//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// asked calls a method, and decodes its result.
func (r *rawClient) asked(id int, method, params string, into any) string {
	r.Helper()
	if r.meta != "" {
		params = strings.Replace(params, "{", `{"_meta":`+r.meta+",", 1)
		params = strings.Replace(params, ",}", "}", 1)
	}
	r.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
	line := r.hears(fmt.Sprintf(`"id":%d,`, id))
	var answer struct{ Result json.RawMessage }
	r.must(json.Unmarshal([]byte(line), &answer))
	if into != nil && answer.Result != nil {
		r.must(json.Unmarshal(answer.Result, into))
	}
	return line
}

type shownTask struct {
	ResultType, TaskID, Status string
	InputRequests              map[string]struct{ Method string }
	Result                     struct{ StructuredContent struct{ Status string } }
}

// A client with the extension gets a task for the loop that it starts: it sees the question,
// answers it, and gets the result. A client without it gets what it always got.
func TestMCPTasks(t *testing.T) {
	t.Parallel()
	p := mcpPlace(t, "iteration\n  run ralph ask 'Postgres or SQLite?' --choice postgres --choice sqlite --blocks\n  append a.txt x\n  promise\niteration *\n  append a.txt y\n  promise\n")
	const can = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	r := p.rawClientOnly()
	r.meta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":` + can + `}`
	var begun, seen shownTask
	r.asked(1, "tools/call", `{"name":"ralph_start","arguments":{"name":"night","prompt":"x"}}`, &begun)
	if begun.ResultType != "task" || begun.TaskID == "" || begun.Status != "working" && begun.Status != "input_required" {
		t.Fatalf("the start: %+v", begun)
	}
	id := fmt.Sprintf(`{"taskId":%q}`, begun.TaskID)
	n := 1
	get := func() shownTask {
		n++
		seen = shownTask{}
		r.asked(n, "tasks/get", id, &seen)
		return seen
	}
	p.until("the question", func() bool { return get().Status == "input_required" })
	key := begun.TaskID + "/1"
	if seen.InputRequests[key].Method != "elicitation/create" {
		t.Fatalf("the question: %+v", seen)
	}
	for _, wrong := range []string{`{"taskId":"x"}`, `{"taskId":"01M860VVJTN8Q82MMH8A4VE4KB"}`, `{}`} {
		if line := r.asked(1000+n, "tasks/get", wrong, nil); !strings.Contains(line, `"error"`) {
			t.Errorf("%s: %s", wrong, line)
		}
		n++
	}
	r.asked(2000, "tasks/update", fmt.Sprintf(`{"taskId":%q,"inputResponses":{"01M860VVJTN8Q82MMH8A4VE4KB/1":{"action":"accept","content":{"answer":"sqlite"}}}}`, begun.TaskID), nil)
	r.asked(2001, "tasks/update", fmt.Sprintf(`{"taskId":%q,"inputResponses":{%q:{"action":"decline"}}}`, begun.TaskID, key), nil)
	if get().Status != "input_required" {
		t.Errorf("after a decline, and an answer to another loop: %+v", seen)
	}
	r.asked(2002, "tasks/update", fmt.Sprintf(`{"taskId":%q,"inputResponses":{%q:{"action":"accept","content":{"answer":"sqlite"}}}}`, begun.TaskID, key), nil)
	p.until("the end", func() bool { return get().Status == "completed" })
	if seen.Result.StructuredContent.Status != "completed" {
		t.Errorf("the result: %+v", seen)
	}
	if answers := p.fine("logs", "night", "--json", "--type", "question.answered"); strings.Count(answers, "\n") != 1 || !strings.Contains(answers, `"text":"sqlite"`) {
		t.Errorf("the answers: %s", answers)
	}

	var again shownTask
	r.asked(3000, "tools/call", `{"name":"ralph_start","arguments":{"name":"dawn","prompt":"x"}}`, &again)
	r.asked(3001, "tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, again.TaskID), nil)
	id = fmt.Sprintf(`{"taskId":%q}`, again.TaskID)
	p.until("the cancelled task", func() bool { return get().Status == "cancelled" })

	// Versions before 2026-07-28 have another form of tasks; a client that has both declares this
	// one to any server.
	for name, with := range map[string]string{"noon": "{}", "dusk": can} {
		plain := p.rawClientWith(with)
		if line := plain.asked(1, "tools/call", `{"name":"ralph_start","arguments":{"name":"`+name+`","prompt":"x"}}`, nil); strings.Contains(line, "taskId") || !strings.Contains(line, `"structuredContent"`) {
			t.Errorf("with %s in an earlier version: %s", with, line)
		}
		p.fine("stop", name, "--now", "--wait", "20s")
	}
}
