package codex

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/testkit/golden"
	"github.com/ralph-loop/ralph/journal/event"
)

// readAt is when a replay reads all its lines: captures contain times of day.
var readAt = time.Date(2026, 11, 22, 13, 29, 36, 0, time.UTC)

// said is one line of a captured conversation with codex-cli 0.169.0: in is what a driver wrote,
// out what the app-server printed, byte for byte but for paths.
type said struct {
	In  json.RawMessage `json:"in"`
	Out json.RawMessage `json:"out"`
}

// asked is a line that the driver of a capture or the dialect wrote.
type asked struct {
	ID     any    `json:"id"`
	Method string `json:"method"`
	Params struct {
		ClientUserMessageID string `json:"clientUserMessageId"`
		Input               []struct{ Text string }
	} `json:"params"`
	Result any `json:"result"`
}

func (a asked) String() string {
	if a.Method == "" {
		return fmt.Sprintf("answer to %v: %v", a.ID, a.Result)
	}
	return fmt.Sprint(a.ID, " ", a.Method, " ", a.Params.ClientUserMessageID, a.Params.Input)
}

// replay has a dialect do what the driver of a capture did, and gives it what the app-server
// printed then.
type replay struct {
	t     *testing.T
	d     *Dialect
	opens int
	wrote []string
	facts bytes.Buffer
}

func (r *replay) write(lines [][]byte) {
	for _, line := range lines {
		var a asked
		if err := json.Unmarshal(line, &a); err != nil {
			r.t.Fatalf("the dialect wrote %q: %v", line, err)
		}
		r.wrote = append(r.wrote, a.String())
	}
}

// in acts where the capture's driver did; lines that follow by themselves come from Decode.
func (r *replay) in(a asked, prompts []string) {
	switch a.Method {
	case "initialize":
		r.write(r.d.Open(agent.Prompt{Text: prompts[0], Iteration: 1}))
		r.opens++
	case "turn/start":
		if r.d.phase == idle {
			r.write(r.d.Open(agent.Prompt{Text: prompts[r.opens], Iteration: r.opens + 1}))
			r.opens++
		}
	case "turn/steer":
		lines, live := r.d.Steer(a.Params.ClientUserMessageID, a.Params.Input[0].Text)
		if !live {
			r.t.Fatal("a steer was refused in a running turn")
		}
		r.write(lines)
	case "turn/interrupt":
		if r.d.phase == running {
			r.write(r.d.Abort())
		}
	case "thread/unsubscribe":
		lines, same := r.d.Reset()
		if !same {
			r.t.Fatal("a reset was refused between two turns")
		}
		r.write(lines)
	}
}

func (r *replay) out(line []byte) {
	out := agent.Decoded{At: readAt}
	r.d.Decode(line, agent.Stdout, &out)
	for _, fact := range out.Facts {
		fmt.Fprintf(&r.facts, "%s %s", fact.EventType(), event.AppendData(nil, fact))
		if out.DropRaw {
			r.facts.WriteString(" (raw dropped)")
		}
		r.facts.WriteByte('\n')
	}
	if out.Fresh || out.Stale {
		fmt.Fprintf(&r.facts, "fresh %t, stale %t\n", out.Fresh, out.Stale)
	}
	r.write(out.Reply)
}

// TestCapturedConversations compares what the dialect writes with what the driver of the capture
// wrote, and the facts with golden files.
func TestCapturedConversations(t *testing.T) {
	for _, path := range glob(t, "testdata/server/*.jsonl", 15) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			r := &replay{t: t, d: New(nil, nil)}
			spec := agent.Spec{Command: []string{"codex"}, Dir: "/home/dev/project"}
			if strings.Contains(path, "declined") {
				spec.Flags = []string{"--sandbox", "workspace-write", "-a", "on-request"}
			}
			if _, err := r.d.Command(spec); err != nil {
				t.Fatal(err)
			}
			var lines []said
			var drove, prompts []string
			for line := range bytes.Lines(read(t, path)) {
				var s said
				if err := json.Unmarshal(line, &s); err != nil {
					t.Fatal(err)
				}
				var a asked
				if s.In != nil && json.Unmarshal(s.In, &a) == nil {
					drove = append(drove, a.String())
					if a.Method == "turn/start" {
						prompts = append(prompts, a.Params.Input[0].Text)
					}
				}
				lines = append(lines, s)
			}
			for _, s := range lines {
				if s.Out != nil {
					r.out(s.Out)
					continue
				}
				var a asked
				if err := json.Unmarshal(s.In, &a); err != nil {
					t.Fatal(err)
				}
				r.in(a, prompts)
			}
			if diff := cmp.Diff(drove, r.wrote); diff != "" {
				t.Errorf("written: %s", diff)
			}
			golden.Check(t, strings.TrimSuffix(path, ".jsonl")+".golden", r.facts.Bytes())
		})
	}
}

func TestCapturedRunsOfExec(t *testing.T) {
	for _, path := range glob(t, "testdata/exec/*.jsonl", 7) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			r := &replay{t: t, d: New(nil, nil)}
			if _, err := r.d.Command(agent.Spec{Command: []string{"codex", "exec"}}); err != nil {
				t.Fatal(err)
			}
			r.d.Open(agent.Prompt{Text: "go"})
			for line := range bytes.Lines(read(t, path)) {
				r.out(bytes.TrimSuffix(line, []byte("\n")))
			}
			golden.Check(t, strings.TrimSuffix(path, ".jsonl")+".golden", r.facts.Bytes())
		})
	}
}

func glob(t *testing.T, pattern string, least int) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) < least {
		t.Fatalf("captures %s: %d, %v", pattern, len(paths), err)
	}
	return paths
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
