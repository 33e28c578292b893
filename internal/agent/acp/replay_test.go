package acp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/agent/acp"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/journal/event"
)

// programs are the agents of the captures, by how their files begin.
var programs = map[string]string{
	"oc": "opencode", "gem": "gemini", "cop": "copilot", "qwen": "qwen", "cla": "claude-agent-acp", "cdx": "codex-acp", "pi": "pi-acp",
}

// frame is what a replay has to know of one.
type frame struct {
	ID     json.RawMessage
	Method string
	Params struct{ Prompt []struct{ Text string } }
}

// replay plays a captured conversation to a dialect. What the client of the capture asked for, the
// dialect is asked for too, and answers get the ids that the dialect chose.
type replay struct {
	t       *testing.T
	d       agent.Dialect
	written []frame           // by the dialect, not yet found in the capture
	ids     map[string]string // of the capture → of the dialect
	opened  bool
	busy    bool
	steers  int
	log     bytes.Buffer
}

func (r *replay) write(lines [][]byte) {
	for _, line := range lines {
		fmt.Fprintf(&r.log, "> %s\n", line)
		var f frame
		if err := json.Unmarshal(line, &f); err != nil {
			r.t.Fatalf("the dialect wrote %q: %v", line, err)
		}
		r.written = append(r.written, f)
	}
}

// in is a frame that the capture's client wrote.
func (r *replay) in(f frame, next string) {
	switch {
	case f.Method == "initialize":
		r.opened, r.busy = true, true
		r.write(r.d.Open(agent.Prompt{Text: next, Iteration: 1}))
	case f.Method == "session/new" && !r.busy:
		lines, same := r.d.Reset()
		if !same {
			r.t.Fatal("no reset")
		}
		r.write(lines)
	case f.Method == "session/prompt" && !r.busy:
		r.busy = true
		r.write(r.d.Open(agent.Prompt{Text: f.Params.Prompt[0].Text, Iteration: 2}))
	case f.Method == "_session/steering", f.Method == "session/prompt" && r.found(f.Method) < 0:
		r.steers++
		lines, live := r.d.Steer(fmt.Sprintf("c%d", r.steers), f.Params.Prompt[0].Text)
		if !live {
			r.t.Fatal("the steer was not taken")
		}
		r.write(lines)
	case f.Method == "session/cancel":
		r.write(r.d.Abort())
	}
	if at := r.found(f.Method); at >= 0 && f.Method != "" {
		r.ids[string(f.ID)] = string(r.written[at].ID)
		r.written = append(r.written[:at], r.written[at+1:]...)
	} else if f.Method != "" {
		r.ids[string(f.ID)] = "1000000" // the capture's client asked for more: its answer is of no request of the dialect's
	}
}

func (r *replay) found(method string) int {
	for i, f := range r.written {
		if f.Method == method {
			return i
		}
	}
	return -1
}

// out is a line that the agent printed.
func (r *replay) out(line []byte) {
	var f frame
	_ = json.Unmarshal(line, &f)
	if mine, ok := r.ids[string(f.ID)]; ok && f.Method == "" {
		line = bytes.Replace(line, []byte(`"id":`+string(f.ID)), []byte(`"id":`+mine), 1)
	}
	var out agent.Decoded
	r.d.Decode(line, agent.Stdout, &out)
	for _, fact := range out.Facts {
		draft := event.Encode(fact, "agent:acp")
		fmt.Fprintf(&r.log, "%s %s\n", draft.Type, draft.Data)
		r.busy = r.busy && draft.Type != event.TypeAgentFinished
	}
	if out.Fresh || out.Stale {
		fmt.Fprintf(&r.log, "fresh %t, stale %t\n", out.Fresh, out.Stale)
	}
	if out.DropRaw {
		fmt.Fprintln(&r.log, "  (the line is not kept)")
	}
	r.write(out.Reply)
}

func TestCaptures(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.wire")
	if err != nil || len(paths) < 14 {
		t.Fatalf("captures: %d, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			agentOf, _, _ := strings.Cut(filepath.Base(path), "-")
			r := &replay{t: t, d: acp.New(programs[agentOf]), ids: map[string]string{}}
			if _, err := r.d.Command(agent.Spec{Command: []string{"agent", "acp"}, Dir: "/home/dev/work"}); err != nil {
				t.Fatal(err)
			}
			r.play(path)
			golden.Check(t, strings.TrimSuffix(path, ".wire")+".golden", r.log.Bytes())
		})
	}
}

func (r *replay) play(path string) {
	wire, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(wire)) {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	for i, line := range lines {
		mark, rest, _ := strings.Cut(line, " ")
		_, text, _ := strings.Cut(rest, " ")
		if mark == "<" {
			if strings.Contains(text, "drainMidTurnQueue") {
				r.handOver(lines[i+1:])
			}
			r.out([]byte(text))
			continue
		}
		var f frame
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			r.t.Fatal(err)
		}
		r.in(f, promptOf(lines[i:]))
	}
}

// handOver steers with what the capture's client answers next.
func (r *replay) handOver(lines []string) {
	var answer struct{ Result struct{ Messages []string } }
	if err := json.Unmarshal([]byte(lines[0][strings.IndexByte(lines[0], '{'):]), &answer); err != nil {
		r.t.Fatal(err)
	}
	for _, text := range answer.Result.Messages {
		r.steers++
		if lines, live := r.d.Steer(fmt.Sprintf("c%d", r.steers), text); !live || len(lines) > 0 {
			r.t.Fatalf("live %t, %q", live, lines)
		}
	}
}

// promptOf returns the text of the first prompt in the lines.
func promptOf(lines []string) string {
	for _, line := range lines {
		at := strings.IndexByte(line, '{')
		var f frame
		if json.Unmarshal([]byte(line[at:]), &f) == nil && len(f.Params.Prompt) > 0 {
			return f.Params.Prompt[0].Text
		}
	}
	return ""
}
